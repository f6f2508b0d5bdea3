// Which words of PM lead where, as a trace goes on. PM is seen as aligned words of 8 bytes; a word holds a pointer if
// its value, as it is or without tags in its 3 low and 16 high bits, is an address inside a mapping of a pool, or if it
// is the offset of an object in the word's own file. Nothing else is known of the program or of its allocator.
//
// Numbers are taken for offsets only where little speaks against it: nothing in the file is an address (programs use
// one or the other), and everything that the same instruction ever stored was 0 or the offset, 64 or more, of a word
// that had been written by then. So a counter or a size that happens to be an offset now and then does not count.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "events/site.h"

namespace blackout {

constexpr std::uint64_t kWord = 8;
constexpr PmAddr wordOf(PmAddr a) { return a & ~(kWord - 1); }

// The virtual addresses at which the pools of a trace are mapped.
class Mappings {
 public:
  void add(std::uint64_t begin, std::uint64_t size, PmAddr to);
  // 0: no pool is there.
  PmAddr at(std::uint64_t address) const;
  // The word of PM that a value of 8 bytes leads to as an address; 0: none.
  PmAddr target(std::uint64_t value) const;

 private:
  struct Range {
    std::uint64_t end = 0;
    PmAddr to = 0;
  };
  std::map<std::uint64_t, Range> ranges_;  // by begin; apart from each other
};

// A word that led somewhere else before (target 0: nowhere).
struct PointerChange {
  PmAddr word = 0;
  PmAddr before = 0, after = 0;
};

class PointerWords {
 public:
  // Looks through the whole trace for mappings and for the instructions that store offsets.
  explicit PointerWords(const Trace& trace);

  void restart();
  // To be called with every event in order; returns the words that event n makes lead elsewhere.
  const std::vector<PointerChange>& follow(EventNo n);

  const Mappings& mappings() const { return mappings_; }

 private:
  void survey();
  void surveyWord(PmAddr word, std::uint64_t value, std::uint64_t origin);
  bool leadsByOffset(PmAddr word, std::uint64_t value, std::uint64_t origin) const;
  void put(PmAddr word, std::uint64_t value, std::uint64_t origin);
  void clear(PmAddr begin, PmAddr end);
  void map(EventNo n);

  const Trace& trace_;
  Mappings first_;  // of each address, the first one in the trace
  IdVector<FileNo, bool> hasAddresses_;
  std::unordered_set<std::uint64_t> noOffsets_;  // origins that store other numbers
  Mappings mappings_;
  std::unordered_set<PmAddr> written_;  // words with content
  std::map<PmAddr, std::uint64_t> values_;
  std::map<PmAddr, PmAddr> pointers_;  // target by word
  std::vector<PointerChange> changes_;
};

}  // namespace blackout
