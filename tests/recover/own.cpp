// What a restart has written is its own: to read it again asks nothing of the crash, and no state is explored for it. Each
// mode overwrites in its own way what a crash leaves uncertain, and reads it then: one restart stands for all crashes.
// RUN: %cxx -O1 -g -I%include %s -o %t && head -c 8192 /dev/zero > %t.img
// RUN: for m in nothing store memset strncpy read readv pwrite made; do \
// RUN:   %blackout check --fail-on=perf --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1; test $? -eq 3 && grep -q "No restart read any" %t.out && grep -q "restarts: *1 of" %t.out || { echo $m; cat %t.out; exit 1; }; done
// Without it there are more, and what was overwritten in part is uncertain in the rest.
// RUN: for m in look part; do \
// RUN:   %blackout check --fail-on=perf --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1 && grep -q "restarts: *4 of" %t.out || { echo $m; cat %t.out; exit 1; }; done
// After a second crash, too, a pool that the restart makes is its own: the number that it has there is the one that the
// restart before had given to a pool which it made, wrote and removed.
// RUN: %blackout check --fail-on=perf --detect=none --failures 2 --pm %t.img -- %t %t.img again > %t.out 2>&1; test $? -eq 0 || grep -q "inconclusive: No restart read any" %t.out
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

constexpr size_t kSize = 8192;
constexpr int kWords = 3;  // a line each

static volatile uint64_t* map(int fd) {
  return static_cast<volatile uint64_t*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
}

static volatile uint64_t* makePool(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || ftruncate(fd, kSize) != 0) exit(4);
  return map(fd);
}

static void fill(volatile uint64_t* p) {
  for (int i = 0; i < kWords; ++i) {
    p[8 * i] = 0x0101010101010101 * (i + 1);
    _mm_clflush(const_cast<uint64_t*>(&p[8 * i]));
  }
}

static int makeTwice(const char* path) {
  for (int made = 0; made < 2; ++made) {
    unlink(path);
    volatile uint64_t* p = makePool(path);
    for (int i = 0; i < kWords; ++i)
      if (p[8 * i] != 0) return 6;
    fill(p);
  }
  return 0;
}

int main(int, char** argv) {
  auto is = [&](const char* mode) { return strcmp(argv[2], mode) == 0; };
  if (blackout_recovering() && is("again")) return makeTwice(argv[1]);
  int fd = open(argv[1], O_RDWR);
  volatile uint64_t* p = map(fd);
  if (!blackout_recovering()) {
    fill(p);
    return 0;
  }
  char* bytes = const_cast<char*>(reinterpret_cast<volatile char*>(p));
  if (is("nothing")) return 0;
  if (is("store"))
    for (int i = 0; i < kWords; ++i) p[8 * i] = 9;
  if (is("part"))
    for (int i = 0; i < kWords; ++i) *reinterpret_cast<volatile uint32_t*>(&p[8 * i]) = 9;
  if (is("memset")) memset(bytes, 9, 64 * kWords);
  if (is("strncpy")) strncpy(bytes, "9", 64 * kWords);
  if (is("read") && read(open("/dev/zero", O_RDONLY), bytes, 64 * kWords) != 64 * kWords) return 1;
  if (is("readv")) {
    iovec parts[] = {{bytes, 70}, {bytes + 70, 64 * kWords - 70}};
    if (readv(open("/dev/zero", O_RDONLY), parts, 2) != 64 * kWords) return 2;
  }
  if (is("pwrite")) {
    char zeros[64 * kWords] = {};
    if (pwrite(fd, zeros, sizeof zeros, 0) != sizeof zeros) return 7;
  }
  if (is("made")) {
    if (unlink(argv[1]) != 0) return 3;
    p = makePool(argv[1]);
  }
  uint64_t sum = 0;
  for (int i = 0; i < kWords; ++i) sum += p[8 * i];
  return sum == 1 ? 5 : 0;
}
