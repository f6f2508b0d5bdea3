// A program that keeps a journal in a file beside its pool, as SQLite does: it is right, but only the pool is named by
// --pm, so that restarts see the journal as it was before the recording. What fails then is no bug that was shown, and
// the sentence names the file. With the journal named as well the check says what is true of the program.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool -- ./$p pool journal right > %t.out 2>&1; code=$?; rm -f pool journal; \
// RUN:   { test $code = 3 && grep -q 'inconclusive, nothing found' %t.out && \
// RUN:     grep -q 'could not be judged: it aborts.*has read .*/journal, which the recorded run wrote, as it was before the recording; name that file with --pm too' %t.out; } || \
// RUN:   { echo $p $code; cat %t.out; exit 1; }; done
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool --pm journal -- ./$p pool journal right > %t.out 2>&1 || { cat %t.out; exit 1; }; rm -f pool journal; done
// Without the flush of the journal it is a bug, and shown.
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool --pm journal -- ./$p pool journal wrong > %t.out 2>&1; code=$?; rm -f pool journal; \
// RUN:   { test $code = 1 && grep -q '1 shown' %t.out; } || { echo $p $code; cat %t.out; exit 1; }; done
// A file that a restart only adds to decides nothing: what fails beside it is shown.
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool -- ./$p pool journal log > %t.out 2>&1; code=$?; rm -f pool journal; \
// RUN:   { test $code = 1 && grep -q '1 shown' %t.out; } || { echo $p $code; cat %t.out; exit 1; }; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void* map(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) exit(9);
  void* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return p;
}
static void keep(volatile uint64_t* p) {
  _mm_clflush((void*)p);
  _mm_sfence();
}

int main(int argc, char** argv) {
  volatile uint64_t* p = map(argv[1]);
  if (strcmp(argv[3], "log") == 0) {
    int log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(log, "began\n", 6) != 6) return 9;
  } else if (access(argv[2], F_OK) == 0) {
    // The two were being changed together: as they were before.
    volatile uint64_t* journal = map(argv[2]);
    if (journal[8] == 1) {
      p[0] = journal[0];
      p[8] = journal[0];
      keep(p);
      keep(p + 8);
    }
    unlink(argv[2]);
  }
  if (p[16] == 1 && (p[0] != p[8] || p[0] == 0)) abort();
  if (p[16] == 0) {
    p[0] = p[8] = 7;
    keep(p);
    keep(p + 8);
    p[16] = 1;
    keep(p + 16);
  }
  if (strcmp(argv[3], "log") != 0) {
    volatile uint64_t* journal = map(argv[2]);
    journal[0] = p[0];
    if (strcmp(argv[3], "wrong") != 0) keep(journal);
    journal[8] = 1;
    keep(journal + 8);
  }
  p[0] = p[0] + 1;
  keep(p);
  p[8] = p[8] + 1;
  keep(p + 8);
  unlink(argv[2]);
  return 0;
}
