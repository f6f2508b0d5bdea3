#include "binary/uninstrumented.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "events/contract.h"
#include "events/trace.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugFrame.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"

namespace blackout {

namespace {

// A byte pair that a flush must have: 0f ae with a memory operand and opcode extension 6 or 7. Cheap,
// and it spares the decoder for nearly all libraries.
bool mayFlush(std::string_view code) {
  for (std::size_t at = code.find("\x0f\xae", 0, 2); at != std::string_view::npos && at + 2 < code.size();
       at = code.find("\x0f\xae", at + 1, 2)) {
    auto modrm = static_cast<unsigned char>(code[at + 2]);
    if ((modrm >> 6) != 3 && ((modrm >> 3) & 7) >= 6) return true;
  }
  return false;
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool contains(std::uint64_t a) const { return a >= begin && a < end; }
};

// Whether the function flushes a line and refers to no site: what an instrumented function does at each flush.
bool flushesUnseen(std::string_view code, std::uint64_t address, Range sites) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  bool flushes = false;
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &i, operands))) {
      ++at;  // data between functions
      continue;
    }
    flushes |= i.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i.mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
               i.mnemonic == ZYDIS_MNEMONIC_CLWB;
    for (unsigned n = 0; n < i.operand_count_visible; ++n) {
      ZyanU64 target = 0;
      if (operands[n].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        target = operands[n].imm.value.u;
      else if (operands[n].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[n].mem.base == ZYDIS_REGISTER_RIP)
        ZydisCalcAbsoluteAddress(&i, &operands[n], address + at, &target);
      if (sites.contains(target)) return false;
    }
    at += i.length;
  }
  return flushes;
}

// Libraries whose flushes are no secret: libpmem's functions are the runtime's (runtime/libpmem.cpp), and
// OpenSSL times the memory bus with clflush on a buffer of its own.
bool flushesAreKnown(const std::string& name) {
  return name.rfind("libpmem.so", 0) == 0 || name.rfind("libcrypto.so", 0) == 0;
}

}  // namespace

bool hasUnseenFlushes(const std::string& path) {
  auto binary = llvm::object::ObjectFile::createObjectFile(path);
  if (!binary) {
    llvm::consumeError(binary.takeError());  // the vdso, a file that is gone: nothing to say
    return false;
  }
  const llvm::object::ObjectFile& object = *binary->getBinary();
  std::vector<std::pair<std::uint64_t, std::string_view>> sections;
  Range sites;
  for (const llvm::object::SectionRef& section : object.sections()) {
    if (auto name = section.getName(); name && *name == BLACKOUT_SITE_SECTION)
      sites = {section.getAddress(), section.getAddress() + section.getSize()};
    else if (!name)
      llvm::consumeError(name.takeError());
    auto bytes = section.getContents();
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      continue;
    }
    if (section.isText() && mayFlush({bytes->data(), bytes->size()}))
      sections.emplace_back(section.getAddress(), std::string_view(bytes->data(), bytes->size()));
  }
  if (sections.empty()) return false;

  // Only functions are decoded: between them lie tables, in which anything can be read.
  auto context = llvm::DWARFContext::create(object);
  auto frames = context->getEHFrame();
  if (!frames) {
    llvm::consumeError(frames.takeError());
    return std::any_of(sections.begin(), sections.end(),
                       [&](const auto& s) { return flushesUnseen(s.second, s.first, sites); });
  }
  for (const llvm::dwarf::FrameEntry& entry : (*frames)->entries()) {
    const auto* function = llvm::dyn_cast<llvm::dwarf::FDE>(&entry);
    if (function == nullptr) continue;
    for (const auto& [address, code] : sections) {
      std::uint64_t begin = function->getInitialLocation();
      if (begin < address || begin - address >= code.size()) continue;
      std::string_view body = code.substr(begin - address, function->getAddressRange());
      if (mayFlush(body) && flushesUnseen(body, begin, sites)) return true;
    }
  }
  return false;
}

namespace {

std::set<std::string> instrumentedPaths(std::span<const LoadedModule> modules) {
  std::set<std::string> paths;
  for (const LoadedModule& m : modules)
    if (m.instrumented) paths.insert(m.path);
  return paths;
}

// DT_NEEDED: the libraries that a program file names.
std::vector<std::string> neededBy(const std::string& path) {
  auto binary = llvm::object::ObjectFile::createObjectFile(path);
  std::vector<std::string> names;
  if (!binary) {
    llvm::consumeError(binary.takeError());
    return names;
  }
  const auto* elf = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(binary->getBinary());
  if (elf == nullptr) return names;
  auto entries = elf->getELFFile().dynamicEntries();
  if (!entries) {
    llvm::consumeError(entries.takeError());
    return names;
  }
  std::uint64_t strings = 0;
  for (const auto& e : *entries)
    if (e.d_tag == llvm::ELF::DT_STRTAB) strings = e.getPtr();
  auto table = elf->getELFFile().toMappedAddr(strings);
  if (!table) {
    llvm::consumeError(table.takeError());
    return names;
  }
  llvm::StringRef file = binary->getBinary()->getData();
  for (const auto& e : *entries) {
    if (e.d_tag != llvm::ELF::DT_NEEDED) continue;
    std::size_t at = static_cast<std::size_t>(reinterpret_cast<const char*>(*table) - file.data()) + e.getVal();
    if (at < file.size()) names.push_back(file.substr(at).take_until([](char c) { return c == '\0'; }).str());
  }
  return names;
}

bool isLanguageRuntime(const std::string& name) {
  static constexpr const char* kNames[] = {"libc.so",  "libm.so",       "libstdc++.so", "libgcc_s.so",
                                           "ld-linux", "libpthread.so", "libdl.so",     "librt.so",
                                           "libc++",   "libblackout.so"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* n) { return name.rfind(n, 0) == 0; });
}

}  // namespace

std::vector<std::string> uninstrumentedLibraries(std::span<const LoadedModule> modules) {
  std::set<std::string> instrumented = instrumentedPaths(modules);
  std::set<std::string> known;
  for (const std::string& path : instrumented) known.insert(std::filesystem::path(path).filename().string());
  std::set<std::string> names;
  for (const std::string& path : instrumented)
    for (const std::string& name : neededBy(path))
      if (!isLanguageRuntime(name) && known.count(name) == 0) names.insert(name);
  return {names.begin(), names.end()};
}

std::vector<std::string> flushingModules(std::span<const LoadedModule> modules) {
  std::set<std::string> instrumented = instrumentedPaths(modules);
  std::set<std::string> names;
  for (const LoadedModule& m : modules) {
    std::string name = std::filesystem::path(m.path).filename().string();
    // What is trapped is followed, and said to be where it is not.
    if (m.trapped || flushesAreKnown(name) || !hasUnseenFlushes(m.path)) continue;
    // An instrumented program may have been linked with objects that are not.
    names.insert(instrumented.count(m.path) != 0 ? "part of " + name : name);
  }
  return {names.begin(), names.end()};
}

namespace {

// What may have flushed or fenced without being seen: then a flush that seems to be missing may be there.
std::string mayHaveFlushed(const Trace& trace) {
  for (EventNo n : trace.rare())
    if (kindOf(trace[n]) == EventKind::Unfollowed && trace[n].len != 0)
      return fmt::format("Nothing is said about durability: {}.", trace.payload(n));
  // A library that never touched PM (libcrypto has such places) needs no words.
  std::set<std::string, std::less<>> touching;
  for (SiteNo n = 1; n < trace.siteEnd(); ++n) touching.insert(trace.site(n)->module);
  for (const LoadedModule& m : trace.modules())
    if (m.unproved > 0 && touching.contains(m.path))
      return fmt::format(
          "Nothing is said about durability: {} works on PM, and {} in it that may be {} could not be proved to be "
          "instructions; build it with unwind tables, or with blackout-clang.",
          std::filesystem::path(m.path).filename().string(),
          m.unproved == 1 ? "1 place" : fmt::format("{} places", m.unproved),
          m.unproved == 1 ? "a flush or fence" : "flushes or fences");
  return {};
}

}  // namespace

std::string unseenReason(const Trace& trace) {
  if (std::string reason = mayHaveFlushed(trace); !reason.empty()) return reason;
  if ((trace.problems() & (BLACKOUT_PROBLEM_DISK | BLACKOUT_PROBLEM_FILES | BLACKOUT_PROBLEM_SIGNAL)) != 0)
    return "The recording is not whole, so nothing is said about durability.";
  bool unexplained = (trace.problems() & BLACKOUT_PROBLEM_UNEXPLAINED) != 0;
  std::vector<std::string> names = flushingModules(trace.modules());
  if (!unexplained && names.empty()) return {};
  bool followed =
      std::any_of(trace.modules().begin(), trace.modules().end(), [](const LoadedModule& m) { return m.trapped; });
  if (followed) return "PM was changed in a way that was not seen, so nothing is said about durability.";
  if (names.empty()) names = uninstrumentedLibraries(trace.modules());
  std::string who = names.empty()       ? "Code that is not instrumented"
                    : names.size() == 1 ? names[0] + ", which is not instrumented,"
                                        : fmt::format("{}, which are not instrumented,", fmt::join(names, ", "));
  return fmt::format(
      "{} {} PM unseen, so nothing is said about durability; leave out --trap never, or build all code that touches PM "
      "with blackout-clang.",
      who, unexplained ? "touched" : "may have flushed");
}

}  // namespace blackout
