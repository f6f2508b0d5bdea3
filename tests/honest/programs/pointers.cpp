// Pointers that are kept in PM: to memory of the process that stores them (the bug), or to the pool, which is mapped at
// one address (right).
//
//   pointers POOL store WAY bug|right   stores one, makes it durable and says that it is there
//   pointers POOL follow WAY            a restart: has memory of its own as the first process had, and follows what is
//   stored
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ways.h"

static uint64_t global = 7;
static thread_local uint64_t local = 7;
static volatile uint64_t sum;

struct Other {
  uint64_t *local, *stack;
  sem_t ready, end;
};
static void* other_thread(void* argument) {
  auto* other = static_cast<Other*>(argument);
  uint64_t own = 7;
  other->local = &local;
  other->stack = &own;
  sem_post(&other->ready);
  sem_wait(&other->end);
  return nullptr;
}
static const Other* start_other() {
  static Other other;
  static pthread_t id;
  sem_init(&other.ready, 0, 0);
  sem_init(&other.end, 0, 0);
  if (pthread_create(&id, nullptr, other_thread, &other) != 0) exit(8);
  sem_wait(&other.ready);
  return &other;
}

// Memory of this process; the compiler must not see that nobody uses it.
static uint64_t* memory(const char* way, uint64_t* stack) {
  uint64_t* found = nullptr;
  if (strstr(way, "global") != nullptr) found = &global;
  if (strstr(way, "stack") != nullptr) found = stack;
  if (strstr(way, "heap") != nullptr) found = static_cast<uint64_t*>(calloc(1, 64));
  if (strstr(way, "mapping") != nullptr)
    found = static_cast<uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (strstr(way, "local") != nullptr) found = &local;
  if (strstr(way, "thread_local") != nullptr) found = start_other()->local;
  if (strstr(way, "thread_stack") != nullptr) found = start_other()->stack;
  asm volatile("" : "+r"(found) : : "memory");
  return found;
}

// As it is stored, and as it is used.
static uint64_t coded(const char* way, uint64_t word) {
  return strncmp(way, "xored_", 6) == 0 ? word ^ 0x9e3779b97f4a7c15 : word;
}

extern "C" __attribute__((noinline)) void store_pointer(Pool* p, const char* way, const uint64_t* to) {
  auto* word = reinterpret_cast<volatile uint64_t*>(p->area);
  *word = coded(way, reinterpret_cast<uint64_t>(to));
  persist(p->area, sizeof *word);
}

extern "C" __attribute__((noinline)) void follow_pointer(Pool* p, const char* way) {
  const uint64_t word = *reinterpret_cast<volatile uint64_t*>(p->area);
  sum = sum + *reinterpret_cast<volatile uint64_t*>(coded(way, word));
}

int main(int argc, char** argv) {
  if (argc < 4) return 8;
  const int file = open(argv[1], O_RDWR);
  auto* p = static_cast<Pool*>(mmap(kPoolAddress, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  if (file < 0 || p == MAP_FAILED) return 9;
  const char* way = argv[3];
  uint64_t stack = 7;
  uint64_t* own = memory(way, &stack);
  if (own == nullptr) return 8;
  if (strcmp(argv[2], "store") == 0) {
    store_pointer(p, way, strcmp(argv[4], "right") == 0 ? reinterpret_cast<uint64_t*>(p->numbers) : own);
    __atomic_store_n(&p->header.valid, 1, __ATOMIC_RELEASE);
    persist(&p->header, sizeof p->header);
  } else if (__atomic_load_n(&p->header.valid, __ATOMIC_ACQUIRE) != 0) {
    follow_pointer(p, way);
  }
  return 0;
}
