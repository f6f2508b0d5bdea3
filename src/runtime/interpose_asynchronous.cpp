// POSIX asynchronous input and output. libc's own threads read and write for the program, with all signals blocked, so
// what they do to PM can't be followed. Where a request is for a pool file or for a buffer in PM, the caller makes it,
// at once: a request may end as early as that.

#include <aio.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"

using namespace blackout::rt;

namespace {

bool isForUs(const aiocb* asked) {
  return asked != nullptr && inRun() &&
         (isPoolDescriptor(asked->aio_fildes) || mayBePm(const_cast<void*>(asked->aio_buf), asked->aio_nbytes));
}

struct Notice {
  sigevent event;
  uint32_t taken;
};
void* callBack(void* argument) {
  auto* notice = static_cast<Notice*>(argument);
  sigevent event = notice->event;
  __atomic_store_n(&notice->taken, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &notice->taken, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  event.sigev_notify_function(event.sigev_value);
  return nullptr;
}

void tell(const sigevent& event) {
  if (event.sigev_notify == SIGEV_SIGNAL) {
    siginfo_t info{};
    info.si_signo = event.sigev_signo;
    info.si_code = SI_ASYNCIO;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value = event.sigev_value;
    syscall(SYS_rt_sigqueueinfo, syscall(SYS_getpid), event.sigev_signo, &info);
  } else if (event.sigev_notify == SIGEV_THREAD) {
    Notice notice{event, 0};
    pthread_t thread;
    const auto* attributes = static_cast<const pthread_attr_t*>(event.sigev_notify_attributes);
    if (pthread_create(&thread, attributes, callBack, &notice) != 0) return;
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
    if (state == PTHREAD_CREATE_JOINABLE) pthread_detach(thread);
    while (__atomic_load_n(&notice.taken, __ATOMIC_ACQUIRE) == 0)
      syscall(SYS_futex, &notice.taken, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }
}

void finish(aiocb* asked, ssize_t result) {
  asked->__return_value = result;
  __atomic_store_n(&asked->__error_code, result < 0 ? errno : 0, __ATOMIC_RELEASE);
}

// Not yet told to the program. A descriptor that has no offsets (a pipe) is read and written as it comes.
void make(aiocb* asked, bool writes) {
  auto* buffer = const_cast<void*>(asked->aio_buf);
  ssize_t n = writes ? pwrite(asked->aio_fildes, buffer, asked->aio_nbytes, asked->aio_offset)
                     : pread(asked->aio_fildes, buffer, asked->aio_nbytes, asked->aio_offset);
  if (n < 0 && errno == ESPIPE)
    n = writes ? write(asked->aio_fildes, buffer, asked->aio_nbytes)
               : read(asked->aio_fildes, buffer, asked->aio_nbytes);
  finish(asked, n);
}

int makeAndTell(aiocb* asked, bool writes) {
  int before = errno;
  make(asked, writes);
  tell(asked->aio_sigevent);
  errno = before;
  return 0;
}

}  // namespace

BLACKOUT_EXPORT int aio_read(aiocb* asked) noexcept {
  return isForUs(asked) ? makeAndTell(asked, false) : BLACKOUT_REAL_VERSION(aio_read, "GLIBC_2.34")(asked);
}
BLACKOUT_EXPORT int aio_write(aiocb* asked) noexcept {
  return isForUs(asked) ? makeAndTell(asked, true) : BLACKOUT_REAL_VERSION(aio_write, "GLIBC_2.34")(asked);
}

// Those that are ours are made one by one, and libc is given the others, if there are any; it skips what is null.
BLACKOUT_EXPORT int lio_listio(int mode, aiocb* const list[], int count, sigevent* event) noexcept {
  constexpr int kMost = 1024;
  aiocb* rest[kMost];
  auto isOurs = [&](int i) { return list[i] != nullptr && list[i]->aio_lio_opcode != LIO_NOP && isForUs(list[i]); };
  int first = 0;
  while (first < count && !isOurs(first)) ++first;
  if (first >= count) return BLACKOUT_REAL_VERSION(lio_listio, "GLIBC_2.34")(mode, list, count, event);
  if (count > kMost) {
    errno = EINVAL;
    return -1;
  }
  bool failed = false, others = false;
  for (int i = 0; i < count; ++i) {
    bool ours = isOurs(i);
    rest[i] = ours ? nullptr : list[i];
    others |= rest[i] != nullptr;
    if (!ours) continue;
    makeAndTell(list[i], list[i]->aio_lio_opcode == LIO_WRITE);
    failed |= list[i]->__error_code != 0;
  }
  if (others && BLACKOUT_REAL_VERSION(lio_listio, "GLIBC_2.34")(mode, rest, count, event) != 0) return -1;
  if (!others && mode == LIO_NOWAIT && event != nullptr) tell(*event);
  if (mode == LIO_WAIT && failed) {
    errno = EIO;
    return -1;
  }
  return 0;
}

BLACKOUT_EXPORT int aio_read64(aiocb64* asked) noexcept { return aio_read(reinterpret_cast<aiocb*>(asked)); }
BLACKOUT_EXPORT int aio_write64(aiocb64* asked) noexcept { return aio_write(reinterpret_cast<aiocb*>(asked)); }
BLACKOUT_EXPORT int lio_listio64(int mode, aiocb64* const list[], int count, sigevent* event) noexcept {
  return lio_listio(mode, reinterpret_cast<aiocb* const*>(list), count, event);
}
