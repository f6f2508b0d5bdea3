// Folders that libc lists from inside (scandir, glob, nftw, ftw) are those that the restart sees: without what the recording made.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/pm && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: cd %t.dir && for p in compiled plain; do rm -rf pm new-*; mkdir pm; %blackout check --pm pm/ -- ./$p > out 2>&1; test $? -eq 3 || { cat out; exit 1; }; \
// RUN:   FileCheck %s < out || exit 1; done
// CHECK-NOT: {{shown|suspected}}:
// CHECK: inconclusive: No restart read any of the 4 bytes
// CHECK-NOT: inconclusive: {{[^N]}}
// CHECK: SUMMARY: blackout: inconclusive, nothing found
#define _GNU_SOURCE
#include <dirent.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_new(const struct dirent* entry) { return fnmatch("new-*", entry->d_name, 0) == 0; }

static int by_readdir(const char* path) {
  int count = 0;
  DIR* folder = opendir(path);
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) count += is_new(entry);
  closedir(folder);
  return count;
}
static int by_scandir(const char* path) {
  struct dirent** list = NULL;
  int count = scandir(path, &list, is_new, alphasort);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && strcmp(list[i - 1]->d_name, list[i]->d_name) >= 0) exit(4);
    free(list[i]);
  }
  free(list);
  return count;
}
static int by_glob(const char* pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) return 0;
  int count = (int)found.gl_pathc;
  globfree(&found);
  return count;
}
static int found;
static int visit(const char* path, const struct stat* st, int type, struct FTW* where) {
  found += type == FTW_F && where->level == 1 && st->st_size >= 0 && fnmatch("new-*", path + where->base, 0) == 0;
  return 0;
}
static int by_nftw(const char* path) {
  found = 0;
  return nftw(path, visit, 4, FTW_PHYS) != 0 ? -1 : found;
}
static int visit_plainly(const char* path, const struct stat* st, int type) {
  (void)st;
  const char* slash = strrchr(path, '/');
  found += type == FTW_F && slash == strchr(path, '/') && fnmatch("new-*", slash + 1, 0) == 0;
  return 0;
}
static int by_ftw(const char* path) {
  found = 0;
  return ftw(path, visit_plainly, 4) != 0 ? -1 : found;
}

int main(void) {
  // What is there is what a restart is to see, in the folder and among the pools.
  if (by_readdir(".") != 0 || by_scandir(".") != 0 || by_glob("new-*") != 0 || by_nftw(".") != 0 || by_ftw(".") != 0) return 3;
  if (by_readdir("pm") != by_scandir("pm") || by_readdir("pm") != by_glob("pm/new-*")) return 5;
  if (by_readdir("pm") != by_nftw("pm") || by_readdir("pm") != by_ftw("pm")) return 9;
  int file = open("pm/new-pool", O_RDWR | O_CREAT, 0600);
  if (ftruncate(file, 4096) != 0) return 6;
  if (by_readdir("pm") != 1 || by_scandir("pm") != 1 || by_glob("pm/new-*") != 1 || by_nftw("pm") != 1 || by_ftw("pm") != 1) return 7;
  // A pool for a moment, under a name that libc makes up.
  char made[] = "pm/made-XXXXXX.tmp";
  close(mkstemps(made, 4));
  if (access(made, F_OK) != 0 || unlink(made) != 0) return 10;
  for (int i = 0; i < 3; ++i) {
    char name[16];
    snprintf(name, sizeof name, "new-%d", i);
    close(open(name, O_WRONLY | O_CREAT, 0600));
  }
  if (by_readdir(".") != 3 || by_scandir(".") != 3 || by_glob("new-*") != 3 || by_nftw(".") != 3 || by_ftw(".") != 3) return 8;
  volatile int* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  p[0] = 1;
  _mm_clflush((void*)p);
  _mm_sfence();
  return 0;
}
