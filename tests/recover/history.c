// A restart records operations of its own: what they return is part of how it ended, so that a wrong answer is found in a
// restart that prints nothing and ends well.
//
// RUN: %cc -O1 -g -Wall -Wextra -Werror -I%include %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// Without a word, its operations say nothing.
// RUN: %blackout check --pm %t.img -- %t %t.img silent 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT: SUMMARY: blackout: no findings;
//
// RUN: not %blackout check --pm %t.img --json one.json -- %t %t.img history 2>&1 | FileCheck %s --check-prefix=TORN
// TORN: shown: update not atomic [not-atomic] (cross-failure race)
// TORN: answers neither as before the operation nor as after it
// TORN: evidence: This restart prints nothing and answers get("both") = 1 0, count() = 2; if the power fails before "set" it prints nothing and answers get("both") = 0 0, count() = 2, if it fails after "set" it prints nothing and answers get("both") = 1 1, count() = 2.
// RUN: not %blackout replay blackout-findings/finding-1.blackout 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY: The restart ends well and answers the same again
//
// Bytes that only the call itself reads are read by the restart.
// RUN: not %blackout check --findings bytes --fail-on suspected --pm %t.img -- %t %t.img bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: answers get() = [01 00 00 00 00 00 00 00] [00 00 00 00 00 00 00 00], count() = 2;
//
// With another number of jobs the same.
// RUN: not %blackout check --jobs 1 --pm %t.img --json two.json -- %t %t.img history > /dev/null 2>&1
// RUN: diff one.json two.json
//
// What is the same before and after is no finding, whatever the history says besides.
// RUN: %blackout check --pm %t.img -- %t %t.img equal 2>&1 | FileCheck %s --check-prefix=SILENT
//
// Threads and operations that don't end are told apart, and always alike.
// RUN: %blackout check --pm %t.img -- %t %t.img threads 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS-NOT: not deterministic
// THREADS: SUMMARY: blackout: no findings;
//
// More than there is room for is not judged, and said.
// RUN: %blackout check --pm %t.img -- %t %t.img endless > %t.out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=ENDLESS < %t.out
// ENDLESS: a restart recorded more than 1 MiB of operations after blackout_history_begin: mark fewer, or pass less
#include <blackout/blackout.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
  uint64_t first __attribute__((aligned(64)));
  uint64_t second __attribute__((aligned(64)));
};
static struct pool* l;

static void flush(const void* p) { __asm__ volatile("clwb %0" : "+m"(*(volatile char*)p)); }
static void fence(void) { __asm__ volatile("sfence" ::: "memory"); }

static void set(uint64_t v) {
  blackout_op_begin("set", v);
  l->first = v;
  l->second = v;
  flush(&l->first);
  flush(&l->second);
  fence();
  blackout_op_end(0);
}

static void get(int equal) {
  blackout_value key = blackout_text("both");
  blackout_op_begin_values("get", &key, 1);
  uint64_t first = l->first;
  uint64_t second = l->second;
  blackout_value both[] = {blackout_uint(first), blackout_int((int64_t)second)};
  blackout_op_end_values(both, equal ? 0 : 2);
}

static void* ask(void* unused) {
  get(1);
  return unused;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (argc < 3 || ftruncate(fd, 4096) != 0) return 9;
  l = (struct pool*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const char* mode = argv[2];
  if (strcmp(mode, "silent") != 0) blackout_history_begin();  // in the recorded run it does nothing
  if (!blackout_recovering()) {
    set(1);
    return 0;
  }
  if (strcmp(mode, "threads") == 0) {
    blackout_op_begin("outer", 1);  // ends never
    for (int i = 0; i < 3; ++i) {
      pthread_t t;
      if (pthread_create(&t, NULL, ask, NULL) != 0) return 9;
      pthread_join(t, NULL);
    }
    return 0;
  }
  blackout_op_end(5);  // of nothing
  if (strcmp(mode, "bytes") == 0) {
    blackout_value both[] = {blackout_bytes(&l->first, 8), blackout_bytes(&l->second, 8)};
    blackout_op_begin_values("get", NULL, 0);
    blackout_op_end_values(both, 2);
  } else {
    get(strcmp(mode, "equal") == 0);
  }
  while (strcmp(mode, "endless") == 0) get(0);
  blackout_op_begin_values("count", NULL, 0);
  blackout_op_end(2);
  return 0;
}
