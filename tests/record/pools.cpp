// Everything that can happen to a pool file and its mappings; the recording explains all of it.
//
// RUN: %cxx -O2 %s -o %t
// RUN: rm -rf %t.dir %t.before && mkdir -p %t.dir/sub && head -c 5000 /dev/urandom > %t.dir/old && cp -r %t.dir %t.before
// RUN: %blackout record --pm %t.dir -o %t.trace -- %t %t.dir
// RUN: diff -r %t.dir %t.before && rm -rf %t.before
// RUN: %blackout trace %t.trace | FileCheck %s
// RUN: rm -f %t.one && %blackout record --pm "%t.dir/*" -o %t.trace --keep-pool %t.kept -- %t %t.dir && ls %t.kept | grep new
// CHECK: file-new {{.*}}old
// CHECK: file-new {{.*}}new
// CHECK: file-size {{.*}}
// CHECK: map
// CHECK: file-size
// CHECK: map
// CHECK: unmap
// CHECK: file-rename
// CHECK: file-unlink
#include <errno.h>
#include <stdio.h>

#include <string>

#include "Inputs/pool.h"

static void must(bool ok, const char* what) {
  if (!ok) {
    perror(what);
    exit(7);
  }
}

int main(int, char** argv) {
  std::string dir = argv[1];
  // Written by the file's descriptor, then mapped, grown and moved.
  std::string path = dir + "/new";
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  must(fd >= 0, "open");
  must(access(path.c_str(), F_OK) == 0, "access");
  must(write(fd, "hello", 5) == 5 && pwrite(fd, "world", 5, 100) == 5, "write");
  must(ftruncate(fd, 4096) == 0, "ftruncate");
  auto* p = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  must(p != MAP_FAILED && memcmp(p, "hello", 5) == 0, "mmap");
  p[4095] = 'x';
  must(ftruncate(fd, 16384) == 0, "grow");
  p = static_cast<char*>(mremap(p, 4096, 16384, MREMAP_MAYMOVE));
  must(p != MAP_FAILED && p[4095] == 'x', "mremap");
  p[16383] = 'y';
  // The same file a second time, at an address of the program's choice.
  void* chosen = mmap(nullptr, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* q = static_cast<char*>(mmap(chosen, 16384, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
  must(q == chosen && q[16383] == 'y', "second mapping");
  q[8192] = 'z';
  must(p[8192] == 'z', "shared");
  must(munmap(q, 16384) == 0, "munmap");
  must(munmap(p + 4096, 4096) == 0, "munmap in the middle");
  p[0] = 'H';
  p[8193] = '!';
  must(ftruncate(fd, 9000) == 0 && ftruncate(fd, 16384) == 0 && p[8193] == '!' && p[9001] == 0, "shrink");
  must(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 && p[0] == 0, "punch");
  // Not every file system can.
  p[1] = 'z';
  must(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4096) == 0 ? p[1] == 0 : errno == EOPNOTSUPP, "zero");
  struct stat st;
  must(stat(path.c_str(), &st) == 0 && st.st_size == 16384, "stat");
  close(fd);
  // An old file changed in place; its content from before is known.
  auto* old = static_cast<char*>(mapPool((dir + "/old").c_str(), 5000));
  old[10] = char(old[10] + 1);
  memcpy(old + 2000, old, 700);
  // stdio, rename, unlink.
  FILE* f = fopen((dir + "/text").c_str(), "w");
  must(f != nullptr && fprintf(f, "a line\n") == 7 && fclose(f) == 0, "stdio");
  must(rename((dir + "/text").c_str(), (dir + "/renamed").c_str()) == 0, "rename");
  fd = open((dir + "/gone").c_str(), O_RDWR | O_CREAT, 0600);
  must(write(fd, "gone", 4) == 4 && close(fd) == 0 && unlink((dir + "/gone").c_str()) == 0, "unlink");
  must(access((dir + "/gone").c_str(), F_OK) != 0 && errno == ENOENT, "gone");
  // read() into PM.
  int pipes[2];
  must(pipe(pipes) == 0 && write(pipes[1], "through a pipe", 14) == 14 && read(pipes[0], p + 12288, 14) == 14, "read");
  return 0;
}
