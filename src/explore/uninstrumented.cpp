#include "explore/uninstrumented.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

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

bool decodesFlush(std::string_view code) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction i;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, nullptr, code.data() + at, code.size() - at, &i))) {
      ++at;  // data between functions
      continue;
    }
    if (i.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i.mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
        i.mnemonic == ZYDIS_MNEMONIC_CLWB)
      return true;
    at += i.length;
  }
  return false;
}

}  // namespace

bool hasFlushInstructions(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (unsigned n = 0; n < header.e_shnum; ++n) {
    Elf64_Shdr section;
    std::uint64_t at = header.e_shoff + std::uint64_t{n} * sizeof section;
    if (at > bytes.size() || bytes.size() - at < sizeof section) return false;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_type != SHT_PROGBITS) continue;
    if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset) continue;
    std::string_view code(bytes.data() + section.sh_offset, section.sh_size);
    if (mayFlush(code) && decodesFlush(code)) return true;
  }
  return false;
}

std::vector<std::string> flushingModules(std::span<const LoadedModule> modules) {
  std::set<std::string> instrumented;
  for (const LoadedModule& m : modules)
    if (m.instrumented) instrumented.insert(m.path);
  std::set<std::string> names;
  for (const LoadedModule& m : modules)
    if (instrumented.count(m.path) == 0 && hasFlushInstructions(m.path))
      names.insert(std::filesystem::path(m.path).filename().string());
  return {names.begin(), names.end()};
}

}  // namespace blackout
