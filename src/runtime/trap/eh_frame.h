// Functions and their frames, from the unwind tables that every program file carries (.eh_frame_hdr, .eh_frame). Two
// uses: where functions begin and end, for the search for fences; and the way up the stack, for code without frame
// pointers. The tables are read where they are mapped; damaged ones end a walk, never the program. Nothing allocates or
// locks.
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

// The unwind tables of one loaded program file.
struct FrameTable {
  uintptr_t begin = 0;  // of the loaded file
  uintptr_t end = 0;
  const uint8_t* header = nullptr;  // .eh_frame_hdr (PT_GNU_EH_FRAME); null: none
  size_t headerSize = 0;
  // The segment that holds the header and the frames. Nothing else is read: between segments there may be holes.
  const uint8_t* readable = nullptr;
  const uint8_t* readableEnd = nullptr;
};

FrameTable frameTableOf(const dl_phdr_info& info);

struct FunctionRange {
  uintptr_t begin;
  uintptr_t end;
};

// Calls body for every function of the table, in the order of addresses, until it returns false. False: the table is
// damaged from some point on.
bool forEachFunction(const FrameTable& table, bool (*body)(const FunctionRange&, void*), void* argument);

// The same as pushing the table on a list that unwind() looks in. A table may be forgotten when its file is unloaded.
void addFrameTable(const FrameTable& table);
void forgetFrameTables(uintptr_t begin, uintptr_t end);

// Where a thread is: what a frame of any function is computed from.
struct Frame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t rbp;
  uintptr_t rbx;
  uintptr_t r12;
  uintptr_t r13;
  uintptr_t r14;
  uintptr_t r15;
  // For the innermost frame only: calls don't keep it, but gcc finds its frame by it while it aligns the stack. Where
  // it isn't known the walk ends there.
  uintptr_t r10 = 0;
};

// What a walk found out from: the words on the stack that it read. As long as they are what they were, a walk from the
// same instruction and stack pointer finds the same.
struct Trail {
  static constexpr int kMost = 48;
  struct Word {
    uintptr_t address;
    uintptr_t value;
  };
  bool complete = true;  // nothing else was asked but the first frame's pc and sp,
  bool usesRbp = false;  // and its rbp
  int count = 0;
  Word words[kMost];

  void add(uintptr_t address, uintptr_t value) {
    if (count == kMost)
      complete = false;
    else
      words[count++] = {address, value};
  }
};

// The return addresses above `from`, innermost first; only memory in [stackLow, stackTop) is read. Each step is
// remembered by its address, so that a second walk costs some nanoseconds per frame. It ends at the first function
// without a table, at main's caller, or at a signal frame. Returns how many.
int unwind(Frame from, uintptr_t stackLow, uintptr_t stackTop, uint64_t* returnAddresses, int limit,
           Trail* trail = nullptr);

}  // namespace blackout::rt
