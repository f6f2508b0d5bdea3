// PM cut where pointers lead: a *cell* begins at a word that something in the trace points to (or at a block that the
// program allocated) and goes on over the bytes that the trace stores, with gaps of at most a line, up to the next
// cell. An object is one cell, or a few where pointers also lead to its inside (publication.h). What lies before the
// address that a pointer holds is not part of what it leads to.
//
// Everything in no cell is memory that a program finds without a pointer: roots, fixed arrays, logs. A pool's first
// line always is, and so are the other fields of a struct that has fields there, unless a pointer leads to one of them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "infer/ids.h"
#include "infer/pointer_words.h"

namespace blackout {

class MemoryCells {
 public:
  static constexpr CellNo kNone = CellNo(UINT32_MAX);

  // Follows the words through the whole trace.
  MemoryCells(const Trace& trace, PointerWords& words);

  CellNo endId() const { return cells_.endId(); }
  PmAddr begin(CellNo cell) const { return cells_[cell].begin; }
  PmAddr end(CellNo cell) const { return cells_[cell].end; }
  // The cell of a word.
  CellNo of(PmAddr word) const;
  // Whether stored bytes lead from this cell to the next one.
  bool joined(CellNo cell) const { return cell + 1 < endId() && cells_[cell].end == cells_[cell + 1].begin; }

 private:
  struct Cell {
    PmAddr begin = 0, end = 0;
    bool led = false;  // something points into it, or into a block that it is part of
  };
  struct Survey;
  CellNo find(PmAddr word) const;
  void cut(Survey& survey);
  void findRootWords(const Trace& trace, const Survey& survey);

  IdVector<CellNo, Cell> cells_;  // by begin
  std::unordered_set<PmAddr> rootWords_;
};

}  // namespace blackout
