// Files that are no pools. A recording keeps what each of them was like before the program first changed it. A
// recovery run sees them as they were then, and changes only copies of its own, which go when it ends: so
// runs don't meet each other's lock files, nothing of theirs is left, and the user's files stay what they are.
// Devices, /proc and /sys are the real ones.
#pragma once

#include <fcntl.h>
#include <stddef.h>

namespace blackout::rt {

enum class Use {
  Look,      // at what is there
  LookLink,  // the same, and at a link itself
  Read,      // its content, or its entries
  ReadName,  // the same, and a link is not followed
  Change,    // its content or its attributes
  Replace,   // its content, without looking at it; it may have to be made
  Make,      // it may have to be made; what is there stays
  Add,       // the same, and what is there is not read
  MakeName,  // the same, and a link is not followed
  MakeFolder,
  Remove,
};
Use useOf(int openFlags);
Use useOf(const char* fopenMode);

// The program is about to use a path that leads to no pool. A recording keeps what is there. True in a recovery run
// that has to take another path instead, which is in `out` (PATH_MAX bytes).
bool redirectToOverlay(int dirfd, const char* path, Use use, char* out);

// unlink, rmdir and rename outside the pools. True: it is done, with this result.
bool removeInOverlay(int dirfd, const char* path, int flags, int& result);
bool renameInOverlay(int fromDir, const char* from, int toDir, const char* to, unsigned flags, int& result);
// realpath: true if the layers decide; false in `found` with errno.
bool resolveInOverlay(const char* path, char* out, bool& found);

// Before a lock, or a change of attributes, through a descriptor that may be open for reading only: from now on it is
// one of the run's own file.
void makePrivateDescriptor(int fd);

// Copies a file with its permissions and times; `limit` bytes at most (EFBIG).
bool copyFile(int fromDir, const char* from, int toDir, const char* to, size_t limit);

}  // namespace blackout::rt
