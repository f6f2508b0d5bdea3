// PM holds a pointer of the process that stored it, XORed with a key: no number that is stored is an address. A restart
// that follows it ends well by luck, because restarts have the recorded addresses; with others it faults, so the result
// is inconclusive and says why. Whoever only keeps such numbers, or sets it anew, is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cxx -O1 -g %s -o compiled && %plain-cxx -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in global local function; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   test $code = 3 || { echo $p $m $code; cat %t.out; exit 1; }; FileCheck %s < %t.out || exit 1; done; done
// CHECK: With other addresses of its code, heap and stacks than the recorded process had, a restart crashes with SIGSEGV
// CHECK-SAME: where it ends well otherwise: it follows a pointer of the earlier process that is kept encoded, perhaps what it reads at {{.*}}encoded_pointer.cpp:[[# @LINE + 34]]
// CHECK: SUMMARY: blackout: {{.*}}inconclusive
// RUN: for p in compiled plain; do for how in anew kept; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool global $how > %t.out 2>&1 || { echo $p $how; cat %t.out; exit 1; }; rm -f pool; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct Pool {
  alignas(64) uint64_t encoded;
  alignas(64) uint64_t isOpen;
};

static const uint64_t kKey = 0x9e3779b97f4a7c15;
static volatile uint64_t sum;
static uint64_t global = 7;
static thread_local uint64_t threadLocal = 7;
static void seven() { sum = sum + 7; }

static void persist(void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

static uint64_t own(const char* what) {
  if (!strcmp(what, "local")) return reinterpret_cast<uint64_t>(&threadLocal);
  if (!strcmp(what, "function")) return reinterpret_cast<uint64_t>(&seven);
  return reinterpret_cast<uint64_t>(&global);
}

__attribute__((noinline)) static void use(Pool* p, const char* what) {
  uint64_t address = p->encoded ^ kKey;
  if (!strcmp(what, "function"))
    reinterpret_cast<void (*)()>(address)();
  else
    sum = sum + *reinterpret_cast<uint64_t*>(address);
  sum = sum + 1;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* p = static_cast<Pool*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  const char* how = argc > 3 ? argv[3] : "";
  uint64_t address = own(argv[2]);
  if (p->isOpen) {
    // The last run did not close it.
    if (!strcmp(how, "kept")) {
      sum = sum + p->encoded;
      return 0;
    }
    if (!strcmp(how, "anew")) {
      p->encoded = address ^ kKey;
      persist(&p->encoded);
    }
    use(p, argv[2]);
    return 0;
  }
  p->encoded = address ^ kKey;
  persist(&p->encoded);
  p->isOpen = 1;
  persist(&p->isOpen);
  use(p, argv[2]);
  p->isOpen = 0;
  persist(&p->isOpen);
  return 0;
}
