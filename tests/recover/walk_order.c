// What a walk by nftw and ftw calls, and in which order, is what libc would have called; a walk by fts is said not to be
// followed.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/tree/a/b/c %t.dir/tree/d %t.dir/tree/e && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: cd %t.dir && touch tree/1 tree/a/2 tree/a/b/3 tree/d/4 && ln -s ../a tree/d/to-a && ln -s nowhere tree/e/dangling && ln -s ../../1 tree/a/b/to-1 && truncate -s 4096 pool
// RUN: cd %t.dir && ./plain > libc && for p in compiled plain; do %blackout check --pm pool --recover true -- ./$p print ours > out 2>&1; diff libc ours || exit 1; done
// RUN: cd %t.dir && for p in compiled plain; do %blackout check --pm pool -- ./$p fts > out 2>&1; test $? -eq 3 || { cat out; exit 1; }; FileCheck %s < out || exit 1; done
// CHECK: walks folders by fts_open
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char* wanted_name;
static int answer;
static const char* name_of(const char* path) { return strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1; }
static int visit(const char* path, const struct stat* st, int type, struct FTW* where) {
  char folder[4096];
  const char* in = getcwd(folder, sizeof folder) == NULL ? "?" : name_of(folder);
  printf("%s %d %d %d %d %s\n", path, type, where->base, where->level, type == FTW_NS ? 0 : (int)S_ISDIR(st->st_mode),
         strncmp(in, "walk_order", 10) == 0 ? "." : in);
  return wanted_name != NULL && strcmp(name_of(path), wanted_name) == 0 ? answer : 0;
}
static int visit_plainly(const char* path, const struct stat* st, int type) {
  printf("%s %d %d\n", path, type, (int)S_ISDIR(st->st_mode));
  return 0;
}
static void walk(const char* path, int flags) {
  int r = nftw(path, visit, 3, flags);
  printf("= %d\n", r);
}

int main(int argc, char** argv) {
  if (argc > 2 && freopen(argv[2], "w", stdout) == NULL) return 2;
  if (argc < 2 || strcmp(argv[1], "fts") != 0) {
    const int flags[] = {0, FTW_PHYS, FTW_DEPTH, FTW_PHYS | FTW_DEPTH, FTW_CHDIR | FTW_PHYS, FTW_CHDIR | FTW_DEPTH, FTW_MOUNT | FTW_PHYS};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) walk(i % 2 ? "tree/" : "tree", flags[i]);
    walk("nowhere", 0);
    walk("tree/1", FTW_PHYS);
    walk("tree/e/dangling", 0);
    walk("tree/d/..", FTW_PHYS | FTW_ACTIONRETVAL | FTW_CHDIR);
    wanted_name = "a";
    for (answer = 1; answer <= 3; ++answer) walk("tree", FTW_PHYS | FTW_ACTIONRETVAL);
    answer = 7;
    walk("tree", FTW_PHYS);
    printf("= %d\n", ftw("tree/a", visit_plainly, 1));
    printf("= %d\n", ftw("tree/1", visit_plainly, 1));
    fflush(stdout);
    if (argc < 2) return 0;
  } else {
    char* paths[] = {"tree", NULL};
    FTS* walked = fts_open(paths, FTS_PHYSICAL, NULL);
    while (fts_read(walked) != NULL) {
    }
    fts_close(walked);
  }
  int file = open("pool", O_RDWR);
  volatile int* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  p[0] += 1;
  _mm_clflush((void*)p);
  _mm_sfence();
  return 0;
}
