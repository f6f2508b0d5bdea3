// Requests to read into PM, and to write to the file of a pool: a signal, a call or nothing says that they are done.
#include <aio.h>
#include <emmintrin.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "Inputs/pool.h"

static volatile sig_atomic_t signalled;
static volatile int called;
static void onSignal(int s, siginfo_t* info, void* context) {
  (void)s, (void)context;
  signalled = info->si_value.sival_int;
}
static void onCall(union sigval value) { __atomic_store_n(&called, value.sival_int, __ATOMIC_RELEASE); }

static int waitFor(struct aiocb* a, ssize_t n) {
  const struct aiocb* list[] = {a};
  while (aio_error(a) == EINPROGRESS)
    if (aio_suspend(list, 1, NULL) != 0 && errno != EINTR) return 0;  // the signal may come meanwhile
  return aio_error(a) == 0 && aio_return(a) == n;
}

int main(int argc, char** argv) {
  (void)argc;
  int made = access(argv[1], F_OK) == 0;
  char* pool = mapPool(argv[1], 4096);
  volatile uint64_t* commit = (volatile uint64_t*)pool;
  if (made) return *commit == 1 && memcmp(pool + 0x40, "abcdefgh", 8) != 0 ? 7 : 0;
  int right = strcmp(argv[2], "right") == 0;
  int file = open("input", O_RDONLY);
  struct sigaction action = {.sa_sigaction = onSignal, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, NULL);
  struct aiocb first = {.aio_fildes = file, .aio_buf = pool + 0x40, .aio_nbytes = 8};
  first.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
  first.aio_sigevent.sigev_signo = SIGUSR1;
  first.aio_sigevent.sigev_value.sival_int = 5;
  if (aio_read(&first) != 0 || !waitFor(&first, 8)) return 3;
  while (signalled != 5) usleep(100);
  struct aiocb second = {.aio_fildes = file, .aio_buf = pool + 0x80, .aio_nbytes = 8, .aio_offset = 8};
  second.aio_sigevent.sigev_notify = SIGEV_THREAD;
  second.aio_sigevent.sigev_notify_function = onCall;
  second.aio_sigevent.sigev_value.sival_int = 6;
  if (aio_read(&second) != 0 || !waitFor(&second, 8)) return 4;
  while (__atomic_load_n(&called, __ATOMIC_ACQUIRE) != 6) usleep(100);
  // One of ours, one of libc's.
  char text[8];
  struct aiocb third = {
      .aio_fildes = file, .aio_buf = pool + 0xc0, .aio_nbytes = 8, .aio_offset = 16, .aio_lio_opcode = LIO_READ};
  struct aiocb fourth = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 8, .aio_lio_opcode = LIO_READ};
  struct aiocb* list[] = {&third, NULL, &fourth};
  if (lio_listio(LIO_WAIT, list, 3, NULL) != 0 || aio_return(&third) != 8 || aio_return(&fourth) != 8) return 5;
  if (memcmp(text, "abcdefgh", 8) != 0) return 5;
  struct aiocb last = {.aio_fildes = open(argv[1], O_RDWR), .aio_buf = "text", .aio_nbytes = 4, .aio_offset = 0x100};
  if (aio_write(&last) != 0 || !waitFor(&last, 4)) return 6;
  if (right) _mm_clflush(pool + 0x40);
  _mm_sfence();
  *commit = 1;
  _mm_clflush(pool);
  _mm_sfence();
  return 0;
}
