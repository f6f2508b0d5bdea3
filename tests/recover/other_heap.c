// A restart is a new process: a pointer into the old one's heap that was stored in a pool leads nowhere. And a text that
// is printed into PM is written as libc writes it, which a crash may cut anywhere.
//
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o %t.compiled && gcc -O1 -g -Wall -Wextra -Wno-comment -Werror %s -o %t.plain
// RUN: for p in compiled plain; do for m in pointer text; do rm -f %t.pool; \
// RUN:   %blackout check --findings %t.found --pm %t.pool -- %t.$p %t.pool $m > %t.out 2>&1; \
// RUN:   test $? -eq 1 && grep -q ^shown %t.out || { echo $p $m; cat %t.out; exit 1; }; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
  char* note;
  char apart[56];
  char text[64];
};

static void persist(const void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 3;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 4;
  if (strcmp(argv[2], "pointer") == 0) {
    if (p->note != 0) return p->note[0] == 'n' ? 0 : 5;
    p->note = strdup("note");
    persist(&p->note);
    return 0;
  }
  if (p->text[0] != 0) return strcmp(p->text, "ab7") == 0 ? 0 : 6;
  snprintf(p->text, sizeof p->text, "%s%d", argc == 3 ? "ab" : "", argc + 4);
  persist(p->text);
  return 0;
}
