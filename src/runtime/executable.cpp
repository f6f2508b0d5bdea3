#include "runtime/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/recorder.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

namespace {

// As execvp() finds it; false: nowhere.
bool findInPath(const char* file, char (&found)[PATH_MAX]) {
  const char* folders = getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  for (const char* f = folders;;) {
    const char* end = strchrnul(f, ':');
    int n = snprintf(found, sizeof found, "%.*s%s%s", int(end - f), f, end == f ? "" : "/", file);
    struct stat st;
    if (n > 0 && size_t(n) < sizeof found && syscall(SYS_newfstatat, AT_FDCWD, found, &st, 0) == 0 &&
        S_ISREG(st.st_mode) && syscall(SYS_faccessat, AT_FDCWD, found, X_OK) == 0)
      return true;
    if (*end == '\0') return false;
    f = end + 1;
  }
}

// The loader, which may be executed with a program's name as its argument.
bool isLoader(const struct stat& file) {
  struct stat loader;
  return syscall(SYS_newfstatat, AT_FDCWD, "/lib64/ld-linux-x86-64.so.2", &loader, 0) == 0 &&
         loader.st_dev == file.st_dev && loader.st_ino == file.st_ino;
}

// Why the loader will not put the runtime into it; null: it will, or the kernel will refuse it.
const char* obstacle(int fd, const Elf64_Ehdr& head, const struct stat& st) {
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64) return "for another kind of processor";
  bool user = (st.st_mode & S_ISUID) != 0 && st.st_uid != uid_t(syscall(SYS_getuid));
  bool group = (st.st_mode & S_ISGID) != 0 && st.st_gid != gid_t(syscall(SYS_getgid));
  if (user || group) return "with rights of its own";
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    auto at = off_t(head.e_phoff + uint64_t{i} * sizeof segment);
    if (syscall(SYS_pread64, fd, &segment, sizeof segment, at) != long(sizeof segment)) return nullptr;
    if (segment.p_type == PT_INTERP) return nullptr;
  }
  return isLoader(st) ? nullptr : "linked statically";
}

// The interpreter that a script's first line names replaces it; false: it is no script.
bool interpreter(const char* line, size_t size, char (&path)[PATH_MAX]) {
  if (size < 3 || line[0] != '#' || line[1] != '!') return false;
  const char* end = line + size;
  const char* from = line + 2;
  while (from < end && (*from == ' ' || *from == '\t')) ++from;
  const char* to = from;
  while (to < end && strchr(" \t\r\n", *to) == nullptr) ++to;
  return to > from && snprintf(path, sizeof path, "%.*s", int(to - from), from) > 0;
}

}  // namespace

void noteExecutable(const char* file, bool search) {
  if (!inRun() || file == nullptr) return;
  char path[PATH_MAX];
  if (search && strchr(file, '/') == nullptr) {
    if (!findInPath(file, path)) return;
  } else {
    if (strlen(file) >= sizeof path) return;
    strcpy(path, file);
  }
  constexpr int kNested = 5;  // scripts that interpret scripts, as deep as the kernel goes
  for (int i = 0; i < kNested; ++i) {
    int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    if (fd < 0) return;  // what can't be read can't be told
    alignas(Elf64_Ehdr) char begin[256];
    struct stat st;
    long n = syscall(SYS_read, fd, begin, sizeof begin);
    bool elf = n >= long(sizeof(Elf64_Ehdr)) && memcmp(begin, ELFMAG, SELFMAG) == 0;
    const char* why = nullptr;
    if (elf && syscall(SYS_fstat, fd, &st) == 0) why = obstacle(fd, *reinterpret_cast<Elf64_Ehdr*>(begin), st);
    syscall(SYS_close, fd);
    if (why != nullptr) {
      char text[PATH_MAX + 128];
      snprintf(text, sizeof text, "it executes %s, a program %s, whose accesses to PM are not seen", path, why);
      unfollowed(text);
    }
    if (elf || n <= 0 || !interpreter(begin, size_t(n), path)) return;
  }
}

}  // namespace blackout::rt
