/* A pool with the struct POOL, flush and fence, and a main that runs operations and, after a crash, a restart. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef PLAIN
/* Built by any compiler; they are there under Blackout. */
void blackout_op_begin(const char* name, uint64_t argument) __attribute__((weak));
void blackout_op_end(uint64_t result) __attribute__((weak));
int blackout_recovering(void) __attribute__((weak));
#else
#include "blackout/blackout.h"
#endif

#define LINE __attribute__((aligned(64)))

static void flush(const void* p) { __asm__ volatile("clwb %0" : "+m"(*(volatile char*)p)); }
static void fence(void) { __asm__ volatile("sfence" ::: "memory"); }
static void persist(const void* p) {
  flush(p);
  fence();
}
/* The compiler keeps the order of these. */
#define SET(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)

#ifdef OPS
#define OPERATION(name, argument, call) \
  do {                                  \
    blackout_op_begin(name, argument);  \
    call;                               \
    blackout_op_end(0);                 \
  } while (0)
#else
#define OPERATION(name, argument, call) call
#endif

static struct pool* l;
static void operations(void);
static void restart(void);

static void* open_pool(const char* path, size_t size) {
  int fd = open(path, O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) exit(9);
  void* p = mmap((void*)0x280000000000, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return p;
}

#define MAIN                                       \
  int main(int argc, char** argv) {                \
    (void)argc;                                    \
    l = open_pool(argv[1], sizeof(struct pool));   \
    if (blackout_recovering())                     \
      restart();                                   \
    else                                           \
      operations();                                \
    return 0;                                      \
  }
