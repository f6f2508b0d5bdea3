#include "runtime/trap/stub_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace blackout::rt {

namespace {

constexpr size_t kChunk = 65536;
constexpr size_t kUnits = kChunk / kStubUnit;
constexpr uintptr_t kLowest = 0x10000;  // mmap_min_addr
constexpr uintptr_t kHighest = (uintptr_t(1) << 47) - 4096;

struct Chunk {
  uintptr_t begin;  // 0: none. Written last
  uint16_t owners[kUnits];
};
constexpr int kMaxChunks = 512;
Chunk* chunks = nullptr;  // kMaxChunks of them
int chunkCount = 0;

bool has(uintptr_t at, uintptr_t from, GivenBytes given) {
  auto distance = int64_t(at - from);
  return distance == int32_t(distance) && (uint32_t(distance) & given.mask) == given.value;
}

// Before the first: tables are memory of the kernel's that is taken as it is used.
bool prepared() {
  if (chunks != nullptr) return true;
  long p = syscall(SYS_mmap, nullptr, kMaxChunks * sizeof(Chunk), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L);
  if (p == -1) return false;
  __atomic_store_n(&chunks, reinterpret_cast<Chunk*>(p), __ATOMIC_RELEASE);
  return true;
}

uintptr_t takeFrom(Chunk& chunk, uintptr_t from, GivenBytes given, size_t units, uint16_t owner) {
  for (size_t first = 0; first + units <= kUnits;) {
    size_t n = 0;
    if (!has(chunk.begin + first * kStubUnit, from, given)) {
      ++first;
      continue;
    }
    while (n < units && chunk.owners[first + n] == 0) ++n;
    if (n < units) {
      first += n + 1;
      continue;
    }
    for (n = 0; n < units; ++n) __atomic_store_n(&chunk.owners[first + n], owner, __ATOMIC_RELEASE);
    return chunk.begin + first * kStubUnit;
  }
  return 0;
}

Chunk* mapChunk(uintptr_t at) {
  if (chunkCount == kMaxChunks || at < kLowest || at + kChunk > kHighest) return nullptr;
  long p = syscall(SYS_mmap, at, kChunk, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1L, 0L);
  if (p == -1) return nullptr;
  if (uintptr_t(p) != at) {  // a kernel older than the flag
    syscall(SYS_munmap, p, kChunk);
    return nullptr;
  }
  Chunk& chunk = chunks[chunkCount];
  __atomic_store_n(&chunk.begin, at, __ATOMIC_RELEASE);
  __atomic_store_n(&chunkCount, chunkCount + 1, __ATOMIC_RELEASE);
  return &chunk;
}

// Where the distances that have these bytes begin, the nearest below first: above a program there is its heap, which
// grows, and behind it comes what is above.
template <class Body>
bool eachPlace(uintptr_t from, GivenBytes given, Body body) {
  constexpr int64_t kTop = int64_t{1} << 24;
  if ((given.mask >> 24) != 0) {  // one stretch of 16 MiB
    auto base = int64_t(int32_t(given.value & 0xff000000));
    for (int64_t at = 0; at < kTop; at += kChunk)
      if (body(from + uintptr_t(base + at + (given.value & 0xff0000 & given.mask)))) return true;
    return false;
  }
  int64_t step = (given.mask & 0xff0000) != 0 ? kTop : int64_t{1} << 20;
  int64_t offset = int64_t(given.value & 0xff0000 & given.mask);
  for (int64_t far = step; far < (int64_t{1} << 31) - 2 * kTop; far += step)
    if (body(from + uintptr_t(offset - far))) return true;
  for (int64_t far = step; far < (int64_t{1} << 31) - 2 * kTop; far += step)
    if (body(from + uintptr_t(offset + far))) return true;
  return false;
}

}  // namespace

uintptr_t takeStubMemory(uintptr_t from, GivenBytes given, size_t size, uint16_t owner) {
  size_t units = (size + kStubUnit - 1) / kStubUnit;
  if (!prepared() || units > kUnits / 2) return 0;
  for (int i = 0; i < chunkCount; ++i)
    if (uintptr_t at = takeFrom(chunks[i], from, given, units, owner)) return at;
  uintptr_t taken = 0;
  int attempts = 0;
  eachPlace(from, given, [&](uintptr_t place) {
    if (++attempts > 400) return true;
    Chunk* chunk = mapChunk((place + 4095) & ~uintptr_t{4095});
    if (chunk != nullptr) taken = takeFrom(*chunk, from, given, units, owner);
    return taken != 0;
  });
  return taken;
}

void giveStubMemory(uintptr_t at, size_t size) {
  for (int i = 0; i < chunkCount; ++i) {
    if (at < chunks[i].begin || at >= chunks[i].begin + kChunk) continue;
    size_t first = (at - chunks[i].begin) / kStubUnit;
    for (size_t n = 0; n * kStubUnit < size; ++n)
      __atomic_store_n(&chunks[i].owners[first + n], uint16_t(0), __ATOMIC_RELEASE);
  }
}

uint16_t ownerAt(uintptr_t pc) {
  int count = __atomic_load_n(&chunkCount, __ATOMIC_ACQUIRE);
  for (int i = 0; i < count; ++i) {
    uintptr_t offset = pc - chunks[i].begin;
    if (offset < kChunk) return __atomic_load_n(&chunks[i].owners[offset / kStubUnit], __ATOMIC_ACQUIRE);
  }
  return 0;
}

}  // namespace blackout::rt
