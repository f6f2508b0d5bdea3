// 'blackout check' of a program that marks its operations with arguments and results, and whose restarts record theirs:
// one thread's put is never flushed while an operation of another thread is open. Nobody said what the operations are,
// but their names leave no doubt.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cc -O1 -g -Wall -Wextra -Werror -I%include %s -o program
// RUN: %blackout check --pm pool -- ./program pool right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings;
// RUN: not %blackout check --pm pool -- ./program pool lost 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: shown: lost after it was acknowledged [not-linearizable, missing-flush]
// LOST: {{^}}  put(1, 10) {{ *}}acknowledged
// LOST-NEXT: {{^}}  crash
// LOST-NEXT: {{^}}  get(1) -> 0 {{ *}}no order of the operations explains this answer: 10 was promised, and nobody wrote 0 there (durable linearizability of a map)
//
// The same program says what it is: a get that finds nothing must not have a result then.
// RUN: %blackout check --pm pool -- ./program pool right named > out.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=NAMED < out.txt
// NAMED: What restarts answer was not judged: {{.*}}
#include <blackout/blackout.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
  uint64_t value __attribute__((aligned(64)));
}* cells;
static sem_t begun, done;
static int lost;

static void flush(const void* p) { __asm__ volatile("clwb %0" : "+m"(*(volatile char*)p)); }
static void fence(void) { __asm__ volatile("sfence" ::: "memory"); }

static void put(uint64_t key, uint64_t value, int durable, int waits) {
  blackout_value arguments[] = {blackout_uint(key), blackout_uint(value)};
  blackout_op_begin_values("put", arguments, 2);
  if (waits) {
    sem_post(&begun);
    sem_wait(&done);
  }
  __atomic_store_n(&cells[key].value, value, __ATOMIC_RELEASE);
  if (durable) {
    flush(&cells[key]);
    fence();
  }
  blackout_op_end_values(arguments, 0);
}

static void get(uint64_t key) {
  blackout_value argument = blackout_uint(key);
  blackout_op_begin_values("get", &argument, 1);
  blackout_op_end(cells[key].value);
}

static void* other(void* unused) {
  put(2, 20, 1, 1);
  return unused;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (argc < 3 || ftruncate(fd, 4096) != 0) return 9;
  cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  lost = strcmp(argv[2], "lost") == 0;
  if (!blackout_recovering()) {
    pthread_t thread;
    if (argc > 3) blackout_specification("map");
    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    if (pthread_create(&thread, NULL, other, NULL) != 0) return 9;
    sem_wait(&begun);
    put(1, 10, !lost, 0);
    sem_post(&done);
    pthread_join(thread, NULL);
    return 0;
  }
  blackout_history_begin();
  for (uint64_t key = 1; key <= 3; ++key) get(key);
  return 0;
}
