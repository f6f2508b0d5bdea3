// System calls that are handed PM: what the kernel writes there is in the trace, at the call; what it reads is right.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "Inputs/pool.h"

#define MUST(condition)                                          \
  if (!(condition)) {                                            \
    fprintf(stderr, "line %d: %s\n", __LINE__, strerror(errno)); \
    exit(4);                                                     \
  }

static char* pool;

static void* wake(void* word) {
  usleep(20000);
  *(volatile uint32_t*)word = 2;
  MUST(syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
  return NULL;
}

int main(int argc, char** argv) {
  pool = (char*)mapPool(argv[1], 1 << 20);
  MUST(argc == 3 && chdir(argv[2]) == 0);
  int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0644);
  MUST(write(fd, "abcdefghijklmnop", 16) == 16 && lseek(fd, 0, SEEK_SET) == 0);

  // CHECK: store 1:0x40 4 bytes = 0x64636261 read
  MUST(read(fd, pool + 0x40, 4) == 4);
  // CHECK-NEXT: store 1:0x80 8 bytes = 0x706f6e6d6c6b6a69 pread
  MUST(pread(fd, pool + 0x80, 100, 8) == 8);
  // Of one buffer PM is the second, of the other the first half.
  // CHECK-NEXT: store 1:0xc0 8 bytes = 0x6a69686766656463 readv
  char aside[2];
  struct iovec parts[2] = {{aside, 2}, {pool + 0xc0, 8}};
  MUST(lseek(fd, 0, SEEK_SET) == 0 && readv(fd, parts, 2) == 10 && memcmp(aside, "ab", 2) == 0);
  // CHECK-NEXT: store 1:0xe0 4 bytes = 0x68676665 readv
  struct iovec more[2] = {{pool + 0xe0, 4}, {aside, 2}};
  MUST(lseek(fd, 4, SEEK_SET) == 4 && readv(fd, more, 2) == 6 && memcmp(aside, "ij", 2) == 0);
  // CHECK-NEXT: store 1:0xe8 4 bytes = 0x706f6e6d {{.*}}preadv
  struct iovec last[2] = {{aside, 2}, {pool + 0xe8, 8}};
  MUST(preadv(fd, last, 2, 10) == 6 && memcmp(aside, "kl", 2) == 0);
  MUST(memcpy(aside, "ij", 2) == aside);

  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  MUST(send(ends[0], "sent", 4, 0) == 4);
  // CHECK-NEXT: store 1:0x100 4 bytes = 0x746e6573 recv
  MUST(recv(ends[1], pool + 0x100, 64, 0) == 4);
  MUST(send(ends[0], "message", 8, 0) == 8);
  // CHECK-NEXT: store 1:0x120 8 bytes = 0x6567617373656d {{.*}}recvmsg
  struct iovec received = {pool + 0x120, 32};
  struct msghdr incoming = {.msg_iov = &received, .msg_iovlen = 1};
  MUST(recvmsg(ends[1], &incoming, 0) == 8);
  // CHECK-NEXT: store 1:0x140 8 bytes = {{.*}} in getrandom
  // CHECK-NEXT: store 1:0x148 8 bytes = {{.*}} in getrandom
  MUST(getrandom(pool + 0x140, 16, 0) == 16);
  // CHECK-NEXT: store 1:0x180 2 bytes = 0x2f {{.*}} in getcwd
  MUST(chdir("/") == 0 && getcwd(pool + 0x180, 64) == pool + 0x180 && strcmp(pool + 0x180, "/") == 0);
  MUST(chdir(argv[2]) == 0);
  // The two words of a timespec, as far as they change zero bytes.
  // CHECK-NEXT: store 1:0x1c0 {{.*}} clock_gettime
  struct timespec* now = (struct timespec*)(pool + 0x1c0);
  MUST(syscall(SYS_clock_gettime, CLOCK_REALTIME, now) == 0 && now->tv_sec > 1000000000);

  // FROM PM, by every way.
  // CHECK: store 1:0x200 8 bytes = 0x3736353433323130 {{.*}} in main
  // CHECK-NEXT: store 1:0x208 8 bytes = 0x4645444342413938 {{.*}} in main
  memcpy(pool + 0x200, "0123456789ABCDEF", 16);
  MUST(pwrite(fd, pool + 0x200, 4, 0) == 4 && lseek(fd, 4, SEEK_SET) == 4 && write(fd, pool + 0x204, 4) == 4);
  struct iovec out[2] = {{pool + 0x208, 4}, {aside, 2}};
  MUST(writev(fd, out, 2) == 6);
  char read_back[16];
  MUST(pread(fd, read_back, 14, 0) == 14 && memcmp(read_back, "0123456789ABij", 14) == 0);
  MUST(send(ends[0], pool + 0x200, 8, 0) == 8 && recv(ends[1], read_back, 8, 0) == 8);
  MUST(memcmp(read_back, "01234567", 8) == 0);
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  parts[1] = (struct iovec){pool + 0x208, 8};
  MUST(sendmsg(ends[0], &message, 0) == 10 && recv(ends[1], read_back, 10, 0) == 10);
  MUST(memcmp(read_back, "ij89ABCDEF", 10) == 0);
  // CHECK-NEXT: store 1:0x240 4 bytes = 0x61746164 {{.*}} in main
  // CHECK-NEXT: store 1:0x244 1 byte = 0x0 {{.*}} in main
  memcpy(pool + 0x240, "data", 5);
  int again = open(pool + 0x240, O_RDONLY);
  MUST(again >= 0);
  // CHECK-NEXT: store 1:0x240 1 byte = 0x6e {{.*}} in main
  *(volatile char*)(pool + 0x240) = 'n';
  MUST(open(pool + 0x240, O_RDONLY) == -1 && errno == ENOENT);

  // A large block by stdio, which reads it in one call.
  // CHECK-NEXT: store 1:0x10000 8 bytes = 0x7a7a7a7a7a7a7a7a
  // CHECK: store 1:0x1fff8 8 bytes = 0x7a7a7a7a7a7a7a7a
  char* block = (char*)malloc(65536);
  memset(block, 'z', 65536);
  MUST(ftruncate(fd, 0) == 0 && pwrite(fd, block, 65536, 0) == 65536);
  FILE* file = fopen("data", "r");
  MUST(file != NULL && fread(pool + 0x10000, 1, 65536, file) == 65536 && memcmp(pool + 0x10000, block, 65536) == 0);

  // CHECK-NEXT: store 1:0x280 4 bytes = 0x1 {{.*}} in main
  // CHECK-NEXT: t2 store 1:0x280 4 bytes = 0x2 {{.*}} in wake
  volatile uint32_t* word = (volatile uint32_t*)(pool + 0x280);
  *word = 1;
  pthread_t waker;
  MUST(pthread_create(&waker, NULL, wake, (void*)word) == 0);
  while (*word == 1) syscall(SYS_futex, word, FUTEX_WAIT, 1, NULL, NULL, 0);
  MUST(pthread_join(waker, NULL) == 0);
  struct timespec soon = {0, 1000};
  MUST(syscall(SYS_futex, word, FUTEX_WAIT, 2, &soon, NULL, 0) == -1 && errno == ETIMEDOUT);
  MUST(syscall(SYS_futex, word, FUTEX_WAIT, 1, &soon, NULL, 0) == -1 && errno == EAGAIN);

  // CHECK-NEXT: msync 1:0x0 1048576 bytes
  MUST(msync(pool, 1 << 20, MS_SYNC) == 0);
  // A bad address stays bad.
  char* volatile nowhere = (char*)8;
  MUST(write(fd, nowhere, 4) == -1 && errno == EFAULT);
  // CHECK-NEXT: end exit code 0
  return 0;
}
