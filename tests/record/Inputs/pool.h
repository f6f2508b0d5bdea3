// Maps a pool for the recorder's tests: PATH, created and grown to SIZE bytes if it is smaller.
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int openPool(const char* path, size_t size) {
  int fd = open(path, O_RDWR | O_CREAT, 0644);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0 || ((size_t)st.st_size < size && ftruncate(fd, (off_t)size) != 0)) {
    perror(path);
    exit(9);
  }
  return fd;
}

static inline void* mapPool(const char* path, size_t size) {
  int fd = openPool(path, size);
  void* p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) {
    perror("mmap");
    exit(9);
  }
  return p;
}
