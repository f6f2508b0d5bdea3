// Plain code that does nothing but touch persistent memory, in one of a few ways: every access is a fault in a
// recording of code that was not built with Blackout.
//
//   trap_access POOL WAY COUNT
#include <cstring>

#include "measure.h"

namespace {

constexpr size_t kPool = size_t{4} << 20;
constexpr size_t kStep = 64;

// `access` is called with places that go round through the whole pool, line by line.
template <typename Access>
void each(char* pool, uint64_t count, Access access) {
  measure::processorTimePerOperation(count, [&] {
    for (uint64_t i = 0; i < count; ++i) access(pool + i * kStep % kPool, i);
  });
}

void store(char* place, uint64_t i) { *reinterpret_cast<volatile uint64_t*>(place) = i; }

void vector(char* place, uint64_t i) {
  __m128i value = _mm_set1_epi64x(static_cast<long long>(i));
  asm volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<__m128i*>(place)) : "x"(value));
}

void update(char* place, uint64_t i) {
  asm volatile("addq %1, %0" : "+m"(*reinterpret_cast<uint64_t*>(place)) : "r"(i));
}

void locked(char* place, uint64_t i) {
  asm volatile("lock xaddq %1, %0" : "+m"(*reinterpret_cast<uint64_t*>(place)), "+r"(i));
}

void copy(char* place, uint64_t i) {
  alignas(64) char line[kStep];
  std::memset(line, static_cast<int>(i), sizeof line);
  const void* from = line;
  void* to = place;
  size_t size = sizeof line;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

void mix(char* place, uint64_t i) {
  constexpr void (*kWays[])(char*, uint64_t) = {store, vector, update, locked, copy};
  kWays[i % 5](place, i);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto* pool = static_cast<char*>(measure::mapPool(argv[1], kPool));
  const uint64_t count = std::strtoull(argv[3], nullptr, 10);
  const struct {
    const char* name;
    void (*access)(char*, uint64_t);
  } ways[] = {{"store", store},   {"vector", vector}, {"update", update},
              {"locked", locked}, {"copy", copy},     {"mix", mix}};
  for (const auto& way : ways) {
    if (std::strcmp(way.name, argv[2]) != 0) continue;
    each(pool, count, way.access);
    return 0;
  }
  return 2;
}
