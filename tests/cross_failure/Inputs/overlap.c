/* Marked operations of two threads that overlap. By KIND: 1 each moves money between two accounts of its own, and neither
 * does it at once; 2 one thread's operation is under way while another begins and ends, which is never flushed; 3 as 2,
 * but it is. The restart prints what is there. */
#include <pthread.h>

#include "pool.h"

struct pool {
  struct {
    uint64_t value LINE;
  } accounts[4];
};

static pthread_barrier_t both;

#if KIND == 1
static void move(uint64_t from) {
  l->accounts[from].value -= 10;
  persist(&l->accounts[from]);
  l->accounts[from + 1].value += 10;
  persist(&l->accounts[from + 1]);
}
static void* worker(void* from) {
  pthread_barrier_wait(&both);
  for (int i = 0; i < 3; ++i) OPERATION("move", (uint64_t)from, move((uint64_t)from));
  return NULL;
}
#else
static void quick(void) {
  pthread_barrier_wait(&both); /* the other has begun */
  blackout_op_begin("quick", 0);
  l->accounts[0].value = 1;
#if KIND == 3
  persist(&l->accounts[0]);
#endif
  blackout_op_end(0);
  pthread_barrier_wait(&both);
}
static void slow(void) {
  blackout_op_begin("slow", 0);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both); /* the other has ended */
  l->accounts[2].value = 1;
  persist(&l->accounts[2]);
  blackout_op_end(0);
}
static void* worker(void* which) {
  which ? slow() : quick();
  return NULL;
}
#endif

static void operations(void) {
#if KIND == 1
  for (int i = 0; i < 4; ++i) l->accounts[i].value = 100, persist(&l->accounts[i]);
#endif
  pthread_barrier_init(&both, NULL, 2);
  pthread_t threads[2];
  for (uint64_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, worker, (void*)(2 * i));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void restart(void) {
#if KIND == 1
  uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += l->accounts[i].value;
  printf("sum %lu\n", (unsigned long)sum);
#else
  for (int i = 0; i < 4; ++i) printf("account %lu\n", (unsigned long)l->accounts[i].value);
#endif
}
MAIN
