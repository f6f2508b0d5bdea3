// Threads under control (schedule.h) that wait for what comes from outside: a pipe, a socket, a terminal, the end of a
// child. They give their turn away meanwhile. What another thread of the program writes, reads or closes is noticed
// there and then, so that the run stays the same from time to time; what comes from other processes is waited for when
// nobody else can go on.
#pragma once

#include <poll.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/types.h>

#include "runtime/schedule.h"

namespace blackout::rt {

// Before a call that would wait: comes back when one of the descriptors has something, and at once where nothing is
// under control. False: the moment (of turnClock) has come.
bool waitOutside(pollfd* fds, nfds_t count, uint64_t moment = kNever);
// The same as select() has them.
bool waitOutside(int count, const fd_set* reads, const fd_set* writes, const fd_set* errors, uint64_t moment = kNever);
// The same for one descriptor, unless its calls don't wait.
void waitToRead(int fd);
void waitToWrite(int fd);
// Before a call of the family of wait(), with its arguments: until such a child has ended.
void waitForChild(pid_t pid, int flags);
// write() to a pipe or a socket that may be full: as much at a time as goes without waiting. `call` makes one call; it
// gets a part of the bytes.
template <class Call>
ssize_t writeOutside(int fd, const void* bytes, size_t size, Call call);
// After a call that may have given somebody something to read, or room to write.
void usedOutside();

// How much write() takes without waiting where the descriptor is ready; 0: all of it, or there is nothing to wait for.
size_t partToWrite(int fd, size_t size);

template <class Call>
ssize_t writeOutside(int fd, const void* bytes, size_t size, Call call) {
  const size_t part = partToWrite(fd, size);
  if (part == 0) return call(bytes, size);
  size_t done = 0;
  while (done < size) {
    waitToWrite(fd);
    ssize_t n = call(static_cast<const char*>(bytes) + done, size - done < part ? size - done : part);
    usedOutside();
    if (n < 0) return done == 0 ? n : ssize_t(done);
    done += size_t(n);
  }
  return ssize_t(done);
}

}  // namespace blackout::rt
