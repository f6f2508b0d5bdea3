// Locks on pool files, and a descriptor of our own for each pool: opening and closing one for a moment would take the
// program's record locks away. A recovery run's descriptors are really open for reading only, so its locks for writing
// are taken through ours: record locks belong to the process and the file, and the kernel does the rest.
#pragma once

#include <fcntl.h>
#include <stdint.h>

namespace blackout::rt {

// Inside a Scope. A descriptor of the file for reading and writing that stays open; `fd`: one that the program has.
// -1 with errno.
int keptDescriptor(uint32_t file, int fd);

// fcntl() with a lock. False: the kernel's own answer is right.
bool lockPool(int fd, int command, struct flock* lock, int& result);
// lockf(), the same.
bool lockPoolPart(int fd, int command, off_t size, int& result);

// The kernel has given a record lock on this descriptor.
void noteLock(int fd);
// Record locks belong to the process: a child has none of them, an executed program has all, unless a descriptor of
// ours closes on the way. In the child; before another program is executed; in that one, when its descriptors are
// known.
void forgetLocks();
void keepLocksOverExec();
void inheritLocks();

// When a recovery run takes files of its own, its locks go with it: what these descriptors hold, before they change,
// and afterwards.
void rememberLocks(const int* fds, const uint32_t* files, int count);
void lockAgain();

}  // namespace blackout::rt
