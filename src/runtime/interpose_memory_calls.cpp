// Calls by which the kernel reaches memory in other ways than through a buffer that it is given: process_vm_readv and
// its like, and pages that go into a pipe. On PM they are made as the plain copies that they amount to.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "events/contract.h"
#include "runtime/pools.h"
#include "runtime/process_numbers.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

bool touchesPm(const iovec* parts, unsigned long count) {
  if (count != 0 && mayBePm(parts, count * sizeof *parts)) return true;
  for (unsigned long i = 0; i < count; ++i)
    if (mayBePm(parts[i].iov_base, parts[i].iov_len)) return true;
  return false;
}

bool isOurs(pid_t process) { return process == getpid() || process == syscall(SYS_getpid); }

// As much as both sides have room for, in their order.
ssize_t copyParts(const iovec* to, unsigned long toCount, const iovec* from, unsigned long fromCount,
                  blackout_site* site) {
  ssize_t done = 0;
  size_t toAt = 0, fromAt = 0;
  for (unsigned long t = 0, f = 0; t < toCount && f < fromCount;) {
    size_t n = to[t].iov_len - toAt < from[f].iov_len - fromAt ? to[t].iov_len - toAt : from[f].iov_len - fromAt;
    __blackout_memmove(site, static_cast<char*>(to[t].iov_base) + toAt, static_cast<char*>(from[f].iov_base) + fromAt,
                       n);
    done += ssize_t(n);
    toAt += n;
    fromAt += n;
    if (toAt == to[t].iov_len) ++t, toAt = 0;
    if (fromAt == from[f].iov_len) ++f, fromAt = 0;
  }
  return done;
}

ssize_t betweenProcesses(long number, pid_t process, const iovec* local, unsigned long localCount, const iovec* remote,
                         unsigned long remoteCount, unsigned long flags, const char* name) {
  bool reads = number == SYS_process_vm_readv;
  if (inRun() && isOurs(process) && (touchesPm(local, localCount) || touchesPm(remote, remoteCount)))
    return reads ? copyParts(local, localCount, remote, remoteCount, librarySite(name))
                 : copyParts(remote, remoteCount, local, localCount, librarySite(name));
  if (inRun() && !isOurs(process))
    unfollowed("it reads or writes another process's memory (process_vm_readv): what is PM there is not seen");
  return syscall(number, process, local, localCount, remote, remoteCount, flags);
}

}  // namespace

BLACKOUT_EXPORT ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long localCount,
                                         const iovec* remote, unsigned long remoteCount, unsigned long flags) {
  return betweenProcesses(SYS_process_vm_readv, process, local, localCount, remote, remoteCount, flags,
                          "process_vm_readv");
}
BLACKOUT_EXPORT ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long localCount,
                                          const iovec* remote, unsigned long remoteCount, unsigned long flags) {
  return betweenProcesses(SYS_process_vm_writev, process, local, localCount, remote, remoteCount, flags,
                          "process_vm_writev");
}

// What the one process does to the other is between the two; the kernel's numbers are not the program's.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wvarargs"  // libc declares it so; an enumeration is an int here
BLACKOUT_EXPORT long ptrace(enum __ptrace_request request, ...) noexcept {
  va_list list;
  va_start(list, request);
#pragma clang diagnostic pop
  auto process = va_arg(list, pid_t);
  auto* address = va_arg(list, void*);
  auto* data = va_arg(list, void*);
  va_end(list);
  if (inRun() && request != PTRACE_TRACEME) {
    unfollowed("it controls another process (ptrace): what that does to PM, and what is done to it there, is not seen");
    process = realNumber(process);
  }
  return BLACKOUT_REAL(ptrace)(request, process, address, data);
}

// On the end of a pipe that is read from it reads.
BLACKOUT_EXPORT ssize_t vmsplice(int fd, const iovec* parts, size_t count, unsigned flags) {
  if (!inRun() || !touchesPm(parts, count)) return syscall(SYS_vmsplice, fd, parts, count, flags);
  bool reads = (syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
  return reads ? readv(fd, parts, int(count)) : writev(fd, parts, int(count));
}

// libc writes from inside: on a pool's descriptor by write(), which is followed.
BLACKOUT_EXPORT int vdprintf(int fd, const char* format, va_list arguments) {
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(vdprintf)(fd, format, arguments);
  char* text = nullptr;
  int n = vasprintf(&text, format, arguments);
  if (n < 0) return n;
  ssize_t wrote = write(fd, text, size_t(n));
  free(text);
  return int(wrote);
}
BLACKOUT_EXPORT int dprintf(int fd, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vdprintf(fd, format, arguments);
  va_end(arguments);
  return n;
}
