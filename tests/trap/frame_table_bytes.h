// Unwind tables made by hand: a header, a CIE and one FDE per program, as a linker lays them out, in memory of exactly
// that size. For the tests of damage, and as seeds of the fuzzer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/trap/eh_frame.h"

namespace blackout::test {

constexpr std::uint32_t kFunctionSize = 64;

struct FrameTableBytes {
  std::string bytes;
  // Functions follow each other behind the tables, at multiples of kFunctionSize.
  std::size_t functions;
};

// commonProgram: of the CIE, after the usual one (CFA = rsp + 8, return address below it).
inline FrameTableBytes frameTableBytes(const std::vector<std::string>& programs, const std::string& commonProgram = {},
                                       const std::string& letters = "zR") {
  auto put4 = [](std::string& out, std::uint64_t value) { out.append(reinterpret_cast<const char*>(&value), 4); };
  auto close = [&](std::string& out, std::size_t begin) {
    while ((out.size() - begin) % 8 != 4) out += '\0';  // DW_CFA_nop
    std::uint32_t length = std::uint32_t(out.size() - begin);
    std::memcpy(&out[begin - 4], &length, 4);
  };
  std::size_t headerSize = 12 + 8 * programs.size();
  std::string frames;
  put4(frames, 0);
  put4(frames, 0);
  frames += '\1' + letters + '\0' + "\1\x78\x10";  // factors 1 and -8, return address in column 16
  std::string data;
  for (char letter : letters) {
    if (letter == 'R') data += '\x1b';                                  // pcrel, sdata4
    if (letter == 'P') data += std::string("\x9b\x34\x12\x00\x00", 5);  // indirect, pcrel, sdata4
    if (letter == 'L') data += '\x1b';
  }
  if (letters.find('z') != std::string::npos) frames += char(data.size()) + data;
  frames += "\x0c\x07\x08\x90\x01" + commonProgram;  // def_cfa rsp+8, offset rip at cfa-8
  close(frames, 4);
  std::vector<std::size_t> entries;
  for (const std::string& program : programs) {
    entries.push_back(frames.size());
    put4(frames, 0);
    put4(frames, frames.size());  // back to the CIE at 0
    put4(frames, 0);              // the function, below
    put4(frames, kFunctionSize);
    if (letters.find('L') != std::string::npos)
      frames += std::string("\4\0\0\0\0", 5);
    else
      frames += '\0';
    frames += program;
    close(frames, entries.back() + 4);
  }
  std::size_t functions = (headerSize + frames.size() + kFunctionSize - 1) / kFunctionSize * kFunctionSize;
  std::string out("\1\x1b\x03\x3b", 4);
  put4(out, headerSize - 4);
  put4(out, programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    put4(out, functions + i * kFunctionSize);
    put4(out, headerSize + entries[i]);
    auto relative = std::uint32_t(functions + i * kFunctionSize - (headerSize + entries[i] + 8));
    std::memcpy(&frames[entries[i] + 8], &relative, 4);
  }
  return {out + frames, functions};
}

// A copy without room to spare, so that a sanitizer sees every byte too much. Not copyable: addresses are in it.
class MappedTable {
 public:
  explicit MappedTable(const std::string& bytes) : bytes_(new std::uint8_t[bytes.size()]) {
    std::memcpy(bytes_, bytes.data(), bytes.size());
    auto begin = reinterpret_cast<std::uintptr_t>(bytes_);
    // The functions aren't there: nobody reads code.
    table = {begin, begin + bytes.size() + (1 << 20), bytes_, bytes.size(), bytes_, bytes_ + bytes.size()};
  }
  MappedTable(const MappedTable&) = delete;
  MappedTable& operator=(const MappedTable&) = delete;
  ~MappedTable() { delete[] bytes_; }

  rt::FrameTable table;

 private:
  std::uint8_t* bytes_;
};

}  // namespace blackout::test
