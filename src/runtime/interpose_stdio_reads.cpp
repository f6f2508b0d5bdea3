// Reads of streams that may have to wait: libc reads the descriptor from inside, where no thread can give its turn away
// (outside.h). So where threads are under control, a stream whose buffer is empty waits here first, and no more is
// asked of libc at once than the buffer has. All others go to libc as they are. The scanf family, of which nobody knows
// how much it will read, reads from a stream that gets its bytes here, one by one.

#undef _FORTIFY_SOURCE
#define __NO_INLINE__ 1  // libc's headers define some of these in place otherwise
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/outside.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/role.h"

using namespace blackout::rt;

namespace {

// A pipe, a socket or a terminal, read by one of several threads. Into PM libc itself stores, where that is seen.
bool mayWait(FILE* file, const void* to = nullptr, size_t size = 0) {
  if (__builtin_expect(!controlled, 1) || !isRecording() || file == nullptr) return false;
  if (options.heap != 0 || mayBePm(to, size)) return false;
  struct stat st;
  int fd = fileno(file);
  return fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 &&
         (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

size_t buffered(const FILE* file) { return size_t(file->_IO_read_end - file->_IO_read_ptr); }

// libc holds the stream's lock for a whole call. Here the turn is given away in the middle of it, so while a thread
// reads no other one does: it waits for the end of that read. Only who has the turn looks at the list.
struct Reading {
  FILE* file = nullptr;
  uint32_t thread = 0;
};
Reading readings[16];

class WholeRead {
 public:
  explicit WholeRead(FILE* file) {
    if (self.turns == 0) return;
    for (Reading* other = of(file); other != nullptr && controlled; other = of(file)) {
      if (other->thread == self.turns) return;  // a part of a read of its own
      waitTurn(other, Retry::Yes);
    }
    mine_ = of(nullptr);
    if (mine_ != nullptr) *mine_ = {file, self.turns};
  }
  ~WholeRead() {
    if (mine_ == nullptr) return;
    *mine_ = {};
    wakeWaiting(mine_, ~0U);
  }
  WholeRead(const WholeRead&) = delete;
  WholeRead& operator=(const WholeRead&) = delete;

 private:
  static Reading* of(const FILE* file) {
    for (Reading& r : readings)
      if (r.file == file) return &r;
    return nullptr;
  }
  Reading* mine_ = nullptr;
};

// What is left to be read once the buffer has something, or there is nothing more.
int takeByte(FILE* file) {
  if (buffered(file) == 0 && feof(file) == 0) {
    waitToRead(fileno(file));
    int c = BLACKOUT_REAL(fgetc)(file);
    usedOutside();
    return c;
  }
  return BLACKOUT_REAL(fgetc)(file);
}

size_t takeBytes(char* to, size_t size, FILE* file) {
  size_t done = 0;
  while (done < size) {
    if (size_t ready = buffered(file); ready != 0) {
      size_t part = size - done < ready ? size - done : ready;
      size_t n = BLACKOUT_REAL(fread)(to + done, 1, part, file);
      done += n;
      if (n < part) break;
      continue;
    }
    int c = takeByte(file);
    if (c == EOF) break;
    to[done++] = char(c);
  }
  return done;
}

}  // namespace

BLACKOUT_EXPORT int fgetc(FILE* file) {
  if (!mayWait(file)) return BLACKOUT_REAL(fgetc)(file);
  WholeRead whole(file);
  return takeByte(file);
}
BLACKOUT_EXPORT int(getc)(FILE* file) { return fgetc(file); }
BLACKOUT_EXPORT int(getchar)() { return fgetc(stdin); }

BLACKOUT_EXPORT size_t fread(void* to, size_t size, size_t count, FILE* file) {
  size_t total = 0;
  bool none = __builtin_mul_overflow(size, count, &total) || total == 0;
  if (none || !mayWait(file, to, total)) return BLACKOUT_REAL(fread)(to, size, count, file);
  WholeRead whole(file);
  return takeBytes(static_cast<char*>(to), total, file) / size;
}

BLACKOUT_EXPORT char* fgets(char* to, int size, FILE* file) {
  if (size < 2 || !mayWait(file, to, size_t(size))) return BLACKOUT_REAL(fgets)(to, size, file);
  WholeRead whole(file);
  int n = 0;
  for (int c = 0; n < size - 1 && c != '\n'; to[n++] = char(c)) {
    c = takeByte(file);
    if (c == EOF) break;
  }
  if (n == 0 || ferror(file) != 0) return nullptr;
  to[n] = '\0';
  return to;
}

BLACKOUT_EXPORT ssize_t getdelim(char** line, size_t* size, int delimiter, FILE* file) {
  if (line == nullptr || size == nullptr || !mayWait(file)) return BLACKOUT_REAL(getdelim)(line, size, delimiter, file);
  WholeRead whole(file);
  size_t n = 0;
  for (int c = EOF - 1; c != delimiter;) {
    c = takeByte(file);
    if (c == EOF) break;
    if (*line == nullptr || n + 2 > *size) {
      size_t more = *line == nullptr || *size < 64 ? 128 : 2 * *size;
      auto* larger = static_cast<char*>(realloc(*line, more));
      if (larger == nullptr) return -1;
      *line = larger;
      *size = more;
    }
    (*line)[n++] = char(c);
  }
  if (n == 0) return -1;
  (*line)[n] = '\0';
  return ssize_t(n);
}
BLACKOUT_EXPORT ssize_t getline(char** line, size_t* size, FILE* file) {
  return mayWait(file) ? getdelim(line, size, '\n', file) : BLACKOUT_REAL(getline)(line, size, file);
}
// Compiled code comes here by other names.
BLACKOUT_EXPORT ssize_t __getdelim(char** line, size_t* size, int delimiter, FILE* file) {
  return getdelim(line, size, delimiter, file);
}
BLACKOUT_EXPORT char* __fgets_chk(char* to, size_t room, int size, FILE* file) {
  if (size > 0 && size_t(size) > room) abort();
  return fgets(to, size, file);
}
BLACKOUT_EXPORT size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* file) {
  size_t total = 0;
  if (__builtin_mul_overflow(size, count, &total) || total > room) abort();
  return fread(to, size, count, file);
}

// Those that leave the stream's lock alone: whoever calls them has it, or is the only one who reads.
BLACKOUT_EXPORT int fgetc_unlocked(FILE* file) {
  return mayWait(file) ? takeByte(file) : BLACKOUT_REAL(fgetc_unlocked)(file);
}
BLACKOUT_EXPORT int(getc_unlocked)(FILE* file) { return fgetc_unlocked(file); }
BLACKOUT_EXPORT int(getchar_unlocked)() { return fgetc_unlocked(stdin); }
BLACKOUT_EXPORT size_t fread_unlocked(void* to, size_t size, size_t count, FILE* file) {
  size_t total = 0;
  bool none = __builtin_mul_overflow(size, count, &total) || total == 0;
  return none || !mayWait(file, to, total) ? BLACKOUT_REAL(fread_unlocked)(to, size, count, file)
                                           : fread(to, size, count, file);
}
BLACKOUT_EXPORT char* fgets_unlocked(char* to, int size, FILE* file) {
  return size < 2 || !mayWait(file, to, size_t(size)) ? BLACKOUT_REAL(fgets_unlocked)(to, size, file)
                                                      : fgets(to, size, file);
}
BLACKOUT_EXPORT char* __fgets_unlocked_chk(char* to, size_t room, int size, FILE* file) {
  if (size > 0 && size_t(size) > room) abort();
  return fgets_unlocked(to, size, file);
}
BLACKOUT_EXPORT size_t __fread_unlocked_chk(void* to, size_t room, size_t size, size_t count, FILE* file) {
  size_t total = 0;
  if (__builtin_mul_overflow(size, count, &total) || total > room) abort();
  return fread_unlocked(to, size, count, file);
}
// What libc's headers make of getc_unlocked() where the buffer is empty.
BLACKOUT_EXPORT int __uflow(FILE* file) { return mayWait(file) ? takeByte(file) : BLACKOUT_REAL(__uflow)(file); }

namespace {

using Scan = int(FILE*, const char*, va_list);

ssize_t giveByte(void* from, char* to, size_t size) {
  if (size == 0) return 0;
  int c = takeByte(static_cast<FILE*>(from));
  if (c == EOF) return ferror(static_cast<FILE*>(from)) != 0 ? -1 : 0;
  *to = char(c);
  return 1;
}

int scanInTurn(Scan* scan, FILE* file, const char* format, va_list arguments) {
  if (!mayWait(file)) return scan(file, format, arguments);
  WholeRead whole(file);
  cookie_io_functions_t reads{};
  reads.read = giveByte;
  FILE* bytes = fopencookie(file, "r", reads);
  if (bytes == nullptr) return scan(file, format, arguments);
  setvbuf(bytes, nullptr, _IONBF, 0);
  int r = scan(bytes, format, arguments);
  int saved = errno;
  // It looks at one more than it takes.
  if (int c = buffered(bytes) != 0 ? fgetc(bytes) : EOF; c != EOF) ungetc(c, file);
  fclose(bytes);
  errno = saved;
  return r;
}

}  // namespace

// Of two kinds: what %a means, which differs between C's standards, is in the name.
#define BLACKOUT_SCANS(prefix)                                                                                         \
  static Scan* prefix##real() { return reinterpret_cast<Scan*>(lookUp<#prefix "vfscanf">()); }                         \
  extern "C" __attribute__((visibility("default"))) int prefix##ours_vfscanf(FILE*, const char*,                       \
                                                                             va_list) __asm__(#prefix "vfscanf");      \
  extern "C"                                                                                                           \
      __attribute__((visibility("default"))) int prefix##ours_vscanf(const char*, va_list) __asm__(#prefix "vscanf");  \
  extern "C" __attribute__((visibility("default"))) int prefix##ours_fscanf(FILE*, const char*,                        \
                                                                            ...) __asm__(#prefix "fscanf");            \
  extern "C" __attribute__((visibility("default"))) int prefix##ours_scanf(const char*, ...) __asm__(#prefix "scanf"); \
  int prefix##ours_vfscanf(FILE* file, const char* format, va_list arguments) {                                        \
    return scanInTurn(prefix##real(), file, format, arguments);                                                        \
  }                                                                                                                    \
  int prefix##ours_vscanf(const char* format, va_list arguments) {                                                     \
    return scanInTurn(prefix##real(), stdin, format, arguments);                                                       \
  }                                                                                                                    \
  int prefix##ours_fscanf(FILE* file, const char* format, ...) {                                                       \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int r = scanInTurn(prefix##real(), file, format, arguments);                                                       \
    va_end(arguments);                                                                                                 \
    return r;                                                                                                          \
  }                                                                                                                    \
  int prefix##ours_scanf(const char* format, ...) {                                                                    \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int r = scanInTurn(prefix##real(), stdin, format, arguments);                                                      \
    va_end(arguments);                                                                                                 \
    return r;                                                                                                          \
  }
BLACKOUT_SCANS()
BLACKOUT_SCANS(__isoc99_)
