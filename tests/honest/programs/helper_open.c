#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Maps the file by whatever functions of libc it is bound to.
char* helper_open(const char* path, unsigned long size) {
  int file = open(path, O_RDWR);
  void* at = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  return at == MAP_FAILED ? NULL : at;
}
