// Stores of many kinds to a pool, each often, in functions that are also called with other memory, and with none: what comes of
// instructions that are patched while the program runs.
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <emmintrin.h>
#include <ucontext.h>

extern "C" {
#include "Inputs/pool.h"
}

static uint64_t* pool;
static sigjmp_buf back;
static uintptr_t faultedAt;

__attribute__((noinline)) static void store(volatile uint64_t* p, uint64_t v) { *p = v; }

static void onFault(int, siginfo_t*, void* context) {
  faultedAt = uintptr_t(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  siglongjmp(back, 1);
}

__attribute__((noinline)) static void fails(uint64_t i) {
  if (i % 3 == 0) throw int(i);
}
__attribute__((noinline)) static void caught(volatile uint64_t* p, uint64_t i) {
  try {
    p[0] = i;
    fails(i);
    p[1] = i;
  } catch (int n) {
    p[2] = uint64_t(n);
  }
}

int main(int, char** argv) {
  pool = reinterpret_cast<uint64_t*>(mapPool(argv[1], 65536));
  for (uint64_t i = 0; i < 100; ++i) store(pool + i % 8, i);

  // The same instruction on no memory at all: the program sees its own code, and goes on.
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  if (sigsetjmp(back, 1) == 0) store(nullptr, 1);
  auto function = reinterpret_cast<uintptr_t>(&store);
  printf("in its function: %d\n", int(faultedAt >= function && faultedAt < function + 64));

  for (uint64_t i = 0; i < 100; ++i) caught(pool + 16, i);

  // libc's copies, of every size, and a string instruction.
  static char text[4096];
  for (unsigned i = 0; i < sizeof text; ++i) text[i] = char(i * 7);
  for (unsigned size = 0; size < 200; ++size) memcpy(reinterpret_cast<char*>(pool) + 1024 + size * 3, text + size, size);
  for (unsigned i = 0; i < 40; ++i) {
    void* to = reinterpret_cast<char*>(pool) + 8192 + 4000 * (i % 3);
    const void* from = text + i;
    size_t n = 300 + i;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  }
  for (unsigned i = 0; i < 40; ++i) memset(reinterpret_cast<char*>(pool) + 24576 + i, int(i), 3 * i);
  for (unsigned i = 0; i < 50; ++i) {
    _mm_stream_si64(reinterpret_cast<long long*>(pool) + 4096 + i, i);
    __atomic_fetch_add(pool + 4200, i, __ATOMIC_SEQ_CST);
    uint64_t expected = i % 2;
    __atomic_compare_exchange_n(pool + 4201, &expected, i, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    pool[4202] += i;
  }
  _mm_sfence();
  uint64_t sum = 0;
  for (unsigned i = 0; i < 8192; ++i) sum = sum * 31 + pool[i];
  printf("sum %llx\n", static_cast<unsigned long long>(sum));
}
