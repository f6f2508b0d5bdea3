#include "runtime/generated_code.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

namespace {

struct Stretch {
  uintptr_t begin;
  uintptr_t end;
};
constexpr int kMaxStretches = 64;
Stretch writable[kMaxStretches];
int writableCount = 0;

// sfence, mfence, clflush, clflushopt or clwb, or what looks like one.
bool ordering(const uint8_t* p) {
  return p[0] == 0x0f && p[1] == 0xae && (p[2] >= 0xf0 || (p[2] < 0xc0 && (p[2] & 0x38) >= 0x30));
}

// A system call: the instruction, after one that gives eax a number.
bool calling(const uint8_t* begin, const uint8_t* p) {
  constexpr long kNear = 32;
  if (p[0] != 0x0f || p[1] != 0x05) return false;
  for (long back = 5; back < kNear && p - back >= begin; ++back)
    if (p[-back] == 0xb8 && p[-back + 2] <= 1 && p[-back + 3] == 0 && p[-back + 4] == 0) return true;
  return false;
}

// It may be gone, or not readable, so the kernel reads it.
void lookAt(const Stretch& stretch) {
  uint8_t bytes[4096];
  for (uintptr_t at = stretch.begin; at < stretch.end; at += sizeof bytes - 2) {
    size_t size = stretch.end - at < sizeof bytes ? stretch.end - at : sizeof bytes;
    iovec to{bytes, size};
    iovec from{reinterpret_cast<void*>(at), size};
    long n = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1L, &from, 1L, 0L);
    for (long i = 0; i + 3 <= n; ++i)
      if (ordering(bytes + i))
        return unfollowed("code that it made at run time may flush or fence, which is not followed", true);
    for (long i = 0; i + 2 <= n; ++i)
      if (calling(bytes, bytes + i))
        return unfollowed("code that it made at run time makes system calls, which are not followed");
    if (n < long(size)) return;
  }
}

__attribute__((destructor)) void lookAtWritable() {
  if (!recordsEvents()) return;
  for (int i = 0; i < writableCount; ++i) lookAt(writable[i]);
}

}  // namespace

void noteExecutable(const void* at, size_t size, bool stays) {
  if (!recordsEvents()) return;
  auto begin = reinterpret_cast<uintptr_t>(at);
  if (!stays) return lookAt({begin, begin + size});
  Scope scope;
  if (!scope.nested && writableCount < kMaxStretches) writable[writableCount++] = {begin, begin + size};
}

}  // namespace blackout::rt
