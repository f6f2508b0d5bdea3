/* For stages_test.cpp: POOL regions|none. The recorded run stores one word per line; a restart reads one line after the
 * other, and what it says of itself in between decides the flags of each read. */
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PRE BLACKOUT_STAGE_PRE
#define POST BLACKOUT_STAGE_POST
#define BOTH BLACKOUT_STAGE_BOTH
#define LINES 13

static volatile uint64_t* pool;
static uint64_t sum;
static void reads(int line) { sum += pool[8 * line]; }

static void* trusts(void* unused) {
  blackout_skip_detection_begin(1, POST); /* this thread alone, up to its end */
  reads(8);
  return unused;
}

static void handler(void) { puts("handler"); }

static void regions(void) {
  reads(0); /* nothing said yet */
  blackout_skip_detection_begin(0, POST);
  blackout_skip_detection_begin(1, PRE);
  reads(1); /* nothing said of this run */
  blackout_skip_detection_begin(1, POST);
  blackout_skip_detection_begin(1, BOTH);
  blackout_skip_detection_end(1, POST);
  reads(2); /* skipped: they nest */
  blackout_skip_detection_end(0, POST);
  blackout_skip_detection_end(1, PRE);
  reads(3); /* skipped still */
  blackout_skip_detection_end(1, BOTH);
  reads(4); /* not any more */
  blackout_roi_begin_if(0, POST);
  blackout_roi_begin_if(1, PRE);
  blackout_roi_end_if(1, POST); /* one too many */
  reads(5);                     /* no region yet */
  blackout_roi_begin_if(1, BOTH);
  blackout_roi_end_if(0, POST);
  blackout_roi_end_if(1, PRE);
  reads(6); /* inside */
  blackout_skip_detection_begin(1, POST);
  reads(7); /* inside, skipped */
  blackout_skip_detection_end(1, POST);
  pthread_t thread;
  if (pthread_create(&thread, NULL, trusts, NULL) != 0) exit(9);
  pthread_join(thread, NULL);
  reads(9); /* inside: what another thread trusts is its own matter */
  blackout_roi_end_if(1, POST);
  reads(10); /* outside */
  blackout_roi_begin_if(1, POST);
  reads(11); /* inside again */
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 9;
  pool = (volatile uint64_t*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!blackout_recovering()) {
    for (int i = 0; i < LINES; ++i) {
      pool[8 * i] = 1;
      _mm_clflush((const void*)(pool + 8 * i));
    }
    blackout_complete(1, POST); /* not of this run: the next store is recorded */
    pool[1] = 2;
    _mm_clflush((const void*)(pool + 1));
    return 0;
  }
  atexit(handler);
  if (argc > 2 && strcmp(argv[2], "regions") == 0)
    regions();
  else
    for (int i = 0; i < LINES - 1; ++i) reads(i);
  printf("recovered"); /* in the buffer of stdio */
  blackout_complete(0, POST);
  blackout_complete(1, PRE);
  blackout_complete(1, POST);
  reads(12);
  return 7;
}
