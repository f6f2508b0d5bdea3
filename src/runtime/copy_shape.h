// The stores by which libc's functions over memory write, in their order: what an instrumented program's call of them
// is recorded as. They are those of glibc 2.36 for processors with AVX2, which the tool has it choose in all its runs
// (kLibcShapes in src/run/launch.cpp); tests/crash/copies.test compares them with what libc executes.
//
// A shape calls `store(offset, size)` for each of its stores. Stores overlap: bytes that an earlier one has written are
// left out of later ones, which would write the same again.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

namespace shape {

constexpr size_t kVector = 32;

// Leaves out of each store what was stored before. What was is at most two runs: one that grew from the beginning or in
// a loop, one from the other end.
template <class Store>
class Fresh {
 public:
  explicit Fresh(Store& store) : store_(store) {}
  void operator()(size_t offset, size_t size) {
    without(0, offset, offset + size);
    add({offset, offset + size});
  }

 private:
  struct Run {
    size_t begin, end;
  };

  void without(int n, size_t from, size_t to) {
    if (from >= to) return;
    if (n == count_) return store_(from, to - from);
    const Run& run = runs_[n];
    without(n + 1, from, to < run.begin ? to : run.begin);
    without(n + 1, from > run.end ? from : run.end, to);
  }
  static bool join(Run& a, const Run& b) {
    if (a.end < b.begin || b.end < a.begin) return false;
    if (b.begin < a.begin) a.begin = b.begin;
    if (b.end > a.end) a.end = b.end;
    return true;
  }
  void add(Run run) {
    int n = 0;
    while (n < count_ && !join(runs_[n], run)) ++n;
    if (n == count_) {
      if (count_ < 2) runs_[count_++] = run;
    } else if (count_ == 2 && join(runs_[0], runs_[1])) {
      count_ = 1;
    }
  }

  Store& store_;
  Run runs_[2];
  int count_ = 0;
};

// The largest power of two of at most n; n is not 0.
inline size_t powerBelow(size_t n) { return size_t{1} << (63 - __builtin_clzll(n)); }

}  // namespace shape

// memcpy, memmove, mempcpy of n bytes.
template <class Store>
void storesOfCopy(uintptr_t to, uintptr_t from, size_t n, Store record) {
  using shape::kVector;
  shape::Fresh<Store> store(record);
  auto down = [&](size_t end, size_t count) {
    for (size_t i = 1; i <= count; ++i) store(end - i * kVector, kVector);
  };
  auto up = [&](size_t begin, size_t count) {
    for (size_t i = 0; i < count; ++i) store(begin + i * kVector, kVector);
  };
  if (n == 0) return;
  if (n < 8) {  // the end first
    size_t size = n == 1 ? 1 : n < 4 ? 2 : 4;
    store(n - size, size);
    return store(0, n < 4 ? 1 : 4);
  }
  if (n <= 2 * kVector) {
    size_t size = n < 16 ? 8 : n < kVector ? 16 : kVector;
    store(0, size);
    return store(n - size, size);
  }
  if (n <= 8 * kVector) {
    size_t half = n <= 4 * kVector ? 2 : 4;
    up(0, half);
    return down(n, half);
  }
  // Blocks of four, aligned where they are written; what is left over at both ends comes last.
  constexpr size_t kBlock = 4 * kVector;
  constexpr uintptr_t kAliased = 4096 - 256;
  uintptr_t distance = to - from;
  bool overlaps = distance < n;
  bool ahead = from - to < n;  // from overlaps and is above
  if (overlaps || (!ahead && (distance & kAliased) == 0)) {
    uintptr_t at = (to + n - kBlock - 1) & ~uintptr_t{kVector - 1};
    for (; at > to; at -= kBlock) down(at - to + kBlock, 4);
    // The loop is made once at least.
    up(0, 4);
    return down(n, 1);
  }
  uintptr_t at = (to | (kVector - 1)) + 1;
  do {
    up(at - to, 4);
    at += kBlock;
  } while (at < to + n - kBlock);
  down(n, 4);
  store(0, kVector);
}

// memset of n bytes.
template <class Store>
void storesOfFill(uintptr_t to, size_t n, Store record) {
  using shape::kVector;
  shape::Fresh<Store> store(record);
  auto up = [&](size_t begin, size_t count) {
    for (size_t i = 0; i < count; ++i) store(begin + i * kVector, kVector);
  };
  if (n < 4) {
    for (size_t i = 0; i < n; ++i) store(i, 1);
    return;
  }
  if (n < kVector) {
    size_t size = shape::powerBelow(n);
    store(0, size);
    return store(n - size, size);
  }
  if (n <= 2 * kVector) {
    store(n - kVector, kVector);
    return store(0, kVector);
  }
  if (n <= 4 * kVector) {
    up(0, 2);
    return up(n - 2 * kVector, 2);
  }
  constexpr size_t kBlock = 4 * kVector;
  up(0, 4);
  if (n > 2 * kBlock)
    for (uintptr_t at = (to + kBlock) & ~uintptr_t{kVector - 1}; at < to + n - kBlock; at += kBlock) up(at - to, 4);
  up(n - kBlock, 4);
}

// strcpy, stpcpy and strcat of n bytes with the zero; strncpy pads as a fill does, nearly. n is not 0. Where libc's own
// stores are not followed; it has other ways for some places of the text.
template <class Store>
void storesOfText(uintptr_t from, size_t n, Store record) {
  using shape::kVector;
  shape::Fresh<Store> store(record);
  size_t at = 0;
  if (n > kVector) {
    store(0, kVector);
    at = kVector;
    if (n > 2 * kVector) {
      at = kVector - from % kVector;
      for (; n - at > kVector; at += kVector) store(at, kVector);
    }
  }
  size_t left = n - at;
  if (left == 3) {
    store(at, 2);
    return store(at + 2, 1);
  }
  size_t size = shape::powerBelow(left);
  if (left == size && size > 4) size /= 2;
  store(at, size);
  store(n - size, size);
}

// A copy or fill of a constant size that the compiler makes itself: vectors or a word, and one more for the rest, which
// may overlap them. Their order is the compiler's choice (clang's is mostly the other one): taken is that of addresses.
template <class Store>
void storesOfInlined(size_t n, Store store) {
  constexpr size_t kLargest = 16;
  size_t size = n < kLargest ? shape::powerBelow(n) : kLargest;
  size_t at = 0;
  for (; n - at >= size; at += size) store(at, size);
  if (at != n) store(at, n - at);
}

}  // namespace blackout::rt
