// Dense numbers for lines, in the order in which they are first seen: open addressing over
// 4-byte slots, the keys being the list of lines itself. Lines are looked up once per store or
// flush of a trace, so this is the index's hottest structure.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.h"
#include "events/id.h"

namespace blackout {

using LineId = Id<struct LineIdTag, std::uint32_t>;
inline constexpr LineId kNoLine{UINT32_MAX};

class LineMap {
 public:
  LineMap() : slots_(kFirstSlots, kNoLine) {}

  // Adds the line if it is new.
  LineId touch(LineNo line) {
    std::size_t at = slotOf(line);
    while (slots_[at] != kNoLine) {
      if (lines_[slots_[at]] == line) return slots_[at];
      at = (at + 1) & (slots_.size() - 1);
    }
    LineId id = lines_.endId();
    lines_.push_back(line);
    slots_[at] = id;
    if (lines_.size() * 2 > slots_.size()) grow();
    return id;
  }

  LineId find(LineNo line) const {
    for (std::size_t at = slotOf(line); slots_[at] != kNoLine; at = (at + 1) & (slots_.size() - 1))
      if (lines_[slots_[at]] == line) return slots_[at];
    return kNoLine;
  }

  // Room for this many lines, which costs nothing until they come; shrink() gives the rest back.
  void reserve(std::size_t lines) { lines_.reserve(lines); }
  void shrink() { lines_.shrink_to_fit(); }

  LineNo operator[](LineId id) const { return lines_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(lines_.size()); }
  std::size_t memory() const { return slots_.capacity() * sizeof(LineId) + lines_.capacity() * sizeof(LineNo); }

 private:
  static constexpr unsigned kFirstBits = 10;
  static constexpr std::size_t kFirstSlots = std::size_t{1} << kFirstBits;

  // Fibonacci hashing of blocks of 16 lines: programs touch neighbouring lines together, and the
  // slots of a block share a line of the cache.
  std::size_t slotOf(LineNo line) const {
    return ((((line.value() >> 4) * 0x9e3779b97f4a7c15ULL) >> (68 - bits_)) << 4) | (line.value() & 15);
  }

  void grow() {
    ++bits_;
    slots_.assign(std::size_t{1} << bits_, kNoLine);
    for (LineId id = 0; id < lines_.endId(); ++id) {
      std::size_t at = slotOf(lines_[id]);
      while (slots_[at] != kNoLine) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = id;
    }
  }

  unsigned bits_ = kFirstBits;
  std::vector<LineId> slots_;  // a power of two, at most half full
  IdVector<LineId, LineNo> lines_;
};

}  // namespace blackout
