// What the units of the table's program share: the pool, flush and fence, and the register of ways.
//
// The recorded run writes something by one of the ways (`writers.cpp`), makes it durable or, as the bug, does not, and
// then publishes it: a header of one line says that it is there. A restart that finds the header set trusts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

struct alignas(64) Header {
  uint64_t valid;
  uint32_t offset, length;           // of what was written
  unsigned char head[16], tail[16];  // its first and last bytes
};

struct Pool {
  Header header;
  char apart[4096 - sizeof(Header)];
  char text[64];  // what `fill` writes: kText
  int numbers[16];
  char apart_too[4096 - 128];
  char area[8192];  // for writers
  char more[16384];
};

constexpr size_t kPoolSize = 1 << 16;
constexpr char kText[] = "4711 alpha beta gamma delta epsilon zeta eta theta iota";
inline void* const kPoolAddress = reinterpret_cast<void*>(0x280000000000);

static inline void flush(const void* at, size_t size) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(at) + size;
  for (uintptr_t line = reinterpret_cast<uintptr_t>(at) & ~uintptr_t{63}; line < end; line += 64)
    asm volatile("clwb %0" : "+m"(*reinterpret_cast<volatile char*>(line)));
}
static inline void fence() { asm volatile("sfence" ::: "memory"); }
static inline void persist(const void* at, size_t size) {
  flush(at, size);
  fence();
}

// A system call that no library is asked for.
template <typename... Arguments>
__attribute__((always_inline)) static inline long by_assembly(long number, Arguments... arguments) {
  const long given[6] = {(long)arguments...};
  register long fourth asm("r10") = given[3];
  register long fifth asm("r8") = given[4];
  register long sixth asm("r9") = given[5];
  asm volatile("syscall"
               : "+a"(number)
               : "D"(given[0]), "S"(given[1]), "d"(given[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return number;
}

// What a writer has written. Size 0: it publishes by itself, later.
struct Written {
  const void* at;
  size_t size;
};

using Writer = Written (*)(Pool*, bool right, long number);
using Reader = bool (*)(Pool*);  // whether what it read is kText, or the numbers
using Ending = void (*)(Pool*);  // what a restart does that found the data missing

// Each unit may be a library, loaded late: it is asked by name.
extern "C" {
Writer find_writer(const char* name);
Reader find_reader(const char* name);
Ending find_ending(const char* name);
extern const char* g_pool_path;
extern const char* g_program;
Pool* map_pool(const char* path, int open_flags, int protection, int map_flags);
void publish(Pool* p, const void* at, size_t size);
}

template <typename Function>
struct Way {
  const char* name;
  Function function;
  Way* next;
  static inline Way* first = nullptr;
  Way(const char* n, Function f) : name(n), function(f), next(first) { first = this; }
  static Function find(const char* name) {
    for (Way* way = first; way != nullptr; way = way->next)
      if (strcmp(way->name, name) == 0) return way->function;
    return nullptr;
  }
};

// A function of its own for each way, so that a report's place is told from the next.
#define WRITER(name)                                                                           \
  extern "C" __attribute__((noinline)) Written write_##name(Pool* p, bool right, long number); \
  static Way<Writer> writer_##name(#name, write_##name);                                       \
  Written write_##name([[maybe_unused]] Pool* p, [[maybe_unused]] bool right, [[maybe_unused]] long number)
#define READER(name)                                              \
  extern "C" __attribute__((noinline)) bool read_##name(Pool* p); \
  static Way<Reader> reader_##name(#name, read_##name);           \
  bool read_##name([[maybe_unused]] Pool* p)
#define ENDING(name)                                             \
  extern "C" __attribute__((noinline)) void end_##name(Pool* p); \
  static Way<Ending> ending_##name(#name, end_##name);           \
  void end_##name([[maybe_unused]] Pool* p)

// The end of a writer that writes more than a restart looks at.
#define WRITTEN_OF(at, size, whole)    \
  do {                                 \
    if (right) persist((at), (whole)); \
    return Written{(at), (size)};      \
  } while (0)
// The same where that is not its beginning.
#define WRITTEN_WITHIN(at, size, begin, whole) \
  do {                                         \
    if (right) persist((begin), (whole));      \
    return Written{(at), (size)};              \
  } while (0)
// The end of a writer: [at, at + size) is durable, if it is the right version.
#define WRITTEN(at, size)             \
  do {                                \
    if (right) persist((at), (size)); \
    return Written{(at), (size)};     \
  } while (0)
