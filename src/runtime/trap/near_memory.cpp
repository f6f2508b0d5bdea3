#include "runtime/trap/near_memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace blackout::rt {

namespace {

constexpr uintptr_t kPage = 4096;
// A jump's distance counts from its end, and operands are some bytes long: less than 2^31 by a margin.
constexpr uintptr_t kReach = (uintptr_t(1) << 31) - 65536;
constexpr uintptr_t kLowest = 0x10000;  // mmap_min_addr
constexpr uintptr_t kHighest = (uintptr_t(1) << 47) - kPage;

struct FreeSpace {
  uintptr_t lowest;   // where the memory may begin
  uintptr_t highest;  // and end
  uintptr_t begin;    // of the file
  size_t size;
  uintptr_t below = 0;
  uintptr_t above = 0;

  // Free from `from` to `to`, in the order of addresses.
  void consider(uintptr_t from, uintptr_t to, bool behindHeap) {
    if (from < lowest) from = lowest;
    if (to > highest) to = highest;
    if (from >= to || to - from < size) return;
    if (to <= begin)
      below = to - size;
    else if (above == 0 && from >= begin && !behindHeap)
      above = from;
  }
};

uintptr_t hexadecimal(const char*& p) {
  uintptr_t value = 0;
  for (;; ++p) {
    if (*p >= '0' && *p <= '9')
      value = value * 16 + uintptr_t(*p - '0');
    else if (*p >= 'a' && *p <= 'f')
      value = value * 16 + uintptr_t(*p - 'a' + 10);
    else
      return value;
  }
}

// Lines of /proc/self/maps: "begin-end permissions ... name". Calls space.consider(from, to, behindHeap) for all that
// is free.
template <class Space>
bool considerAll(Space& space) {
  long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  char buffer[8192];
  size_t have = 0;
  uintptr_t free = kLowest;
  bool behindHeap = false;
  for (;;) {
    long n = syscall(SYS_read, fd, buffer + have, sizeof buffer - 1 - have);
    if (n <= 0) break;
    have += size_t(n);
    buffer[have] = '\0';
    char* line = buffer;
    for (char* eol; (eol = strchr(line, '\n')) != nullptr; line = eol + 1) {
      *eol = '\0';
      const char* p = line;
      uintptr_t begin = hexadecimal(p);
      ++p;
      uintptr_t end = hexadecimal(p);
      if (begin >= kHighest) break;  // vsyscall
      space.consider(free, begin, behindHeap);
      free = end;
      behindHeap = strstr(p, "[heap]") != nullptr;
    }
    have -= size_t(line - buffer);
    memmove(buffer, line, have);
  }
  syscall(SYS_close, fd);
  space.consider(free, kHighest, behindHeap);
  return true;
}

// Free stretches that are to be kept so.
struct KeptSpace {
  static constexpr size_t kLeast = size_t{1} << 20;
  static constexpr uintptr_t kHeap = uintptr_t{1} << 30;  // that the heap may take
  uintptr_t begin;                                        // of the file
  uintptr_t end;
  AddressRange* kept;
  int most;
  int count = 0;

  void consider(uintptr_t from, uintptr_t to, bool) {
    // Above a file there is the heap, or the stack; only where there is hardly anything below, a part of it is taken.
    bool above = from >= begin && begin < kReach;
    uintptr_t lowest = above ? end + kHeap : end > kReach ? end - kReach : 0;
    uintptr_t highest = above ? begin + kReach : begin;
    if (from < lowest) from = (lowest + kPage - 1) & -kPage;
    if (to > highest) to = highest & -kPage;
    if (from >= to || to - from < kLeast || count == most) return;
    kept[count++] = {from, to};
  }
};

}  // namespace

int keepFree(uintptr_t begin, uintptr_t end, AddressRange* kept, int most) {
  KeptSpace space{begin, end, kept, most};
  if (!considerAll(space)) return 0;
  int count = 0;
  for (int n = 0; n < space.count; ++n) {
    size_t size = kept[n].end - kept[n].begin;
    long p = syscall(SYS_mmap, kept[n].begin, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (uintptr_t(p) == kept[n].begin)
      kept[count++] = kept[n];
    else if (p != -1)
      syscall(SYS_munmap, p, size);  // a kernel older than the flag
  }
  return count;
}

uintptr_t mapNear(uintptr_t begin, uintptr_t end, size_t size) {
  if (end - begin > kReach || size > kReach) return 0;
  // Another thread may take the space in between.
  for (int attempt = 0; attempt < 8; ++attempt) {
    FreeSpace space{end > kReach ? (end - kReach + kPage - 1) & -kPage : 0, (begin + kReach) & -kPage, begin, size};
    if (!considerAll(space)) return 0;
    uintptr_t chosen = space.below != 0 ? space.below : space.above;
    if (chosen == 0) return 0;
    long p = syscall(SYS_mmap, chosen, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                     -1, 0);
    if (uintptr_t(p) == chosen) return chosen;
    if (p != -1) syscall(SYS_munmap, p, size);  // a kernel older than the flag
  }
  return 0;
}

}  // namespace blackout::rt
