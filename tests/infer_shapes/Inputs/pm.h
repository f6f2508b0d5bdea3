/* Persistent memory for the tests: what is given to persist() is persistent. */
#ifndef PM_H
#define PM_H
#include <stddef.h>
#include <stdint.h>
static inline void persist(const void* p) {
  __asm__ volatile("clwb %0" : "+m"(*(volatile char*)(uintptr_t)p));
  __asm__ volatile("sfence" ::: "memory");
}
#endif
