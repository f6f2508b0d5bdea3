// Pool files: which paths are, where their private copies lie, and their numbers in the trace. The
// tool has copied what was there before the program started, so a matching path is always replaced by
// the path of its copy, and the user's files are never opened for writing.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace blackout::rt {

// If `path` (relative to `dirfd`) names a pool file, a folder of pool files or something below one,
// writes the path of the private copy to `out` (PATH_MAX bytes) and, if wanted, the canonical path. Pools are known by
// what they are, not by how they are called: links are followed, and a hard link of a pool that was there before the
// program leads to the name under which that was copied. Last::Keep: a link at the end of the path means itself, which
// is no pool.
enum class Last { Follow, Keep };
bool redirect(int dirfd, const char* path, char* out, char* canonical = nullptr, Last last = Last::Follow);
// A name goes, or is given to something else: says so if the name was one of several, or a link, which is not followed.
void nameChanges(int dirfd, const char* path);

// Files of the trace by identity; 0: none. Inside a Scope.
uint32_t fileOfDescriptor(int fd);
// The inode number that a restart is told of a pool: the same before and after it takes files of its own, and in every
// worker. Of another file its own.
uint64_t steadyInode(uint64_t device, uint64_t inode);
uint32_t fileOfPath(const char* shadowPath);

// Inside a Scope: a file has come into being, changed its size, gone.
uint32_t newFile(const char* canonicalPath, const struct stat& st);
void setFileSize(uint32_t file, uint64_t size);
void fileRemoved(uint32_t file);

// Descriptors through which a pool may be written, so that write() on others costs nothing. One from kMaxDescriptors on
// is not followed, and that is said.
constexpr int kMaxDescriptors = 65536;
void notePoolDescriptor(int fd);
void forgetDescriptor(int fd);
void copyDescriptor(int from, int to);
bool isPoolDescriptor(int fd);
// The first from `fd` on; -1: none.
int nextPoolDescriptor(int fd);
// Whether a restart has this descriptor of a pool.
bool readsPool(int fd);
// The same, of the image: really open for reading only.
bool readsImage(int fd);
// What the program asked for when it opened that.
void notePoolFlags(int fd, int flags);
int poolFlags(int fd);
// Descriptors inherited over exec.
void findInheritedDescriptors();

// The content of a file that came from elsewhere, as stores.
void recordWholeFile(uint32_t file, int fd, uint32_t where, bool zeroPagesToo);

}  // namespace blackout::rt
