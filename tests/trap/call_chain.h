// A deep chain of calls through every kind of frame that compilers make, built as shared libraries by several
// compilers. At its innermost place it stores to *page and calls bottom through the PLT of its library.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct chain {
  volatile int* page;
  void (*bottom)(struct chain*);
  void* argument;
  int throws;  // a C++ frame on the way catches an exception first
  int sorted;
};

int chain_run(struct chain* c);

// Parts that call each other between the two sources, by the PLT.
int chain_catching(struct chain* c, int depth);
int chain_after_catching(struct chain* c, int depth);
// Without a frame, and with a recursion for measurements.
int chain_recursion(struct chain* c, int depth);

typedef int (*chain_function)(struct chain*);
typedef int (*chain_deep_function)(struct chain*, int);

#ifdef __cplusplus
}
#endif
