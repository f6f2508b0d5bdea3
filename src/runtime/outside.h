// Threads under control (schedule.h) that wait for what comes from outside: a pipe, a socket, a terminal. They give
// their turn away meanwhile. What another thread of the program writes or closes is noticed there and then, so that the
// run stays the same from time to time; what comes from other processes is waited for when nobody else can go on.
#pragma once

#include <poll.h>
#include <stdint.h>

#include "runtime/schedule.h"

namespace blackout::rt {

// Before a call that would wait: comes back when one of the descriptors has something, and at once where nothing is
// under control. False: the moment (of turnClock) has come.
bool waitOutside(pollfd* fds, nfds_t count, uint64_t moment = kNever);
// The same for one descriptor, unless its calls don't wait.
void waitToRead(int fd);
// After a call that may have given somebody something to read.
void wroteOutside();

}  // namespace blackout::rt
