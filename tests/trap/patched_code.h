/* Code with every kind of instruction that is patched, in different lengths and neighbourhoods. Each function is listed
 * with what the patcher should make of it. All are called with rdi and r8 at a page of memory each, with rsi, rbx and
 * rcx small, and everything else random; none changes rdi, r8, rbp or rbx, and none has pushed anything at a patch. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NEEDS_CLWB = 1,
  NEEDS_CLFLUSHOPT = 2,
  VARIES = 4 /* how many of its patches a call executes */
};

struct patched_function {
  const char* name;
  void (*code)(void);
  void (*end)(void);
  int jumps;
  int breakpoints;
  int flags;
};

extern const struct patched_function patched_functions[];
extern const int patched_function_count;
/* Look-alikes outside of any function, and in functions that can't be proved. */
extern const int patched_unproved;

/* What the functions address by themselves. */
extern uint64_t patched_data[16];

/* Valgrind's client requests, as its macros make them. */
uint64_t patched_request(uint64_t unanswered, uint64_t a, uint64_t b);

/* Additions to the counter: by xadd, inc, a compare-and-swap loop, and under a lock of xchg. */
void patched_hammer(uint64_t counters[4], int times);

/* `times` lock xadd. */
void patched_xadd_loop(uint64_t* counter, uint64_t times);
void patched_xchg_loop(uint64_t* counter, uint64_t times);

#ifdef __cplusplus
}
#endif
