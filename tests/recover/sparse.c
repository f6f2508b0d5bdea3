// A pool of 24 GB that is nearly all holes, larger than the memory of most machines: recorded and restarted without reserving or
// copying it. The restart maps it, or writes it by its descriptor too, for which it gets a file of its own.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o compiled
// RUN: gcc -O1 -g -Wall -Wextra -Wno-comment -Werror %s -o plain
// RUN: for how in read write-and-read; do for by in ./compiled ./plain; do \
// RUN:   rm -f pool && truncate -s 24G pool; \
// RUN:   %blackout check --pm pool --recover "$by pool $how" -- $by pool record > out 2>&1; \
// RUN:   test $? -eq 1 && grep -q 'shown: flush missing' out || { echo "$by $how"; cat out; exit 1; }; \
// RUN:   rm -f pool; \
// RUN:   %blackout check --pm pool --recover "$by pool $how" -- $by pool record-right > out 2>&1; \
// RUN:   test $? -eq 0 || { echo "$by $how, right"; cat out; exit 1; }; done; done
//
// A restart that can't map the pool proves nothing, however well it ends.
// RUN: for by in ./compiled ./plain; do %blackout check --pm pool --recover "$by pool limited" -- $by pool record-right > out 2>&1; \
// RUN:   test $? -eq 3 && grep -q -E "inconclusive: .*(it can't map a pool here: no memory|Cannot allocate memory)" out || { cat out; exit 1; }; done
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct record {
  long valid;
  char apart[56];
  char text[64];
};
static const size_t kSize = (size_t)24 << 30;

static void persist(const void* at) {
  _mm_clflush(at);
  _mm_sfence();
}

int main(int argc, char** argv) {
  if (argc < 3) return 9;
  int records = strncmp(argv[2], "record", 6) == 0;
  int fd = open(argv[1], O_RDWR | (records ? O_CREAT : 0), 0600);
  if (fd < 0) return 0;  // not made yet
  struct stat st;
  if (fstat(fd, &st) != 0) return 9;
  if (st.st_size == 0 && !records) return 0;
  if (st.st_size == 0 && ftruncate(fd, (off_t)kSize) != 0) return 9;
  if (strcmp(argv[2], "limited") == 0) {
    struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &limit);
  }
  char* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return strcmp(argv[2], "limited") == 0 ? 0 : 8;
  struct record* first = (struct record*)p;
  struct record* last = (struct record*)(p + kSize - 4096);
  if (records) {
    strcpy(last->text, "hello");
    if (strcmp(argv[2], "record") != 0) persist(last->text);
    first->valid = 1;
    persist(first);
    return 0;
  }
  if (strcmp(argv[2], "write-and-read") == 0 && pwrite(fd, "x", 1, 8192) != 1) return 7;
  return first->valid && strcmp(last->text, "hello") != 0;
}
