// What a restart does with its pools besides mapping them: each way must see what the crash left, see its own
// writes, and leave the image of the next restart alone. `mode` is done by the restart only, and checked by itself.
// RUN: %cxx -O1 -g -I%include %s -o %t && rm -f %t.img*
// RUN: for m in map write alias fork grow move shrink rename unlink system stdio private advice send position \
// RUN:     registered; do \
// RUN:   %blackout check --fail-on=perf --detect=none --pm %t.img --pm %t.img.new -- %t %t.img $m > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; done
// RUN: test ! -e %t.img && test ! -e %t.img.new
// Each is explored completely, and every restart came through its mode.
// RUN: %blackout check --fail-on=perf --detect=none --pm %t.img -- %t %t.img map 2>&1 | FileCheck %s
// CHECK: crashes at: {{ *}}[[# POINTS:]] points
// CHECK: SUMMARY: blackout: no findings; {{.*}}[[# POINTS]] points explored
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition) blackout_expect((condition) ? 1 : 0, #condition)
constexpr size_t kSize = 8192;
alignas(4096) static uint64_t registered[512];

static volatile uint64_t* map(int fd, int flags = MAP_SHARED) {
  return static_cast<volatile uint64_t*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, fd, 0));
}
static void set(volatile uint64_t* p, uint64_t v) {
  *p = v;
  _mm_clflush(const_cast<uint64_t*>(p));
  _mm_sfence();
}

static void record(const char* path, bool registers) {
  if (registers) blackout_pm_register(registered, sizeof registered, "table");
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, kSize) != 0) exit(9);
  volatile uint64_t* p = map(fd);
  for (unsigned i = 0; i < 3; ++i) {
    if (registers) set(&registered[i * 8], i + 1);
    set(&p[i * 8], i + 1);
  }
}

int main(int, char** argv) {
  const char* path = argv[1];
  auto is = [&](const char* mode) { return strcmp(argv[2], mode) == 0; };
  if (!blackout_recovering()) {
    record(path, is("registered"));
    return 0;
  }
  if (is("registered")) {
    blackout_pm_register(registered, sizeof registered, "table");
    // What is in the pool was in the table before.
    uint64_t first = registered[0], third = registered[16];
    EXPECT(first <= 1 && (third == 0 || first == 1));
  }
  struct stat st;
  if (stat(path, &st) != 0 || st.st_size == 0) return 0;  // the crash came before the pool
  EXPECT(st.st_size == kSize);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  EXPECT((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
  // It goes by the name that the program knows.
  char canonical[PATH_MAX];
  EXPECT(realpath(path, canonical) == canonical && strcmp(canonical, path) == 0);
  volatile uint64_t* p = map(fd);
  uint64_t first = p[0], second = p[8], third = p[16];
  EXPECT(first <= 1 && (second == 0 || first == 1) && (third == 0 || second == 2));
  if (is("registered")) EXPECT(third == 0 || registered[16] == 3);
  EXPECT(p[24] == 0);  // no restart before this one has left anything
  p[24] = 77;
  uint64_t word = 0;
  EXPECT(pread(fd, &word, 8, 192) == 8 && word == 77);
  EXPECT(pread(fd, &word, 8, 128) == 8 && word == third);
  char other[4096];
  snprintf(other, sizeof other, "%s.new", path);

  if (is("write")) {
    word = 5;
    EXPECT(pwrite(fd, &word, 8, 200) == 8 && p[25] == 5 && p[24] == 77 && p[16] == third);
    EXPECT(lseek(fd, 208, SEEK_SET) == 208 && write(fd, &word, 8) == 8 && p[26] == 5);
  } else if (is("alias")) {
    volatile uint64_t* q = map(fd);
    q[25] = 9;
    EXPECT(p[25] == 9 && q[24] == 77 && q[16] == third);
  } else if (is("private")) {
    volatile uint64_t* q = map(fd, MAP_PRIVATE);
    EXPECT(q[16] == third);
    q[25] = 9;
    EXPECT(p[25] == 0);
  } else if (is("fork")) {
    pid_t child = fork();
    if (child == 0) {
      p[25] = p[24] + 1;
      _exit(0);
    }
    EXPECT(waitpid(child, nullptr, 0) == child && p[25] == 78);
  } else if (is("grow")) {
    EXPECT(ftruncate(fd, 2 * kSize) == 0);
    auto* q = static_cast<volatile uint64_t*>(mremap(const_cast<uint64_t*>(p), kSize, 2 * kSize, MREMAP_MAYMOVE));
    q[kSize / 8] = 1;
    EXPECT(q[24] == 77 && q[16] == third && fstat(fd, &st) == 0 && st.st_size == 2 * kSize);
  } else if (is("move")) {
    void* to = mmap(nullptr, 2 * kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* q = static_cast<volatile uint64_t*>(
        mremap(const_cast<uint64_t*>(p), kSize, kSize, MREMAP_MAYMOVE | MREMAP_FIXED, to));
    EXPECT(q == to && q[24] == 77 && q[16] == third);
    q[25] = 9;
    EXPECT(pread(fd, &word, 8, 200) == 8 && word == 9);
    volatile uint64_t* again = map(fd);
    again[26] = 10;
    EXPECT(again[25] == 9 && q[26] == 10);
  } else if (is("shrink")) {
    EXPECT(ftruncate(fd, 4096) == 0 && ftruncate(fd, kSize) == 0 && p[24] == 77 && p[600] == 0);
  } else if (is("rename")) {
    EXPECT(rename(path, other) == 0 && access(path, F_OK) != 0 && access(other, F_OK) == 0);
    EXPECT(realpath(path, canonical) == nullptr && errno == ENOENT);
    EXPECT(realpath(other, canonical) == canonical && strcmp(canonical, other) == 0);
    EXPECT(p[24] == 77);
    int again = open(other, O_RDONLY);
    EXPECT(pread(again, &word, 8, 192) == 8 && word == 77);
  } else if (is("unlink")) {
    EXPECT(unlink(path) == 0 && access(path, F_OK) != 0 && p[24] == 77);
  } else if (is("system")) {
    char command[9000];
    snprintf(command, sizeof command, "%s %s child", argv[0], path);
    EXPECT(system(command) == 7 << 8);
    EXPECT(p[25] == 88);
  } else if (is("child")) {
    exit(9);  // p[24] was 77 already: not reached
  } else if (is("stdio")) {
    FILE* f = fopen(path, "r+");
    EXPECT(f != nullptr && fseek(f, 192, SEEK_SET) == 0 && fread(&word, 8, 1, f) == 1 && word == 77);
    word = 6;
    EXPECT(fseek(f, 200, SEEK_SET) == 0 && fwrite(&word, 8, 1, f) == 1 && fclose(f) == 0 && p[25] == 6);
  } else if (is("advice")) {
    EXPECT(madvise(const_cast<uint64_t*>(p), kSize, MADV_DONTNEED) == 0 && p[24] == 77 && p[16] == third);
  } else if (is("position")) {
    // The pools become this restart's own; where it stood in them is as before.
    EXPECT(lseek(fd, 128, SEEK_SET) == 128 && ftruncate(fd, 2 * kSize) == 0);
    EXPECT(read(fd, &word, 8) == 8 && word == third && lseek(fd, 0, SEEK_CUR) == 136);
  } else if (is("send")) {
    int out = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    off_t from = 128;
    EXPECT(sendfile(out, fd, &from, 128) == 128);
    EXPECT(pread(out, &word, 8, 64) == 8 && word == 77 && pread(out, &word, 8, 0) == 8 && word == third);
  }
}

// The program that `system` runs is this one again: it belongs to the same restart.
__attribute__((constructor(200))) static void child(int argc, char** argv) {
  if (argc != 3 || strcmp(argv[2], "child") != 0) return;
  int fd = open(argv[1], O_RDWR);
  volatile uint64_t* p = map(fd);
  if (p[24] != 77) _exit(1);
  p[25] = 88;
  _exit(7);
}
