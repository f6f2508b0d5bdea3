#include "runtime/trap/stub_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/own_memory.h"
#include "runtime/trap/near_memory.h"

namespace blackout::rt {

namespace {

constexpr size_t kChunk = 65536;
constexpr size_t kUnits = kChunk / kStubUnit;

struct Chunk {
  uintptr_t begin;  // 0: none. Written last
  uint16_t owners[kUnits];
};
constexpr int kMaxChunks = 512;
Chunk* chunks = nullptr;  // kMaxChunks of them
int chunkCount = 0;

constexpr int kMaxKept = 256;
AddressRange kept[kMaxKept] = {};
int keptCount = 0;
// Of each, the highest bytes are for takeKeptMemory(): so much of them is taken.
constexpr uintptr_t kForFiles = uintptr_t{64} << 20;
uintptr_t takenOf[kMaxKept] = {};

bool has(uintptr_t at, uintptr_t from, GivenBytes given) {
  auto distance = int64_t(at - from);
  return distance == int32_t(distance) && (uint32_t(distance) & given.mask) == given.value;
}

// Before the first: tables are memory of the kernel's that is taken as it is used.
bool prepared() {
  if (chunks != nullptr) return true;
  auto* made = static_cast<Chunk*>(takeMemory(kMaxChunks * sizeof(Chunk)));
  __atomic_store_n(&chunks, made, __ATOMIC_RELEASE);
  return made != nullptr;
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

bool isFree(uintptr_t at) {
  for (int i = 0; i < chunkCount; ++i)
    if (at < chunks[i].begin + kChunk && at + kChunk > chunks[i].begin) return false;
  for (int i = 0; i < keptCount; ++i)
    if (at >= kept[i].begin && at + kChunk + kForFiles <= kept[i].end) return true;
  return false;
}

Chunk* mapChunk(uintptr_t at) {
  if (chunkCount == kMaxChunks || !isFree(at)) return nullptr;
  long p = syscall(SYS_mmap, at, kChunk, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1L, 0L);
  if (p == -1) return nullptr;
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

void keepStubMemory(uintptr_t begin, uintptr_t end) {
  // As far below as any given bytes of a distance may lead.
  constexpr uintptr_t kEnough = uintptr_t{1} << 30;
  for (int i = 0; i < keptCount; ++i)
    if (begin > kEnough && kept[i].begin <= begin - kEnough && kept[i].end > begin - kEnough) return;
  keptCount += keepFree(begin, end, kept + keptCount, kMaxKept - keptCount);
}

uintptr_t takeKeptMemory(uintptr_t begin, uintptr_t end, size_t size) {
  constexpr uintptr_t kReach = (uintptr_t{1} << 31) - 65536;
  for (int i = 0; i < keptCount; ++i) {
    uintptr_t at = kept[i].end - takenOf[i] - size;
    bool reached = at < begin ? end - at <= kReach : at + size - begin <= kReach;
    if (takenOf[i] + size > kForFiles || at < kept[i].begin || !reached) continue;
    long p = syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1L, 0L);
    if (p == -1) return 0;
    takenOf[i] += size;
    return at;
  }
  return 0;
}

uintptr_t takeStubMemory(uintptr_t from, GivenBytes given, size_t size, uint16_t owner) {
  size_t units = (size + kStubUnit - 1) / kStubUnit;
  if (!prepared() || units > kUnits / 2) return 0;
  for (int i = 0; i < chunkCount; ++i)
    if (uintptr_t at = takeFrom(chunks[i], from, given, units, owner)) return at;
  uintptr_t taken = 0;
  eachPlace(from, given, [&](uintptr_t place) {
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
