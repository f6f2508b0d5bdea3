// Flush and fence, as programs write them.
#ifndef PERSIST_H
#define PERSIST_H
#include <stddef.h>
#include <stdint.h>
static inline void persist(const void* address, size_t size) {
  uintptr_t end = (uintptr_t)address + size;
  for (uintptr_t line = (uintptr_t)address & ~(uintptr_t)63; line < end; line += 64)
    __asm__ volatile("clwb %0" : "+m"(*(volatile char*)line));
  __asm__ volatile("sfence" ::: "memory");
}
#endif
