// Memory for the nodes of a persistent tree: a pool's lines and, in volatile memory only, which of them are taken.
// Nothing is stored for an allocation, so a crash leaves nothing to repair: a restart marks what it reaches from the
// root, and everything else is free. A block must not be freed before its last link is durably gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pm.h"

class LineHeap {
 public:
  LineHeap(void* begin, std::size_t size) : begin_(static_cast<char*>(begin)), taken_(size / PM_LINE) {}

  // The first free lines that hold `size` bytes. What they hold is left over from earlier.
  void* allocate(std::size_t size) {
    std::size_t wanted = lines(size), run = 0;
    for (std::size_t line = 0; line < taken_.size(); ++line) {
      run = taken_[line] ? 0 : run + 1;
      if (run < wanted) continue;
      void* block = begin_ + (line + 1 - wanted) * PM_LINE;
      mark(block, size);
      return block;
    }
    pm_die("the pool is full");
    return nullptr;
  }

  void free(const void* block, std::size_t size) { set(block, size, false); }
  void mark(const void* block, std::size_t size) { set(block, size, true); }

 private:
  static std::size_t lines(std::size_t size) { return (size + PM_LINE - 1) / PM_LINE; }

  void set(const void* block, std::size_t size, bool taken) {
    std::size_t first = static_cast<std::size_t>(static_cast<const char*>(block) - begin_) / PM_LINE;
    for (std::size_t line = first; line < first + lines(size); ++line) {
      pm_expect(line < taken_.size() && taken_[line] != taken, "every block is in the pool and has one owner");
      taken_[line] = taken;
    }
  }

  char* begin_;
  std::vector<bool> taken_;
};
