#include "infer/program_bitcode.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "events/contract.h"
#include "infer/in_child.h"
#include "ir/prepared.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "xxhash.h"

namespace blackout {

namespace {

using llvm::StringRef;

// More than any compiler makes of one file; a record that claims more is damaged.
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 30;
// Nor does bitcode pack this well: a few bytes must not ask for a lot of memory.
constexpr std::uint64_t kBestRatio = 1000;
constexpr std::size_t kAlignment = 8;

template <class T>
std::string sentenceOf(llvm::Expected<T>& failed) {
  return llvm::toString(failed.takeError());
}

// The unit of one record that begins the bytes, and how many of them it takes. 0: the size itself is damaged, so what
// follows can't be found.
std::size_t addRecord(ProgramBitcode& program, StringRef bytes, const std::string& holder) {
  auto leaveOut = [&](const std::string& unit, const std::string& why) {
    program.notes.push_back(fmt::format("{}: {}, so {} is left out; compile it again", holder, why, unit));
  };
  blackout_bitcode header;
  if (bytes.size() < sizeof header) return leaveOut("one unit", "a record of bitcode is cut short"), 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::uint64_t rest = bytes.size() - sizeof header;
  if (header.name_size > rest || header.packed > rest - header.name_size)
    return leaveOut("one unit", "a record of bitcode is cut short"), 0;
  const std::size_t size = sizeof header + header.name_size + header.packed;
  const std::string name = bytes.substr(sizeof header, header.name_size).str();
  StringRef packed = bytes.substr(sizeof header + header.name_size, header.packed);
  if (header.version != BLACKOUT_BITCODE_VERSION || header.llvm != LLVM_VERSION_MAJOR) {
    leaveOut(name, fmt::format("bitcode of another version (format {}, LLVM "
                               "{}; this Blackout reads format {}, LLVM {})",
                               header.version, header.llvm, BLACKOUT_BITCODE_VERSION, LLVM_VERSION_MAJOR));
    return size;
  }
  if (XXH3_64bits(packed.data(), packed.size()) != header.checksum || header.unpacked > kMostUnpacked ||
      header.unpacked / kBestRatio > header.packed) {
    leaveOut(name, "its bitcode is damaged");
    return size;
  }
  std::string bitcode(header.unpacked, '\0');
  std::size_t unpacked = ZSTD_decompress(bitcode.data(), bitcode.size(), packed.data(), packed.size());
  if (ZSTD_isError(unpacked) || unpacked != bitcode.size()) {
    leaveOut(name, "its bitcode is damaged");
    return size;
  }
  // An object that is named twice, or is in two archives, is one unit.
  bool known = std::any_of(program.units.begin(), program.units.end(), [&](const KeptUnit& u) {
    return u.bitcode.size() == bitcode.size() && u.bitcode == bitcode;
  });
  if (!known) program.units.push_back({name, holder, std::move(bitcode)});
  return size;
}

// Where a shared library is looked for that a program needs, as the dynamic linker does before the system's folders:
// ours is not there.
struct Needed {
  std::vector<std::string> libraries, folders;
};

class Reader {
 public:
  explicit Reader(ProgramBitcode& program) : program_(program) {}

  Result<void> file(const std::string& path) {
    std::error_code error;
    std::string canonical = std::filesystem::weakly_canonical(path, error).string();
    if (!seen_.insert(canonical).second) return {};
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
      return fail(fmt::format("{} is not a file", path));
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!buffer) return fail(fmt::format("{}: {}", path, buffer.getError().message()));
    const auto found = [&] { return program_.units.size() + program_.unprepared.size() + program_.notes.size(); };
    const std::size_t before = found();
    auto known = content((*buffer)->getMemBufferRef(), path);
    if (!known) return known;
    if (found() == before)
      program_.notes.push_back(
          fmt::format("{} has no bitcode: what it does is not known; build it "
                      "with blackout-clang or blackout-clang++",
                      path));
    return {};
  }

 private:
  Result<void> content(llvm::MemoryBufferRef bytes, const std::string& name) {
    switch (llvm::identify_magic(bytes.getBuffer())) {
      case llvm::file_magic::elf:
      case llvm::file_magic::elf_relocatable:
      case llvm::file_magic::elf_executable:
      case llvm::file_magic::elf_shared_object:
        return elf(bytes, name);
      case llvm::file_magic::archive:
        return archive(bytes, name);
      case llvm::file_magic::bitcode:
        return bitcode(bytes, name);
      default:
        return fail(fmt::format("{} is not a program, library, object file, archive or bitcode file", name));
    }
  }

  Result<void> elf(llvm::MemoryBufferRef bytes, const std::string& name) {
    auto object = llvm::object::ObjectFile::createELFObjectFile(bytes);
    if (!object) return fail(fmt::format("{} is a damaged ELF file: {}", name, sentenceOf(object)));
    const auto* elf64 = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(object->get());
    if (elf64 == nullptr) return fail(fmt::format("{} is not a 64-bit x86 file", name));
    for (const llvm::object::SectionRef& section : elf64->sections()) {
      auto called = section.getName();
      if (!called) {
        llvm::consumeError(called.takeError());
        continue;
      }
      if (*called != BLACKOUT_BITCODE_SECTION) continue;
      auto content = section.getContents();
      if (!content) return fail(fmt::format("{} is a damaged ELF file: {}", name, sentenceOf(content)));
      addRecords(program_, {content->data(), content->size()}, name);
    }
    // The program's own shared libraries: those without bitcode are the system's.
    Needed needed = neededBy(*elf64, name);
    for (const std::string& library : needed.libraries)
      for (const std::string& folder : needed.folders)
        if (std::string path = fmt::format("{}/{}", folder, library); holdsBitcode(path)) {
          if (auto added = file(path); !added) program_.notes.push_back(added.error().sentence);
          break;
        }
    return {};
  }

  static bool holdsBitcode(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    auto file = llvm::object::ObjectFile::createObjectFile(path);
    if (!file) {
      llvm::consumeError(file.takeError());
      return false;
    }
    for (const llvm::object::SectionRef& section : file->getBinary()->sections()) {
      auto called = section.getName();
      if (called && *called == BLACKOUT_BITCODE_SECTION) return true;
      if (!called) llvm::consumeError(called.takeError());
    }
    return false;
  }

  static Needed neededBy(const llvm::object::ELF64LEObjectFile& object, const std::string& name) {
    Needed needed;
    auto entries = object.getELFFile().dynamicEntries();
    if (!entries) {
      llvm::consumeError(entries.takeError());
      return needed;
    }
    std::uint64_t table = 0, size = 0;
    for (const auto& entry : *entries) {
      if (entry.getTag() == llvm::ELF::DT_STRTAB) table = entry.getVal();
      if (entry.getTag() == llvm::ELF::DT_STRSZ) size = entry.getVal();
    }
    if (table == 0) return needed;
    auto texts = object.getELFFile().toMappedAddr(table);
    if (!texts) {
      llvm::consumeError(texts.takeError());
      return needed;
    }
    const StringRef whole = object.getData();
    const std::uint64_t offset = static_cast<std::uint64_t>(reinterpret_cast<const char*>(*texts) - whole.data());
    if (offset > whole.size()) return needed;
    const StringRef strings = whole.substr(offset, size);
    auto text = [&](std::uint64_t at) { return strings.substr(at).take_until([](char c) { return c == '\0'; }); };
    std::error_code error;
    const std::string origin = std::filesystem::absolute(name, error).parent_path().string();
    for (const auto& entry : *entries) {
      if (entry.getTag() == llvm::ELF::DT_NEEDED) needed.libraries.push_back(text(entry.getVal()).str());
      if (entry.getTag() != llvm::ELF::DT_RUNPATH && entry.getTag() != llvm::ELF::DT_RPATH) continue;
      llvm::SmallVector<StringRef> folders;
      text(entry.getVal()).split(folders, ':', -1, false);
      for (StringRef folder : folders) {
        std::string path = folder.str();
        for (std::string_view word : {"$ORIGIN", "${ORIGIN}"})
          if (std::size_t at = path.find(word); at != std::string::npos) path.replace(at, word.size(), origin);
        needed.folders.push_back(std::move(path));
      }
    }
    if (const char* more = std::getenv("LD_LIBRARY_PATH")) {
      llvm::SmallVector<StringRef> folders;
      StringRef(more).split(folders, ':', -1, false);
      for (StringRef folder : folders) needed.folders.push_back(folder.str());
    }
    return needed;
  }

  Result<void> archive(llvm::MemoryBufferRef bytes, const std::string& name) {
    auto archive = llvm::object::Archive::create(bytes);
    if (!archive) return fail(fmt::format("{} is a damaged archive: {}", name, sentenceOf(archive)));
    llvm::Error trouble = llvm::Error::success();
    for (const llvm::object::Archive::Child& child : (*archive)->children(trouble)) {
      auto called = child.getName();
      if (!called) {
        program_.notes.push_back(fmt::format("{}: {}", name, sentenceOf(called)));
        continue;
      }
      const std::string member = fmt::format("{}({})", name, called->str());
      auto buffer = child.getMemoryBufferRef();
      if (!buffer) {
        program_.notes.push_back(fmt::format("{}: {}", member, sentenceOf(buffer)));
        continue;
      }
      // LLVM believes the size that the member's header states.
      if (!(*archive)->isThin() &&
          (buffer->getBufferStart() < bytes.getBufferStart() || buffer->getBufferEnd() > bytes.getBufferEnd())) {
        program_.notes.push_back(fmt::format("{} is cut short, so it is left out; make the archive again", member));
        break;
      }
      inArchive_ = true;
      auto known = content(*buffer, member);
      inArchive_ = false;
      if (!known) program_.notes.push_back(known.error().sentence);
    }
    if (trouble) program_.notes.push_back(fmt::format("{}: {}", name, llvm::toString(std::move(trouble))));
    return {};
  }

  // An object of a build with -flto has its record as a variable; any other file of bitcode is the unit itself.
  Result<void> bitcode(llvm::MemoryBufferRef bytes, const std::string& name) {
    std::optional<std::string> said = inChild([&] { return lookInto(bytes); });
    const Found found = said && !said->empty() ? static_cast<Found>((*said)[0]) : Found::Damaged;
    const std::string rest = said && !said->empty() ? said->substr(1) : "it is damaged";
    switch (found) {
      case Found::Records:
        addRecords(program_, {rest.data(), rest.size()}, name);
        break;
      case Found::Prepared:
        program_.units.push_back({rest, name, bytes.getBuffer().str()});
        break;
      case Found::Unprepared:
        if (inArchive_)
          program_.notes.push_back(
              fmt::format("{} is bitcode that blackout-clang didn't make, so it is left out", name));
        else
          program_.unprepared.push_back(name);
        break;
      case Found::Damaged:
        program_.notes.push_back(
            fmt::format("{} can't be read as bitcode of LLVM {} ({}), so it is left out; make it with clang {}", name,
                        LLVM_VERSION_MAJOR, rest, LLVM_VERSION_MAJOR));
        break;
    }
    return {};
  }

  enum class Found : char { Records = 'r', Prepared = 'p', Unprepared = 'u', Damaged = 'd' };

  // What a file of bitcode is: the letter of Found, then the records, the name of the source, or what is wrong.
  static std::string lookInto(llvm::MemoryBufferRef bytes) {
    auto say = [](Found found, StringRef rest) { return static_cast<char>(found) + rest.str(); };
    llvm::LLVMContext context;
    auto module = llvm::parseBitcodeFile(bytes, context);
    if (!module) return say(Found::Damaged, sentenceOf(module));
    std::string records;
    for (const llvm::GlobalVariable& variable : (*module)->globals()) {
      if (variable.getSection() != BLACKOUT_BITCODE_SECTION || !variable.hasInitializer()) continue;
      if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(variable.getInitializer()))
        records += data->getRawDataValues();
    }
    if (!records.empty()) return say(Found::Records, records);
    return say(isPrepared(**module) ? Found::Prepared : Found::Unprepared, (*module)->getSourceFileName());
  }

  ProgramBitcode& program_;
  std::set<std::string> seen_;
  bool inArchive_ = false;
};

}  // namespace

void addRecords(ProgramBitcode& program, std::span<const char> section, const std::string& holder) {
  StringRef bytes(section.data(), section.size());
  bool strange = false;
  for (std::size_t at = 0; at + kAlignment <= bytes.size();) {
    if (!bytes.substr(at).starts_with(BLACKOUT_BITCODE_MAGIC)) {
      // The linker puts zeros between two records.
      bool padding = bytes.substr(at, kAlignment).find_first_not_of('\0') == StringRef::npos;
      if (!padding && !strange)
        program.notes.push_back(
            fmt::format("{}: there is something else than bitcode in its "
                        "section of bitcode; compile it again",
                        holder));
      strange |= !padding;
      at += kAlignment;
      continue;
    }
    std::size_t size = addRecord(program, bytes.substr(at), holder);
    if (size == 0) return;
    at += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
}

Result<void> addBitcode(ProgramBitcode& program, const std::string& path) { return Reader(program).file(path); }

}  // namespace blackout
