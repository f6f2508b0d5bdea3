// A vector of buffers that the kernel is to read, in a trapped program: parts that lie in protected PM are given where
// they can be read. What a restart hands over has been observed by the caller.
#pragma once

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

class ReadableParts {
 public:
  ReadableParts(const iovec* parts, int count) : parts_(parts) {
    if (!trapping) return;
    size_t size = 0;
    bool pm = count > 0 && mayBePm(parts, size_t(count) * sizeof *parts);
    for (int i = 0; i < count; ++i) {
      pm |= mayBePm(parts[i].iov_base, parts[i].iov_len);
      size += parts[i].iov_len;
    }
    if (!pm) return;
    size_t list = size_t(count) * sizeof(iovec);
    long p = syscall(SYS_mmap, nullptr, list + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
    if (p == -1) return;
    size_ = list + size;
    auto* made = reinterpret_cast<iovec*>(p);
    auto* room = reinterpret_cast<char*>(p) + list;
    Scope scope;
    for (int i = 0; i < count; ++i) {
      made[i] = parts[i];
      if (!mayBePm(parts[i].iov_base, parts[i].iov_len)) continue;
      readThrough(room, reinterpret_cast<uintptr_t>(parts[i].iov_base), parts[i].iov_len);
      made[i].iov_base = room;
      room += parts[i].iov_len;
    }
    parts_ = made;
  }
  ~ReadableParts() {
    if (size_ != 0) syscall(SYS_munmap, parts_, size_);
  }
  ReadableParts(const ReadableParts&) = delete;
  ReadableParts& operator=(const ReadableParts&) = delete;
  const iovec* get() const { return parts_; }

 private:
  const iovec* parts_;
  size_t size_ = 0;
};

}  // namespace blackout::rt
