// A value that is valid before it is durable, and which a restart hands to the kernel without looking at it. What the
// kernel made of it decides how the restart ends.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "Inputs/pool.h"

struct Pool {
  volatile uint64_t valid __attribute__((aligned(64)));
  char value[64] __attribute__((aligned(64)));
};

static void flush(volatile void* p) { __asm__ volatile("clflush %0\n mfence" : : "m"(*(volatile char*)p) : "memory"); }

static int look(struct Pool* pool, const char* way) {
  char got[8] = {0};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 8;
  int fd = syscall(SYS_memfd_create, "aside", 0);
  struct iovec part = {pool->value, 8};
  if (strcmp(way, "write") == 0)
    return write(fd, pool->value, 8) == 8 && pread(fd, got, 8, 0) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  if (strcmp(way, "pwrite") == 0)
    return pwrite(fd, pool->value, 8, 0) == 8 && pread(fd, got, 8, 0) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (strcmp(way, "writev") == 0)
    return writev(fd, &part, 1) == 8 && pread(fd, got, 8, 0) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  if (strcmp(way, "pwritev") == 0)
    return pwritev(fd, &part, 1, 0) == 8 && pread(fd, got, 8, 0) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  if (strcmp(way, "sendmsg") == 0)
    return sendmsg(ends[0], &message, 0) == 8 && read(ends[1], got, 8) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  if (strcmp(way, "send") == 0)
    return send(ends[0], pool->value, 8, 0) == 8 && read(ends[1], got, 8) == 8 && memcmp(got, "/tmp", 5) == 0 ? 0 : 3;
  if (strcmp(way, "open") == 0) return open(pool->value, O_RDONLY | O_DIRECTORY) >= 0 ? 0 : 3;
  if (strcmp(way, "futex") == 0) {
    struct timespec soon = {0, 1000};
    syscall(SYS_futex, pool->value, FUTEX_WAIT, 0x706d742f /* "/tmp" */, &soon, NULL, 0);
    return errno == ETIMEDOUT ? 0 : 3;
  }
  // The kernel writes there first: it does not matter what was there.
  static const char kValue[8] = "/tmp";
  if (write(fd, kValue, 8) != 8) return 8;
  if (strcmp(way, "pread") == 0) return pread(fd, pool->value, 8, 0) == 8 && strcmp(pool->value, "/tmp") == 0 ? 0 : 3;
  if (strcmp(way, "readv") == 0)
    return lseek(fd, 0, SEEK_SET) == 0 && readv(fd, &part, 1) == 8 && strcmp(pool->value, "/tmp") == 0 ? 0 : 3;
  if (write(ends[0], kValue, 8) != 8) return 8;
  if (strcmp(way, "recv") == 0)
    return recv(ends[1], pool->value, 8, 0) == 8 && strcmp(pool->value, "/tmp") == 0 ? 0 : 3;
  return 9;
}

int main(int argc, char** argv) {
  struct Pool* pool = (struct Pool*)mapPool(argv[1], 4096);
  if (pool->valid != 0) return look(pool, argv[2]);
  memcpy(pool->value, "/tmp\0\0\0", 8);
  pool->valid = 1;
  flush(&pool->valid);
  flush(pool->value);
  return argc == 3 ? look(pool, argv[2]) : 9;
}
