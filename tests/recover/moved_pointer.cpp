// PM holds a pointer to a function, a table of virtual functions, a global, a mapping, thread-local memory or a
// REQUIRES: full
// stack of the process that stored it. Restarts have all of these where the recorded process had them, so following it
// does no harm here: it is shown with the pointer moved, at its store, and replayed so. A restart that sets it anew, or
// only compares it, is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cxx -O1 -g %s -o compiled && %plain-cxx -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in function object global stack large mapping local thread-local thread-stack; do \
// RUN:   %blackout check --detect=none --findings found --pm pool -- ./$p pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   test $code = 1 || { echo $p $m $code; cat %t.out; exit 1; }; \
// RUN:   case $m in function|object|global) w=$m;; *) w=memory;; esac; FileCheck %s --check-prefixes=CHECK,$w < %t.out || exit 1; \
// RUN:   %blackout replay found/* > %t.replay 2>&1; grep -q 'The same failure again' %t.replay || { cat %t.replay; exit 1; }; rm -r found; done; done
// CHECK: shown: pointer of the earlier process used after a crash [stale-pointer]
// CHECK-NEXT: leads to memory of the process that stored it: after a crash the restarted program crashes with SIGSEGV in use (moved_pointer.cpp:
// function: (1) the pointer is stored here: {{.*}}moved_pointer.cpp:[[# @LINE + 99]]:
// object: (1) the pointer is stored here: {{.*}}moved_pointer.cpp:[[# @LINE + 22]]:
// global: (1) the pointer is stored here: {{.*}}moved_pointer.cpp:[[# @LINE + 101]]:
// memory: (1) the pointer is stored here: {{.*}}moved_pointer.cpp:[[# @LINE + 102]]:
// CHECK: the restart reads it here: {{.*}} in use
// CHECK: fails here: {{.*}} in use
// CHECK: what is stored at (1) was moved to where nothing is
// CHECK-NOT: the restarted program ends well on it
// CHECK: SUMMARY: blackout: 1 shown
// RUN: for p in compiled plain; do for m in function object global stack large mapping local thread-local thread-stack; do for how in anew compared; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m $how > %t.out 2>&1 || { echo $p $m $how; cat %t.out; exit 1; }; rm -f pool; done; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

struct Order {
  virtual int less(int a, int b) { return a < b; }
  uint64_t used = 0;
};

struct Pool {
  alignas(64) int (*compare)(int, int);
  uint64_t* counter;
  alignas(64) Order order;
  alignas(64) uint64_t isOpen;
};

static volatile uint64_t sum;
static uint64_t global = 7;
static thread_local uint64_t threadLocal = 7;
static int less(int a, int b) { return a < b; }

static void persist(void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

// As if its class were not known.
static Order* anyOrder(Order* order) {
  asm("" : "+r"(order));
  return order;
}

// Another thread, and what it has.
struct Thread {
  uint64_t* local;
  uint64_t* stack;
  sem_t ready, end;
};
static void* otherThread(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  uint64_t own = 7;
  thread->local = &threadLocal;
  thread->stack = &own;
  sem_post(&thread->ready);
  sem_wait(&thread->end);
  return nullptr;
}
static uint64_t* ofOtherThread(bool stack) {
  static Thread thread;
  static pthread_t id;
  sem_init(&thread.ready, 0, 0);
  sem_init(&thread.end, 0, 0);
  if (pthread_create(&id, nullptr, otherThread, &thread) != 0) _exit(8);
  sem_wait(&thread.ready);
  return stack ? thread.stack : thread.local;
}

// Memory that every process of this program has somewhere.
static uint64_t* memoryOf(const char* what, uint64_t* local) {
  if (!strcmp(what, "large")) return static_cast<uint64_t*>(calloc(1, 1 << 20)) + 1000;
  if (!strcmp(what, "mapping"))
    return static_cast<uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (!strcmp(what, "local")) return &threadLocal;
  if (!strcmp(what, "thread-local")) return ofOtherThread(false);
  if (!strcmp(what, "thread-stack")) return ofOtherThread(true);
  return local;
}

__attribute__((noinline)) static void use(Pool* p, const char* what) {
  if (!strcmp(what, "function"))
    sum = sum + p->compare(1, 2);
  else if (!strcmp(what, "object"))
    sum = sum + anyOrder(&p->order)->less(1, 2);
  else
    sum = sum + *p->counter;
  sum = sum + 1;
}

__attribute__((noinline)) static void set(Pool* p, const char* what, uint64_t* local) {
  if (!strcmp(what, "function"))
    p->compare = less;
  else if (!strcmp(what, "object"))
    new (&p->order) Order();
  else if (!strcmp(what, "global"))
    p->counter = &global;
  else
    p->counter = local;  // of wherever
  persist(&p->compare);
  persist(&p->order);
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* p = static_cast<Pool*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  uint64_t own = 5;
  uint64_t* local = memoryOf(argv[2], &own);
  const char* how = argc > 3 ? argv[3] : "";
  if (p->isOpen) {
    // The last run did not close it.
    if (!strcmp(how, "anew")) set(p, argv[2], local);
    if (!strcmp(how, "compared")) {
      void* first;
      memcpy(&first, static_cast<void*>(&p->order), sizeof first);
      sum = sum + (p->compare == less) + (p->counter == &global) + (first == &sum);
    } else {
      use(p, argv[2]);
    }
    return 0;
  }
  set(p, argv[2], local);
  p->isOpen = 1;
  persist(&p->isOpen);
  use(p, argv[2]);
  p->isOpen = 0;
  persist(&p->isOpen);
  return 0;
}
