// Words that verdicts and facts have in common: what bytes, lines of the source, calls and symptoms are called.
#pragma once

#include <string>
#include <string_view>

#include "findings/finding.h"

namespace blackout {

// "map.img" of "/mnt/pmem/map.img".
std::string_view baseName(std::string_view path);

// "8 bytes at offset 0x40 of map.img"
std::string bytesText(const NamedBytes& bytes);

// A path as it is shown: relative to `root` if it is below it.
std::string_view belowRoot(std::string_view path, std::string_view root);
// "src/map.cpp:60:3", safe for a terminal; of a frame with a file.
std::string positionText(const Frame& frame, std::string_view root);

// "map.cpp:60"; empty: unknown.
std::string lineText(const Frame& frame);

// "List::pop (list.cpp:12)"
std::string callText(const Frame& frame);

// Where a place is in the reader's own code, however deep in a library the instruction is; null: unknown.
const Frame* ownFrame(const NumberedPlace& place);
// The place that stands for a finding where there is room for one: the first that has a line in the source; 0: none.
PlaceNo leadingPlace(const Finding& finding);
const Frame* leadingFrame(const Finding& finding);

// How a sentence speaks of its finding's places.
class PlaceWords {
 public:
  PlaceWords() = default;                                                          // by their numbers, which follow
  explicit PlaceWords(const Finding& f) : finding_(&f), here_(leadingPlace(f)) {}  // by their lines

  std::string operator()(PlaceNo n) const;  // "(2)"; "map.cpp:60"
  std::string at(PlaceNo n) const;          // "at (2)"; "at map.cpp:60"; "here"
  // " at (2)", or nothing where no line is known: of an operation's end, say, which a header of ours marks.
  std::string atIfKnown(PlaceNo n) const;

 private:
  std::string lineOf(PlaceNo n) const;

  const Finding* finding_ = nullptr;
  PlaceNo here_ = 0;
};

// "crashes with SIGSEGV in lookup (map.cpp:60)"
std::string symptomIn(const std::string& symptom, const Frame& frame);

}  // namespace blackout
