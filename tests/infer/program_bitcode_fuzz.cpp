// libFuzzer target: any bytes as a section of kept bitcode are read without a fault, and what is left out is said in a
// sentence. The first byte says whether checksums are made right before, so that the fuzzer gets behind them. With a
// folder as BLACKOUT_CORPUS it first writes seeds.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "events/contract.h"
#include "infer/program_bitcode.h"
#include "sample_record.h"
#include "xxhash.h"

using namespace blackout;

namespace {

enum Form : std::uint8_t { AsItIs, RightChecksums };

// Of every record that is whole. Large sizes are cut: what they cost is memory, which the fuzzer would take for a
// fault.
void makeChecksumsRight(std::string& section) {
  constexpr std::uint64_t kLargest = 1 << 24;
  for (std::size_t at = 0; at + sizeof(blackout_bitcode) <= section.size(); at += 8) {
    blackout_bitcode header;
    std::memcpy(&header, section.data() + at, sizeof header);
    const std::size_t rest = section.size() - at - sizeof header;
    if (std::memcmp(header.magic, BLACKOUT_BITCODE_MAGIC, sizeof header.magic) != 0) continue;
    if (header.name_size > rest || header.packed > rest - header.name_size) continue;
    header.unpacked %= kLargest;
    header.checksum = XXH3_64bits(section.data() + at + sizeof header + header.name_size, header.packed);
    std::memcpy(section.data() + at, &header, sizeof header);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  auto seed = [&](const char* name, Form form, const std::string& section) {
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << static_cast<char>(form) << section;
  };
  const std::string one = sampleRecord("a.c", "BC\xC0\xDE of the first unit");
  const std::string two = sampleRecord("/src/b.cpp", "BC\xC0\xDE" + std::string(1000, 'x'));
  seed("one", AsItIs, one);
  seed("two", RightChecksums, one + std::string(16, '\0') + two);
  seed("twice", RightChecksums, two + two);
  seed("short", AsItIs, two.substr(0, two.size() / 2));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string section(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) == RightChecksums) makeChecksumsRight(section);
  ProgramBitcode program;
  addRecords(program, {section.data(), section.size()}, "fuzz");
  for (const KeptUnit& unit : program.units)
    if (unit.holder != "fuzz") __builtin_trap();
  for (const std::string& note : program.notes)
    if (!note.starts_with("fuzz")) __builtin_trap();
  // No record disappears without a word.
  if (section.starts_with(BLACKOUT_BITCODE_MAGIC) && program.units.empty() && program.notes.empty()) __builtin_trap();
  return 0;
}
