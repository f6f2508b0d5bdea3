// Pool files through stdio. libc writes such a file from inside, where nothing can be seen, so a stream
// that may write one is remembered, and what it wrote is recorded when it is flushed or closed.

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/overlay.h"
#include "runtime/pinned.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

using namespace blackout::rt;

namespace {

struct Stream {
  FILE* file;
  bool fresh;  // it began empty: pages of zeros need no record
};
constexpr int kMaxStreams = 64;
Stream streams[kMaxStreams];

Stream* find(FILE* file) {
  for (Stream& s : streams)
    if (s.file == file) return &s;
  return nullptr;
}

// A recovery run reads or writes a pool from inside libc, where nothing is seen. It does so on a file of its own, which
// has what it stored; of what it may read all counts as observed.
void observeInside(uint32_t number, const char* mode) {
  bool reads = mode[0] == 'r' || (mode[0] == 'a' && strchr(mode, '+') != nullptr);
  if (number != 0 && reads) observeFile(number, 0, header->files[number].size);
}
void useInside(const char* path, const char* mode, char* copy, char* canonical) {
  observePath(canonical);
  makePrivatePools();
  redirect(AT_FDCWD, path, copy, canonical);
  observeInside(fileOfPath(copy), mode);
}

FILE* opened(const char* path, const char* mode, FILE* (*open)(const char*, const char*)) {
  char copy[PATH_MAX], canonical[PATH_MAX];
  if (!redirect(AT_FDCWD, path, copy, canonical)) {
    if (int random = openRandom(path, O_RDONLY); random >= 0) return BLACKOUT_REAL(fdopen)(random, mode);
    return open(redirectToOverlay(AT_FDCWD, path, useOf(mode), copy) ? copy : path, mode);
  }
  if (isRestart()) useInside(path, mode, copy, canonical);
  struct stat before;
  bool existed = stat(path, &before) == 0;
  FILE* file = open(copy, mode);
  if (file == nullptr || (strchr(mode, '+') == nullptr && mode[0] == 'r')) return file;
  Scope scope;
  if (scope.nested) return file;
  struct stat st;
  int fd = fileno(file);
  if (syscall(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode)) return file;
  uint32_t number = fileOfDescriptor(fd);
  if (number == 0 && !existed) number = newFile(canonical, st);
  if (number != 0) setFileSize(number, uint64_t(st.st_size));
  notePoolDescriptor(fd);
  if (Stream* s = find(nullptr))
    *s = {file, st.st_size == 0};
  else
    problem(BLACKOUT_PROBLEM_UNSUPPORTED);
  return file;
}

// `frame`: of the call that wrote it out; null: the program ends.
void recordStream(Stream& s, const void* frame) {
  int fd = fileno(s.file);
  Scope scope;
  if (scope.nested) return;
  uint32_t number = fileOfDescriptor(fd);
  struct stat st;
  if (number == 0 || syscall(SYS_fstat, fd, &st) != 0) return;
  setFileSize(number, uint64_t(st.st_size));
  int readable = keptDescriptor(number, fd);
  if (readable < 0) return;
  Stack stack;
  walkCallersInAnyCode(stack, frame);
  recordWholeFile(number, readable, whereOf(librarySite("fwrite"), stack), !s.fresh);
}

// The program ends without closing: libc would write the rest after our last chance.
__attribute__((destructor)) void recordOpenStreams() {
  if (!inRun()) return;
  for (Stream& s : streams) {
    if (s.file == nullptr) continue;
    BLACKOUT_REAL(fflush)(s.file);
    recordStream(s, nullptr);
  }
}

}  // namespace

BLACKOUT_EXPORT FILE* fopen(const char* path, const char* mode) { return opened(path, mode, BLACKOUT_REAL(fopen)); }
BLACKOUT_EXPORT FILE* fopen64(const char* path, const char* mode) { return opened(path, mode, BLACKOUT_REAL(fopen64)); }

BLACKOUT_EXPORT FILE* fdopen(int fd, const char* mode) {
  if (readsPool(fd)) {
    makePrivatePools();
    observeInside(fileOfDescriptor(fd), mode);
  }
  FILE* file = BLACKOUT_REAL(fdopen)(fd, mode);
  if (file != nullptr && isPoolDescriptor(fd) && (mode[0] != 'r' || strchr(mode, '+') != nullptr)) {
    if (Stream* s = find(nullptr))
      *s = {file, false};
    else
      problem(BLACKOUT_PROBLEM_UNSUPPORTED);
  }
  return file;
}

// The stream's old file is left, and the new one may be a pool.
BLACKOUT_EXPORT FILE* freopen(const char* path, const char* mode, FILE* file) {
  char copy[PATH_MAX], canonical[PATH_MAX];
  if (path == nullptr || !redirect(AT_FDCWD, path, copy, canonical))
    return BLACKOUT_REAL(freopen)(redirectToOverlay(AT_FDCWD, path, useOf(mode), copy) ? copy : path, mode, file);
  if (isRestart()) useInside(path, mode, copy, canonical);
  FILE* made = BLACKOUT_REAL(freopen)(copy, mode, file);
  if (made != nullptr) {
    notePoolDescriptor(fileno(made));
    if (Stream* s = find(nullptr)) *s = {made, false};
  }
  return made;
}
BLACKOUT_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* file) { return freopen(path, mode, file); }

BLACKOUT_EXPORT int fflush(FILE* file) {
  int r = BLACKOUT_REAL(fflush)(file);
  if (!inRun()) return r;
  for (Stream& s : streams)
    if (s.file != nullptr && (file == nullptr || s.file == file)) recordStream(s, BLACKOUT_FRAME());
  return r;
}

BLACKOUT_EXPORT int fclose(FILE* file) {
  if (inRun() && file != nullptr) {
    if (Stream* s = find(file)) {
      BLACKOUT_REAL(fflush)(file);
      recordStream(*s, BLACKOUT_FRAME());
      s->file = nullptr;
    }
    forgetDescriptor(fileno(file));
  }
  return BLACKOUT_REAL(fclose)(file);
}
