// Reads of which nothing is used but a checksum: every value that they give goes into a sum that mixes what it has with
// what comes, and nothing is done with the sum but to compare it with something else for equality. A restart can't tell
// two contents of such bytes from each other but by the outcome of that comparison.
//
// What mixes: a loop whose sum is, in each turn, multiplied by a large odd constant, rotated, xored with itself
// shifted, or looked up in a table or divided bit by bit, as CRCs are (FNV, xxHash, Murmur, CRC-32). A plain sum, or
// xor, of words does not: two lost words may make up for a third. Nor do the sums of Fletcher and Adler: three
// neighbours that change by 1, -2 and 1 leave both of their halves as they were.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "infer/program_bitcode.h"

namespace blackout {

// A call in the source, by the name of the file (without folders) and the line.
struct CallPlace {
  std::string file;
  std::uint32_t line = 0;
  auto operator<=>(const CallPlace&) const = default;
};

// One read by the calls that lead to it, innermost first: of functions that were inlined, and of those through which
// the sum is returned. A read that stands in the function that compares has none.
struct ReadWay {
  std::vector<CallPlace> calls;
  // The comparison stands in a loop around the sum. Then these reads, by access id, are made anew for each comparison:
  // that of the sum that is stored, say.
  bool inLoop = false;
  std::vector<std::uint64_t> comparedWith;
  auto operator<=>(const ReadWay&) const = default;
};

struct SummedRead {
  std::uint64_t access = 0;       // infer/access_id.h
  std::vector<ReadWay> compared;  // ways on which it is only summed and compared
  std::vector<ReadWay> used;      // ways on which something else is done with it, or is not known
};

// Reads with at least one way of the first kind.
std::vector<SummedRead> summedReads(const ProgramBitcode& program);

}  // namespace blackout
