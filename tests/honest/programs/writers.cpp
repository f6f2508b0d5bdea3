// Ways in which a program may write persistent memory. Each is followed by its own flush and fence in the right
// version, by nothing in the bug.
#include <arpa/inet.h>
#include <asm/prctl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <iconv.h>
#include <immintrin.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <memory_resource>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ways.h"

#ifdef WITH_LIBRARIES
#include <zlib.h>
#endif

extern "C" Writer find_writer(const char* name) { return Way<Writer>::find(name); }

// Something to copy from, that no compiler knows. No two neighbours are alike, and none is 0.
static const char* some_bytes() {
  static char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<char>(1 + i % 251);
  asm volatile("" : : "r"(bytes) : "memory");
  return bytes;
}
static const char* some_text(size_t length) {
  static char text[4096];
  for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
  text[length] = 0;
  asm volatile("" : : "r"(text) : "memory");
  return text;
}
template <typename T>
static T* in_area(Pool* p, size_t offset = 0) {
  return reinterpret_cast<T*>(p->area + offset);
}

// Plain stores.
WRITER(direct) {
  *in_area<volatile uint64_t>(p) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(direct1) {
  *in_area<volatile char>(p) = 47;
  WRITTEN(p->area, 1);
}
WRITER(direct2) {
  *in_area<volatile uint16_t>(p) = 4711;
  WRITTEN(p->area, 2);
}
WRITER(direct4) {
  *in_area<volatile uint32_t>(p) = 4711;
  WRITTEN(p->area, 4);
}
WRITER(across_lines) {
  *in_area<volatile uint64_t>(p, 60) = 0x4711471147114711;
  WRITTEN(p->area + 60, 8);
}
WRITER(across_pages) {
  *in_area<volatile uint64_t>(p, 4092) = 0x4711471147114711;
  WRITTEN(p->area + 4092, 8);
}
WRITER(long_double) {
  *in_area<volatile long double>(p) = 3.25L;
  WRITTEN(p->area, 10);
}
WRITER(bit_field) {
  struct Fields {
    unsigned a : 3, b : 9;
  };
  in_area<volatile Fields>(p)->b = 300;
  WRITTEN(p->area, 2);
}
template <size_t N>
struct Bytes {
  char bytes[N];
};
WRITER(struct_48) {
  *in_area<Bytes<48>>(p) = *reinterpret_cast<const Bytes<48>*>(some_bytes());
  WRITTEN(p->area, 48);
}
WRITER(struct_200) {
  *in_area<Bytes<200>>(p) = *reinterpret_cast<const Bytes<200>*>(some_bytes());
  WRITTEN(p->area, 200);
}
// Copies of N bytes.
static size_t size_of(long number) { return static_cast<size_t>(number); }
WRITER(memcpy) {
  memcpy(p->area, some_bytes(), size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(memcpy_across) {
  memcpy(p->area + 61, some_bytes(), size_of(number));
  WRITTEN(p->area + 61, size_of(number));
}
WRITER(memcpy_but_last_line) {
  // The bug: the last line of the copy is not flushed.
  memcpy(p->area + 8, some_bytes(), size_of(number));
  persist(p->area + 8, right ? size_of(number) : size_of(number) - 64);
  return {p->area + 8, size_of(number)};
}
WRITER(memmove) {
  memmove(p->area, some_bytes(), size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(memset) {
  int value = 0x2a;
  asm volatile("" : "+r"(value));
  memset(p->area, value, size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(mempcpy) {
  mempcpy(p->area, some_bytes(), size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(memccpy) {
  memccpy(p->area, some_bytes(), 200, size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(bcopy) {
  bcopy(some_bytes(), p->area, size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(swab) {
  swab(some_bytes(), p->area, number);
  WRITTEN(p->area, size_of(number));
}
WRITER(wmemcpy) {
  wmemcpy(in_area<wchar_t>(p), reinterpret_cast<const wchar_t*>(some_bytes()), size_of(number));
  WRITTEN(p->area, 4 * size_of(number));
}
WRITER(strcpy) {
  strcpy(p->area, some_text(size_of(number)));
  WRITTEN(p->area, size_of(number));
}
WRITER(stpcpy) {
  stpcpy(p->area, some_text(size_of(number)));
  WRITTEN(p->area, size_of(number));
}
WRITER(strncpy) {
  strncpy(p->area, some_text(size_of(number)), size_of(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(strcat) {
  strcat(p->area, some_text(size_of(number)));
  WRITTEN(p->area, size_of(number));
}
WRITER(strncat) {
  strncat(p->area, some_text(size_of(number)), 20);
  WRITTEN(p->area, 20);
}

// Other functions of libc that write.
WRITER(snprintf) {
  snprintf(p->area, 100, "%d-%s", 4711, "cologne");
  WRITTEN(p->area, 12);
}
WRITER(sprintf) {
  sprintf(p->area, "%ld", 4711L + number);
  WRITTEN(p->area, 4);
}
WRITER(sscanf_number) {
  if (sscanf("4711 rest", "%d", in_area<int>(p)) != 1) abort();
  WRITTEN(p->area, 4);
}
WRITER(sscanf_text) {
  if (sscanf("alpha rest", "%99s", p->area) != 1) abort();
  WRITTEN(p->area, 5);
}
WRITER(strtol_end) {
  static const char text[] = "4711 rest";
  strtol(text, in_area<char*>(p), 10);
  WRITTEN(p->area, 8);
}
WRITER(strtok_r) {
  static char text[] = "one two three";
  strtok_r(text, " ", in_area<char*>(p));
  WRITTEN(p->area, 8);
}
WRITER(frexp) {
  volatile double value = 4711;
  frexp(value, in_area<int>(p));
  WRITTEN(p->area, 4);
}
WRITER(modf) {
  volatile double value = 4711.25;
  modf(value, in_area<double>(p));
  WRITTEN(p->area, 8);
}
WRITER(qsort) {
  // What is sorted was durable before.
  int* numbers = in_area<int>(p);
  for (int i = 0; i < 16; ++i) static_cast<volatile int*>(numbers)[i] = 100 - i;
  persist(numbers, 64);
  qsort(numbers, 16, sizeof(int), [](const void* a, const void* b) {
    const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
    return (x > y) - (x < y);
  });
  WRITTEN(p->area, 64);
}
WRITER(fgets) {
  FILE* file = fmemopen(const_cast<char*>(some_text(50)), 50, "r");
  if (fgets(p->area, 100, file) == nullptr) abort();
  fclose(file);
  WRITTEN(p->area, 50);
}
WRITER(getline) {
  FILE* file = fmemopen(const_cast<char*>(some_text(50)), 50, "r");
  char* line = p->area;
  size_t size = 1000;
  if (getline(&line, &size, file) != 50 || line != p->area) abort();
  fclose(file);
  WRITTEN(p->area, 50);
}
WRITER(fread) {
  FILE* file = fopen("/proc/self/exe", "r");
  if (fread(p->area, size_of(number), 1, file) != 1) abort();
  fclose(file);
  WRITTEN_OF(p->area, 16, size_of(number));
}
WRITER(fgetc) {
  FILE* file = fopen("/proc/self/exe", "r");
  *in_area<volatile char>(p) = static_cast<char>(fgetc(file));
  fclose(file);
  WRITTEN(p->area, 1);
}
WRITER(strftime) {
  const time_t now = 1000000000;
  tm parts;
  gmtime_r(&now, &parts);
  strftime(p->area, 100, "%Y-%m-%d", &parts);
  WRITTEN(p->area, 10);
}
WRITER(gmtime_r) {
  const time_t now = 1000000000;
  gmtime_r(&now, in_area<tm>(p));
  WRITTEN(p->area, 36);
}
WRITER(strerror_r) {
  const char* text = strerror_r(ENOENT, p->area, 100);
  if (text != p->area) strcpy(p->area, text);
  WRITTEN(p->area, 7);
}
WRITER(inet_pton) {
  inet_pton(AF_INET, "1.2.3.4", p->area);
  WRITTEN(p->area, 4);
}
WRITER(mbstowcs) {
  mbstowcs(in_area<wchar_t>(p), "alpha", 10);
  WRITTEN(p->area, 20);
}
WRITER(realpath) {
  if (realpath("/proc/../usr", p->area) == nullptr) abort();
  WRITTEN(p->area, 4);
}
WRITER(random_r) {
  auto* data = in_area<random_data>(p);
  if (initstate_r(4711, p->area + 64, 128, data) != 0) abort();
  WRITTEN(p->area, 64 + 128);
}
WRITER(setjmp) {
  auto* buffer = in_area<jmp_buf>(p);
  if (setjmp(*buffer) != 0) abort();
  WRITTEN_OF(p->area, 64, sizeof(jmp_buf));
}
WRITER(getcontext) {
  getcontext(in_area<ucontext_t>(p));
  if (right) persist(p->area, sizeof(ucontext_t));
  return {&in_area<ucontext_t>(p)->uc_mcontext.gregs[REG_RSP], 16};
}
#ifdef WITH_LIBRARIES
WRITER(zlib) {
  uLongf size = 4096;
  if (compress(reinterpret_cast<Bytef*>(p->area), &size, reinterpret_cast<const Bytef*>(some_bytes()), 600) != Z_OK)
    abort();
  WRITTEN(p->area, size);
}
#endif

// System calls that write.
WRITER(time) {
  time(in_area<time_t>(p));
  WRITTEN(p->area, 8);
}
WRITER(clock_gettime) {
  clock_gettime(CLOCK_REALTIME, in_area<timespec>(p));
  WRITTEN(p->area, 8);
}
WRITER(clock_gettime_cpu) {
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, in_area<timespec>(p));
  WRITTEN(p->area + 8, 8);
}
WRITER(gettimeofday) {
  gettimeofday(in_area<timeval>(p), nullptr);
  WRITTEN(p->area, 8);
}
WRITER(stat) {
  if (stat("/", in_area<struct stat>(p)) != 0) abort();
  WRITTEN(p->area, sizeof(struct stat));
}
WRITER(fstat) {
  if (fstat(0, in_area<struct stat>(p)) != 0) abort();
  WRITTEN_OF(p->area, 32, sizeof(struct stat));
}
WRITER(getcwd) {
  if (getcwd(p->area, 4096) == nullptr) abort();
  WRITTEN(p->area, 4);
}
WRITER(uname) {
  if (uname(in_area<utsname>(p)) != 0) abort();
  WRITTEN_OF(p->area, 5, sizeof(utsname));
}
WRITER(gethostname) {
  if (gethostname(p->area, 100) != 0) abort();
  WRITTEN(p->area, 2);
}
WRITER(getrlimit) {
  if (getrlimit(RLIMIT_NOFILE, in_area<rlimit>(p)) != 0) abort();
  WRITTEN(p->area, 16);
}
WRITER(readlink) {
  if (readlink("/proc/self/exe", p->area, 100) <= 0) abort();
  WRITTEN(p->area, 4);
}
WRITER(getrandom) {
  if (getrandom(p->area, 16, 0) != 16) abort();
  WRITTEN(p->area, 16);
}
WRITER(pipe) {
  if (pipe(in_area<int>(p)) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(sigaction) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR1, nullptr, in_area<struct sigaction>(p));
  WRITTEN_OF(p->area, 8, sizeof(struct sigaction));
}
WRITER(read) {
  const int file = open("/proc/self/exe", O_RDONLY);
  if (read(file, p->area, size_of(number)) != number) abort();
  close(file);
  WRITTEN_OF(p->area, 16, size_of(number));
}
WRITER(readv) {
  const int file = open("/proc/self/exe", O_RDONLY);
  iovec parts[2] = {{p->area, 8}, {p->area + 8, 8}};
  if (readv(file, parts, 2) != 16) abort();
  close(file);
  WRITTEN(p->area, 16);
}
WRITER(read_raw) {
  const int file = open("/proc/self/exe", O_RDONLY);
  if (syscall(SYS_read, file, p->area, 16) != 16) abort();
  close(file);
  WRITTEN(p->area, 16);
}
WRITER(read_assembly) {
  const int file = open("/proc/self/exe", O_RDONLY);
  long result = SYS_read;
  asm volatile("syscall" : "+a"(result) : "D"(file), "S"(p->area), "d"(16) : "rcx", "r11", "memory");
  if (result != 16) abort();
  close(file);
  WRITTEN(p->area, 16);
}
WRITER(recv) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || send(ends[1], "alpha", 5, 0) != 5) abort();
  if (recv(ends[0], p->area, 100, 0) != 5) abort();
  WRITTEN(p->area, 5);
}
WRITER(recvmsg) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || send(ends[1], "alpha", 5, 0) != 5) abort();
  iovec part = {p->area, 100};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (recvmsg(ends[0], &message, 0) != 5) abort();
  WRITTEN(p->area, 5);
}
WRITER(recvmmsg) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) abort();
  if (send(ends[1], "alpha", 5, 0) != 5 || send(ends[1], "beta", 4, 0) != 4) abort();
  iovec parts[2] = {{p->area, 5}, {p->area + 5, 100}};
  mmsghdr messages[2] = {};
  for (int i = 0; i < 2; ++i) messages[i].msg_hdr.msg_iov = &parts[i], messages[i].msg_hdr.msg_iovlen = 1;
  if (recvmmsg(ends[0], messages, 2, MSG_WAITFORONE, nullptr) != 2 || messages[1].msg_len != 4) abort();
  WRITTEN(p->area, 9);
}
// The kernel writes both: the second word as it is told, a lock's with the number of its thread.
WRITER(futex_wake_op) {
  static int other = 0;
  auto* word = in_area<int>(p);
  syscall(SYS_futex, &other, FUTEX_WAKE_OP, 1, 1L, word, FUTEX_OP(FUTEX_OP_SET, 4711, FUTEX_OP_CMP_EQ, 1));
  WRITTEN(p->area, 4);
}
WRITER(futex_lock_pi) {
  if (syscall(SYS_futex, in_area<int>(p), FUTEX_TRYLOCK_PI, 0, nullptr, nullptr, 0) != 0) abort();
  WRITTEN(p->area, 4);
}
WRITER(poll) {
  auto* asked = in_area<pollfd>(p);
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "a", 1) != 1) abort();
  const_cast<volatile int&>(asked->fd) = ends[0];
  const_cast<volatile short&>(asked->events) = POLLIN;
  persist(asked, sizeof *asked);
  if (poll(asked, 1, 1000) != 1) abort();
  WRITTEN(&asked->revents, 2);
}
WRITER(waitpid) {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  waitpid(child, in_area<int>(p), 0);
  WRITTEN(p->area, 4);
}
WRITER(getsockopt) {
  const int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t size = 4;
  if (getsockopt(socket_, SOL_SOCKET, SO_TYPE, p->area, &size) != 0) abort();
  WRITTEN(p->area, 4);
}
WRITER(process_vm_writev) {
  iovec from = {const_cast<char*>(some_bytes()), 16}, to = {p->area, 16};
  if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != 16) abort();
  WRITTEN(p->area, 16);
}
WRITER(proc_self_mem) {
  const int memory = open("/proc/self/mem", O_RDWR);
  if (pwrite(memory, some_bytes(), 16, static_cast<off_t>(reinterpret_cast<uintptr_t>(p->area))) != 16) abort();
  close(memory);
  WRITTEN(p->area, 16);
}

// Into the pool's file.
static off_t offset_of(const Pool* p, const void* at) {
  return static_cast<const char*>(at) - reinterpret_cast<const char*>(p);
}
WRITER(pwrite) {
  const int file = open(g_pool_path, O_RDWR);
  if (pwrite(file, some_bytes(), 16, offset_of(p, p->area)) != 16) abort();
  if (right) fsync(file);
  close(file);
  return {p->area, 16};
}
WRITER(file_write) {
  const int file = open(g_pool_path, O_WRONLY);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  if (write(file, some_bytes(), 16) != 16) abort();
  close(file);
  WRITTEN(p->area, 16);
}
WRITER(file_writev) {
  const int file = open(g_pool_path, O_RDWR);
  iovec parts[2] = {{const_cast<char*>(some_bytes()), 8}, {const_cast<char*>(some_bytes()) + 8, 8}};
  if (pwritev(file, parts, 2, offset_of(p, p->area)) != 16) abort();
  if (right) fdatasync(file);
  close(file);
  return {p->area, 16};
}
WRITER(file_fwrite) {
  FILE* file = fopen(g_pool_path, "r+");
  fseek(file, offset_of(p, p->area), SEEK_SET);
  if (fwrite(some_bytes(), 16, 1, file) != 1) abort();
  fclose(file);
  WRITTEN(p->area, 16);
}
WRITER(file_fprintf) {
  FILE* file = fopen(g_pool_path, "r+");
  fseek(file, offset_of(p, p->area), SEEK_SET);
  fprintf(file, "%s", "alpha beta gamma");
  fflush(file);
  if (right) fsync(fileno(file));
  fclose(file);
  return {p->area, 16};
}
WRITER(file_dprintf) {
  const int file = open(g_pool_path, O_RDWR);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  dprintf(file, "%s", "alpha beta gamma");
  if (right) fsync(file);
  close(file);
  return {p->area, 16};
}
WRITER(file_sendfile) {
  const int file = open(g_pool_path, O_RDWR), other = open("/proc/self/exe", O_RDONLY);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  if (sendfile(file, other, nullptr, 16) != 16) abort();
  if (right) fsync(file);
  close(file);
  return {p->area, 16};
}
WRITER(file_splice) {
  int ends[2];
  const int file = open(g_pool_path, O_RDWR);
  loff_t offset = offset_of(p, p->area);
  if (pipe(ends) != 0 || write(ends[1], some_bytes(), 16) != 16) abort();
  if (splice(ends[0], nullptr, file, &offset, 16, 0) != 16) abort();
  if (right) fsync(file);
  close(file);
  return {p->area, 16};
}
WRITER(file_copy_range) {
  char name[] = "honest-XXXXXX";
  const int other = mkstemp(name), file = open(g_pool_path, O_RDWR);
  unlink(name);
  if (write(other, some_bytes(), 16) != 16) abort();
  loff_t from = 0, to = offset_of(p, p->area);
  if (copy_file_range(other, &from, file, &to, 16, 0) != 16) abort();
  if (right) fsync(file);
  close(file);
  return {p->area, 16};
}
WRITER(msync) {
  memcpy(p->area, some_bytes(), 16);
  if (right) msync(p->area, 4096, MS_SYNC);
  return {p->area, 16};
}
WRITER(fsync) {
  memcpy(p->area, some_bytes(), 16);
  if (right) {
    const int file = open(g_pool_path, O_RDWR);
    fsync(file);
    close(file);
  }
  return {p->area, 16};
}

// Other mappings and other names.
static Pool* map_again(const char* path, int open_flags) {
  const int file = open(path, open_flags);
  if (file < 0) abort();
  void* again = mmap(nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  close(file);
  if (again == MAP_FAILED) abort();
  return static_cast<Pool*>(again);
}
WRITER(map_twice) {
  Pool* again = map_again(g_pool_path, O_RDWR);
  memcpy(again->area, some_bytes(), 16);
  if (right) persist(again->area, 16);
  return {p->area, 16};
}
WRITER(map_twice_flush_other) {
  // A flush of the same line by its other address.
  Pool* again = map_again(g_pool_path, O_RDWR);
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(map_proc_fd) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", open(g_pool_path, O_RDWR));
  Pool* again = map_again(name, O_RDWR);
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(map_linked) {
  Pool* again = map_again("linked", O_RDWR);
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(map_hard_linked) {
  Pool* again = map_again("hard-linked", O_RDWR);
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(map_raw) {
  const long file = syscall(SYS_open, g_pool_path, O_RDWR);
  auto* again =
      reinterpret_cast<Pool*>(syscall(SYS_mmap, nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L));
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(map_assembly) {
  const long file = by_assembly(SYS_open, g_pool_path, O_RDWR, 0);
  const long again = by_assembly(SYS_mmap, 0, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (again < 0 && again > -4096) abort();
  memcpy(reinterpret_cast<Pool*>(again)->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(openat2_assembly) {
  open_how how = {};
  how.flags = O_RDWR;
  const long file = by_assembly(SYS_openat2, AT_FDCWD, g_pool_path, &how, sizeof how);
  const long again = by_assembly(SYS_mmap, 0, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (again < 0 && again > -4096) abort();
  memcpy(reinterpret_cast<Pool*>(again)->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(file_assembly) {
  const long file = by_assembly(SYS_openat, AT_FDCWD, g_pool_path, O_WRONLY, 0);
  if (by_assembly(SYS_pwrite64, file, some_bytes(), 16, offset_of(p, p->area)) != 16) abort();
  if (right) by_assembly(SYS_fsync, file);
  by_assembly(SYS_close, file);
  return {p->area, 16};
}
WRITER(looked_up_syscall) {
  // The C library's own, past every other function of the name.
  auto* call = reinterpret_cast<long (*)(long, ...)>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "syscall"));
  const long file = call(SYS_open, g_pool_path, O_RDWR);
  auto* again =
      reinterpret_cast<Pool*>(call(SYS_mmap, nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L));
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
// The same of any other function, as ctypes and the like do.
static void* in_libc(const char* name) { return dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name); }
WRITER(looked_up_map) {
  const int file = reinterpret_cast<int (*)(const char*, int)>(in_libc("open"))(g_pool_path, O_RDWR);
  auto* again = static_cast<Pool*>(reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(in_libc("mmap"))(
      nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  memcpy(again->area, some_bytes(), 16);
  WRITTEN(p->area, 16);
}
WRITER(looked_up_pwrite) {
  const int file = reinterpret_cast<int (*)(const char*, int)>(in_libc("open64"))(g_pool_path, O_RDWR);
  reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(in_libc("pwrite64"))(file, some_bytes(), 16,
                                                                                      offset_of(p, p->area));
  WRITTEN(p->area, 16);
}
WRITER(looked_up_version) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const int file = open(g_pool_path, O_RDWR);
  reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(dlvsym(libc, "pwrite64", "GLIBC_2.2.5"))(
      file, some_bytes(), 16, offset_of(p, p->area));
  WRITTEN(p->area, 16);
}
WRITER(looked_up_next) {
  const int file = open(g_pool_path, O_RDWR);
  reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(dlsym(RTLD_NEXT, "pwrite64"))(file, some_bytes(), 16,
                                                                                               offset_of(p, p->area));
  WRITTEN(p->area, 16);
}
extern "C" {
int __dprintf_chk(int, int, const char*, ...);
ssize_t pwritev64v2(int, const iovec*, int, off64_t, int);
}
WRITER(fortified_dprintf) {
  const int file = open(g_pool_path, O_RDWR);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  __dprintf_chk(file, 1, "%d of %d bottles", 47, 110);
  WRITTEN(p->area, 16);
}
WRITER(pwritev64v2) {
  const int file = open(g_pool_path, O_RDWR);
  iovec part = {const_cast<void*>(static_cast<const void*>(some_bytes())), 16};
  pwritev64v2(file, &part, 1, offset_of(p, p->area), 0);
  WRITTEN(p->area, 16);
}
// Other calls by which the kernel writes into memory.
WRITER(statx) {
  if (statx(AT_FDCWD, g_pool_path, 0, STATX_SIZE, in_area<struct statx>(p)) != 0) abort();
  WRITTEN_OF(&in_area<struct statx>(p)->stx_size, 8, sizeof(struct statx));
}
WRITER(epoll_wait) {
  const int set = epoll_create1(0);
  int ends[2];
  if (pipe(ends) != 0) abort();
  epoll_event wanted = {};
  wanted.events = EPOLLIN;
  wanted.data.u64 = 4711;
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted);
  if (write(ends[1], "x", 1) != 1 || epoll_wait(set, in_area<epoll_event>(p), 4, 1000) != 1) abort();
  WRITTEN(p->area, sizeof(epoll_event));
}
WRITER(ioctl) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "alpha", 5) != 5) abort();
  if (ioctl(ends[0], FIONREAD, p->area) != 0) abort();
  WRITTEN(p->area, 4);
}
WRITER(getdents) {
  const int folder = open(".", O_RDONLY | O_DIRECTORY);
  if (syscall(SYS_getdents64, folder, p->area, 1024) <= 0) abort();
  WRITTEN_OF(p->area + 16, 8, 1024);
}
WRITER(message_received) {
  const int queue = msgget(IPC_PRIVATE, 0600);
  const struct {
    long type;
    char text[16];
  } sent = {7, "alpha beta"};
  if (msgsnd(queue, &sent, 16, 0) != 0 || msgrcv(queue, p->area, 16, 0, 0) != 16) abort();
  msgctl(queue, IPC_RMID, nullptr);
  WRITTEN(p->area, 24);
}
WRITER(thread_name) {
  prctl(PR_SET_NAME, "a name of it");
  prctl(PR_GET_NAME, p->area);
  WRITTEN(p->area, 16);
}
WRITER(signal_info) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  raise(SIGUSR1);
  if (sigwaitinfo(&set, in_area<siginfo_t>(p)) != SIGUSR1) abort();
  WRITTEN_OF(p->area, 4, sizeof(siginfo_t));
}
WRITER(socket_name) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {AF_UNIX, "a-socket"};
  unlink("a-socket");
  if (bind(made, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) abort();
  socklen_t length = sizeof name;
  if (getsockname(made, in_area<sockaddr>(p), &length) != 0) abort();
  WRITTEN_OF(p->area + 2, 8, sizeof name);
}
WRITER(punch_hole) {
  // Bytes go instead of coming: zeroed by the file system, and stored again.
  const int file = open(g_pool_path, O_RDWR);
  const long offset = offset_of(p, p->more);
  if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, 4096) != 0) abort();
  *reinterpret_cast<volatile long*>(p->more) = 4711;
  WRITTEN(p->more, 8);
}
WRITER(iconv) {
  iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
  char text[] = "alpha beta", *from = text, *to = p->area;
  size_t left = 10, room = 64;
  if (iconv(converter, &from, &left, &to, &room) != 0) abort();
  iconv_close(converter);
  WRITTEN(p->area, 20);
}
// Libraries that are bound to libc's own functions.
static void write_by(void* library, const Pool* p) {
  if (library == nullptr) abort();
  auto* at = reinterpret_cast<char* (*)(const char*, size_t)>(dlsym(library, "helper_open"))(g_pool_path, kPoolSize);
  memcpy(at + offset_of(p, p->area), some_bytes(), 16);
}
WRITER(deep_binding) {
  write_by(dlopen("libhelper_open.so", RTLD_NOW | RTLD_DEEPBIND), p);
  WRITTEN(p->area, 16);
}
// Not every file system can do it, so programs have another way.
WRITER(exchange_names) {
  const int other = open("other", O_RDWR | O_CREAT, 0600);
  if (ftruncate(other, kPoolSize) != 0) abort();
  close(other);
  if (renameat2(AT_FDCWD, "other", AT_FDCWD, g_pool_path, RENAME_EXCHANGE) == 0) abort();
  *in_area<volatile uint64_t>(p) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(own_namespace) {
  write_by(dlmopen(LM_ID_NEWLM, "libhelper_open.so", RTLD_NOW), p);
  WRITTEN(p->area, 16);
}
WRITER(mremap) {
  void* moved = mremap(p, kPoolSize, kPoolSize, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(0x290000000000));
  memcpy(static_cast<Pool*>(moved)->area, some_bytes(), 16);
  if (right) persist(static_cast<Pool*>(moved)->area, 16);
  if (mremap(moved, kPoolSize, kPoolSize, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p) abort();
  return {p->area, 16};
}

// Of the C++ library.
WRITER(pmr_string) {
  std::pmr::monotonic_buffer_resource memory(p->area, 4096, std::pmr::null_memory_resource());
  auto* text = new (p->more) std::pmr::string("a string that is too long for the object itself", &memory);
  if (right) {
    persist(text, sizeof *text);
    persist(text->data(), text->size());
  }
  return {text->data(), text->size()};
}
WRITER(pmr_string_append) {
  std::pmr::monotonic_buffer_resource memory(p->area, 4096, std::pmr::null_memory_resource());
  std::pmr::string text(&memory);
  text.reserve(200);
  text.append(some_text(90));
  text += "and more";
  WRITTEN(text.data(), text.size());
}
template <typename T>
struct InArea {
  using value_type = T;
  char** top;
  explicit InArea(char** t) : top(t) {}
  template <typename U>
  InArea(const InArea<U>& other) : top(other.top) {}
  T* allocate(size_t n) {
    T* block = reinterpret_cast<T*>(*top);
    *top += n * sizeof(T);
    return block;
  }
  void deallocate(T*, size_t) {}
  bool operator==(const InArea&) const { return true; }
};
WRITER(vector) {
  char* top = p->area;
  std::vector<int, InArea<int>> numbers{InArea<int>(&top)};
  for (int i = 1; i <= 10; ++i) numbers.push_back(i);
  WRITTEN(numbers.data(), 40);
}
WRITER(vector_insert) {
  char* top = p->area;
  std::vector<int, InArea<int>> numbers({5, 6, 7, 8, 9}, InArea<int>(&top));
  numbers.reserve(100);
  numbers.insert(numbers.begin(), {1, 2, 3, 4});
  WRITTEN(numbers.data(), 36);
}
WRITER(std_sort) {
  int* numbers = in_area<int>(p);
  for (int i = 0; i < 16; ++i) static_cast<volatile int*>(numbers)[i] = 100 - i;
  persist(numbers, 64);
  std::sort(numbers, numbers + 16);
  WRITTEN(p->area, 64);
}
WRITER(std_copy) {
  std::copy(some_bytes(), some_bytes() + number, p->area);
  WRITTEN(p->area, size_of(number));
}
WRITER(std_fill) {
  std::fill_n(p->area, number, static_cast<char>(number));
  WRITTEN(p->area, size_of(number));
}
WRITER(stream_read) {
  std::istringstream stream(some_text(50));
  stream.read(p->area, 50);
  WRITTEN(p->area, 50);
}
WRITER(stream_number) {
  std::istringstream stream("4711");
  stream >> *in_area<int>(p);
  WRITTEN(p->area, 4);
}
WRITER(stream_getline) {
  std::istringstream stream(some_text(50));
  stream.getline(p->area, 100);
  WRITTEN(p->area, 50);
}
WRITER(to_chars) {
  std::to_chars(p->area, p->area + 100, 3.25);
  WRITTEN(p->area, 4);
}
WRITER(string_copy) {
  std::string(some_text(80)).copy(p->area, 80);
  WRITTEN(p->area, 80);
}

// Locks and what else pthread keeps.
WRITER(mutex_locked) {
  // Published while it is held: a restart must know that.
  auto* mutex = in_area<pthread_mutex_t>(p);
  pthread_mutex_lock(mutex);
  WRITTEN(mutex, 4);
}
WRITER(mutex_trylock) {
  auto* mutex = in_area<pthread_mutex_t>(p);
  if (pthread_mutex_trylock(mutex) != 0) abort();
  WRITTEN(mutex, 4);
}
WRITER(mutex_timedlock) {
  auto* mutex = in_area<pthread_mutex_t>(p);
  timespec until = {2000000000, 0};
  if (pthread_mutex_timedlock(mutex, &until) != 0) abort();
  WRITTEN(mutex, 4);
}
WRITER(mutex_init) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  auto* mutex = in_area<pthread_mutex_t>(p);
  pthread_mutex_init(mutex, &attributes);
  WRITTEN(&mutex->__data.__kind, 4);
}
static pthread_mutex_t* made_mutex(Pool* p, bool robust, bool shared) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (shared) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  auto* mutex = in_area<pthread_mutex_t>(p);
  pthread_mutex_init(mutex, &attributes);
  persist(mutex, sizeof *mutex);
  return mutex;
}
WRITER(mutex_robust) {
  pthread_mutex_t* mutex = made_mutex(p, true, true);
  pthread_mutex_lock(mutex);
  WRITTEN(mutex, 4);
}
WRITER(mutex_owner_ends) {
  // The kernel marks the lock of a thread that has ended.
  static pthread_mutex_t* mutex;
  mutex = made_mutex(p, true, false);
  std::thread([] { pthread_mutex_lock(mutex); }).join();
  if (pthread_mutex_lock(mutex) != EOWNERDEAD) abort();
  WRITTEN(mutex, 4);
}
WRITER(mutex_owner_exits) {
  // The same, of a process, by _exit.
  pthread_mutex_t* mutex = made_mutex(p, true, true);
  const pid_t child = fork();
  if (child == 0) {
    pthread_mutex_lock(mutex);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  if (pthread_mutex_lock(mutex) != EOWNERDEAD) abort();
  WRITTEN(mutex, 4);
}
WRITER(mutex_shared) {
  pthread_mutex_t* mutex = made_mutex(p, false, true);
  pthread_mutex_lock(mutex);
  WRITTEN(mutex, 4);
}
WRITER(std_mutex) {
  auto* mutex = in_area<std::mutex>(p);
  mutex->lock();
  WRITTEN(mutex, 4);
}
WRITER(mtx) {
  auto* mutex = in_area<mtx_t>(p);
  mtx_lock(mutex);
  WRITTEN(mutex, 4);
}
WRITER(spin_lock) {
  auto* lock = in_area<pthread_spinlock_t>(p, 8);
  pthread_spin_init(lock, 0);
  pthread_spin_lock(lock);
  *in_area<volatile int>(p) = 1;
  WRITTEN(p->area, 12);
}
WRITER(rwlock_write) {
  auto* lock = in_area<pthread_rwlock_t>(p);
  pthread_rwlock_wrlock(lock);
  WRITTEN(lock, 32);
}
WRITER(rwlock_read) {
  auto* lock = in_area<pthread_rwlock_t>(p);
  pthread_rwlock_rdlock(lock);
  WRITTEN(lock, 4);
}
WRITER(semaphore_init) {
  auto* semaphore = in_area<sem_t>(p);
  sem_init(semaphore, 1, 3);
  WRITTEN(semaphore, 4);
}
WRITER(semaphore_post) {
  auto* semaphore = in_area<sem_t>(p);
  sem_init(semaphore, 1, 3);
  persist(semaphore, sizeof *semaphore);
  sem_post(semaphore);
  WRITTEN(semaphore, 4);
}
WRITER(semaphore_wait) {
  auto* semaphore = in_area<sem_t>(p);
  sem_init(semaphore, 1, 3);
  persist(semaphore, sizeof *semaphore);
  sem_wait(semaphore);
  WRITTEN(semaphore, 4);
}
WRITER(condition_wait) {
  // A waiter leaves its traces in the condition variable.
  auto* condition = in_area<pthread_cond_t>(p);
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  timespec until = {1, 0};
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(condition, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  WRITTEN(condition, 8);
}
WRITER(once) {
  auto* once = in_area<pthread_once_t>(p);
  pthread_once(once, [] {});
  WRITTEN(once, 4);
}
WRITER(barrier_init) {
  auto* barrier = in_area<pthread_barrier_t>(p);
  pthread_barrier_init(barrier, nullptr, 3);
  WRITTEN(barrier, 12);
}
WRITER(key_create) {
  pthread_key_t unused;
  pthread_key_create(&unused, nullptr);
  pthread_key_create(in_area<pthread_key_t>(p), nullptr);
  WRITTEN(p->area, 4);
}
WRITER(thread_create) {
  auto* thread = in_area<pthread_t>(p);
  pthread_create(thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(*thread, nullptr);
  WRITTEN(thread, 8);
}
WRITER(thread_join) {
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* { return reinterpret_cast<void*>(4711); }, nullptr);
  pthread_join(thread, in_area<void*>(p));
  WRITTEN(p->area, 8);
}

// Atomics.
WRITER(fetch_add) {
  in_area<std::atomic<int>>(p)->fetch_add(7);
  WRITTEN(p->area, 4);
}
WRITER(fetch_or) {
  if (in_area<std::atomic<int>>(p)->fetch_or(7) == 4711) abort();
  WRITTEN(p->area, 4);
}
WRITER(cmpxchg) {
  int expected = 0;
  in_area<std::atomic<int>>(p)->compare_exchange_strong(expected, 7);
  WRITTEN(p->area, 4);
}
WRITER(exchange) {
  if (in_area<std::atomic<long>>(p)->exchange(4711) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(atomic_store) {
  in_area<std::atomic<long>>(p)->store(4711);
  WRITTEN(p->area, 8);
}
WRITER(cmpxchg16b) {
  uint64_t low = 0, high = 0;
  asm volatile("lock cmpxchg16b %2"
               : "+a"(low), "+d"(high), "+m"(*in_area<__int128>(p))
               : "b"(uint64_t{4711}), "c"(uint64_t{8888})
               : "cc");
  WRITTEN(p->area, 16);
}
WRITER(lock_bts) {
  asm volatile("lock btsl $5, %0" : "+m"(*in_area<int>(p)) : : "cc");
  WRITTEN(p->area, 4);
}

// Instructions.
WRITER(movnti) {
  // The bug: no fence between it and what publishes it. It needs no flush.
  _mm_stream_si32(in_area<int>(p), 4711);
  if (right) fence();
  return {p->area, 4};
}
WRITER(movntdq) {
  _mm_stream_si128(in_area<__m128i>(p), _mm_set1_epi32(4711));
  if (right) fence();
  return {p->area, 16};
}
__attribute__((target("avx"))) static void stream_avx(void* to) {
  _mm256_stream_si256(static_cast<__m256i*>(to), _mm256_set1_epi32(4711));
}
WRITER(vmovntdq) {
  stream_avx(p->area);
  if (right) fence();
  return {p->area, 32};
}
WRITER(maskmovdqu) {
  _mm_maskmoveu_si128(_mm_set1_epi8(47), _mm_set1_epi8(-1), p->area);
  if (right) fence();
  return {p->area, 16};
}
WRITER(sse) {
  _mm_storeu_si128(in_area<__m128i>(p), _mm_loadu_si128(reinterpret_cast<const __m128i*>(some_bytes())));
  WRITTEN(p->area, 16);
}
__attribute__((target("avx"))) static void store_avx(void* to, const void* from) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_loadu_si256(static_cast<const __m256i*>(from)));
}
WRITER(avx) {
  store_avx(p->area, some_bytes());
  WRITTEN(p->area, 32);
}
__attribute__((target("avx2"))) static void store_masked(int* to) {
  _mm256_maskstore_epi32(to, _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, -1, -1), _mm256_set1_epi32(4711));
}
WRITER(masked) {
  store_masked(in_area<int>(p));
  WRITTEN(p->area, 32);
}
__attribute__((target("avx512f"))) static void store_avx512(void* to, const void* from) {
  _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}
__attribute__((target("avx512f"))) static void scatter_avx512(int* to) {
  _mm512_i32scatter_epi32(to, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                          _mm512_set1_epi32(4711), 4);
}
__attribute__((target("avx512f"))) static void compress_avx512(int* to) {
  _mm512_mask_compressstoreu_epi32(to, 0x5555, _mm512_set1_epi32(4711));
}
WRITER(avx512) {
  store_avx512(p->area, some_bytes());
  WRITTEN(p->area, 64);
}
WRITER(scatter) {
  scatter_avx512(in_area<int>(p));
  WRITTEN(p->area, 64);
}
WRITER(compress_store) {
  compress_avx512(in_area<int>(p));
  WRITTEN(p->area, 32);
}
WRITER(rep_movsb) {
  void* to = p->area;
  const void* from = some_bytes();
  size_t count = size_of(number);
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  WRITTEN(p->area, size_of(number));
}
WRITER(rep_stosq) {
  void* to = p->area;
  size_t count = size_of(number);
  asm volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(4711L) : "memory");
  WRITTEN(p->area, 8 * size_of(number));
}
WRITER(assembly) {
  asm volatile("movq %1, (%0)" : : "r"(p->area), "r"(4711L) : "memory");
  WRITTEN(p->area, 8);
}
WRITER(assembly_add) {
  asm volatile("addl $7, %0" : "+m"(*in_area<int>(p)) : : "cc");
  WRITTEN(p->area, 4);
}
WRITER(fxsave) {
  asm volatile("fxsave (%0)" : : "r"(p->area) : "memory");
  WRITTEN_OF(p->area, 32, 512);
}
WRITER(setcc) {
  asm volatile("cmpl $0, %%esp; setne %0" : "=m"(*in_area<char>(p)) : : "cc");
  WRITTEN(p->area, 1);
}
WRITER(push) {
  // The stack pointer is in PM for one instruction.
  asm volatile("movq %%rsp, %%rbx; leaq 64(%0), %%rsp; pushq $4711; movq %%rbx, %%rsp"
               :
               : "r"(p->area)
               : "rbx", "memory");
  WRITTEN(p->area + 56, 8);
}
// Other flushes. What is missing in the bug is the flush; each is completed by a fence but for clflush.
WRITER(clflush) {
  *in_area<volatile long>(p) = 4711;
  if (right) asm volatile("clflush %0" : "+m"(p->area[0]));
  return {p->area, 8};
}
WRITER(clflushopt) {
  *in_area<volatile long>(p) = 4711;
  if (right) asm volatile("clflushopt %0; sfence" : "+m"(p->area[0]) : : "memory");
  return {p->area, 8};
}
WRITER(clwb_bytes) {
  *in_area<volatile long>(p) = 4711;
  if (right) asm volatile(".byte 0x66, 0x0f, 0xae, 0x30; sfence" : : "a"(p->area) : "memory");  // clwb (%rax)
  return {p->area, 8};
}
WRITER(clwb_mfence) {
  *in_area<volatile long>(p) = 4711;
  flush(p->area, 8);
  if (right) asm volatile("mfence" ::: "memory");
  return {p->area, 8};
}
WRITER(clwb_locked) {
  static int elsewhere;
  *in_area<volatile long>(p) = 4711;
  flush(p->area, 8);
  if (right) asm volatile("lock incl %0" : "+m"(elsewhere) : : "memory", "cc");
  return {p->area, 8};
}
WRITER(clwb_xchg) {
  // An exchange with memory locks by itself.
  static int elsewhere;
  int value = 5;
  *in_area<volatile long>(p) = 4711;
  flush(p->area, 8);
  if (right) asm volatile("xchgl %0, %1" : "+m"(elsewhere), "+r"(value) : : "memory");
  return {p->area, 8};
}
WRITER(wrong_line) {
  *in_area<volatile long>(p) = 4711;
  persist(right ? p->area : p->area + 64, 8);
  return {p->area, 8};
}
WRITER(flush_before) {
  if (!right) persist(p->area, 8);
  *in_area<volatile long>(p) = 4711;
  if (right) persist(p->area, 8);
  return {p->area, 8};
}

// By others.
static Pool* g_shared;
WRITER(thread) {
  std::thread([&] { memcpy(p->area, some_bytes(), 16); }).join();
  WRITTEN(p->area, 16);
}
WRITER(thread_snprintf) {
  std::thread([&] { snprintf(p->area, 100, "%d-%s", 4711, "cologne"); }).join();
  WRITTEN(p->area, 12);
}
WRITER(signal_handler) {
  g_shared = p;
  signal(SIGUSR1, [](int) { memcpy(g_shared->area, some_bytes(), 16); });
  raise(SIGUSR1);
  WRITTEN(p->area, 16);
}
WRITER(fork) {
  const pid_t child = fork();
  if (child == 0) {
    memcpy(p->area, some_bytes(), 16);
    if (right) persist(p->area, 16);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return {p->area, 16};
}
WRITER(fork_snprintf) {
  const pid_t child = fork();
  if (child == 0) {
    snprintf(p->area, 100, "%d-%s", 4711, "cologne");
    if (right) persist(p->area, 16);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return {p->area, 12};
}
WRITER(exec) {
  // The child publishes; so does its parent, once more.
  const pid_t child = fork();
  if (child == 0) {
    execl(g_program, g_program, g_pool_path, "write", "direct", right ? "right" : "bug", nullptr);
    _exit(98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) abort();
  return {p->area, 8};
}
static ucontext_t g_main_context, g_coroutine;
WRITER(coroutine) {
  static char stack[65536];
  g_shared = p;
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = sizeof stack;
  g_coroutine.uc_link = &g_main_context;
  makecontext(&g_coroutine, [] { memcpy(g_shared->area, some_bytes(), 16); }, 0);
  swapcontext(&g_main_context, &g_coroutine);
  WRITTEN(p->area, 16);
}

WRITER(handler_full_mask) {
  g_shared = p;
  struct sigaction action = {};
  action.sa_handler = [](int) { snprintf(g_shared->area, 100, "%d-%s", 4711, "cologne"); };
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  WRITTEN(p->area, 12);
}
WRITER(blocked_signals) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  snprintf(p->area, 100, "%d-%s", 4711, "cologne");
  WRITTEN(p->area, 12);
}
WRITER(close_all) {
  for (int i = 3; i < 2048; ++i) close(i);
  snprintf(p->area, 100, "%d-%s", 4711, "cologne");
  WRITTEN(p->area, 12);
}
WRITER(close_range) {
  close_range(3, ~0U, 0);
  snprintf(p->area, 100, "%d-%s", 4711, "cologne");
  WRITTEN(p->area, 12);
}
WRITER(vfork) {
  // The child works in our memory.
  const pid_t child = vfork();
  if (child == 0) {
    *in_area<volatile long>(p) = 4711;
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  WRITTEN(p->area, 8);
}
WRITER(orphan) {
  // A child that outlives the recorded run.
  if (fork() == 0)
    for (;;) pause();
  *in_area<volatile long>(p) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(signal_stack) {
  // The kernel would push its frame into PM.
  g_shared = p;
  stack_t alternate = {};
  alternate.ss_sp = p->more;
  alternate.ss_size = sizeof p->more;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) { *in_area<volatile long>(g_shared) = 4711; };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  WRITTEN(p->area, 8);
}
WRITER(timer) {
  // A handler at a moment that nobody knows.
  g_shared = p;
  static volatile sig_atomic_t done;
  signal(SIGALRM, [](int) {
    memcpy(g_shared->area, some_bytes(), 16);
    done = 1;
  });
  const itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  while (done == 0) {
  }
  WRITTEN(p->area, 16);
}
WRITER(generated_code) {
  // mov %rsi, (%rdi); ret
  static const unsigned char kCode[] = {0x48, 0x89, 0x37, 0xc3};
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kCode, sizeof kCode);
  reinterpret_cast<void (*)(void*, long)>(code)(p->area, 4711);
  WRITTEN(p->area, 8);
}
WRITER(generated_flush) {
  // clwb (%rdi); sfence; ret
  static const unsigned char kCode[] = {0x66, 0x0f, 0xae, 0x37, 0x0f, 0xae, 0xf8, 0xc3};
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kCode, sizeof kCode);
  *in_area<volatile long>(p) = 4711;
  if (right) reinterpret_cast<void (*)(void*)>(code)(p->area);
  return {p->area, 8};
}
WRITER(movsq_backwards) {
  void* to = p->area + 24;
  const void* from = some_bytes() + 24;
  size_t count = 4;
  asm volatile("std; rep movsq; cld" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  WRITTEN(p->area, 32);
}
WRITER(bts_far) {
  asm volatile("btsq %1, (%0)" : : "r"(p->area), "r"(long{4096 * 8 + 5}) : "memory", "cc");
  WRITTEN(p->area + 4096, 1);
}
WRITER(pop) {
  asm volatile("subq $128, %%rsp; pushq $4711; popq (%0); addq $128, %%rsp" : : "r"(p->area) : "memory", "cc");
  WRITTEN(p->area, 8);
}
WRITER(x87) {
  asm volatile("fld1; fstpt (%0)" : : "r"(p->area) : "memory");
  WRITTEN(p->area, 10);
}
WRITER(stmxcsr) {
  asm volatile("stmxcsr (%0)" : : "r"(p->area) : "memory");
  WRITTEN(p->area, 4);
}
WRITER(movbe) {
  asm volatile("movbe %1, (%0)" : : "r"(p->area), "r"(4711L) : "memory");
  WRITTEN(p->area, 8);
}
WRITER(xadd) {
  long value = 4711;
  asm volatile("xaddq %0, (%1)" : "+r"(value) : "r"(p->area) : "memory", "cc");
  WRITTEN(p->area, 8);
}
WRITER(xchg_without_lock) {
  long value = 4711;
  asm volatile("xchgq %0, (%1)" : "+r"(value) : "r"(p->area) : "memory");
  WRITTEN(p->area, 8);
}
WRITER(cmpxchg8b) {
  uint32_t low = 0, high = 0;
  asm volatile("lock cmpxchg8b (%2)" : "+a"(low), "+d"(high) : "r"(p->area), "b"(4711), "c"(8888) : "memory", "cc");
  WRITTEN(p->area, 8);
}

// What the kernel writes besides buffers, at addresses in structures, and more than a page.
WRITER(times) {
  memset(p->area, 0x55, sizeof(tms));
  persist(p->area, sizeof(tms));
  if (times(in_area<tms>(p)) == -1) abort();
  WRITTEN(p->area, sizeof(tms));
}
WRITER(getrusage) {
  if (getrusage(RUSAGE_SELF, in_area<rusage>(p)) != 0) abort();
  WRITTEN_WITHIN(p->area + offsetof(rusage, ru_maxrss), 8, p->area, sizeof(rusage));
}
WRITER(setitimer_old) {
  const itimerval later = {{0, 0}, {1000, 0}};
  setitimer(ITIMER_REAL, &later, nullptr);
  if (setitimer(ITIMER_REAL, &later, in_area<itimerval>(p)) != 0) abort();
  WRITTEN_WITHIN(p->area + 16, 16, p->area, sizeof(itimerval));
}
WRITER(getcpu) {
  memset(p->area, 0x55, 8);
  persist(p->area, 8);
  if (getcpu(in_area<unsigned>(p), in_area<unsigned>(p, 4)) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(signal_stack_old) {
  stack_t* before = in_area<stack_t>(p);
  before->ss_flags = 4711;
  persist(before, sizeof *before);
  if (sigaltstack(nullptr, before) != 0) abort();
  WRITTEN(&before->ss_flags, 4);
}
WRITER(statfs) {
  if (statfs("/proc", in_area<struct statfs>(p)) != 0) abort();
  WRITTEN_OF(p->area, 8, sizeof(struct statfs));
}
WRITER(lock_asked) {
  const int file = open("locked", O_CREAT | O_RDWR, 0600);
  struct flock* lock = in_area<struct flock>(p);
  lock->l_type = F_WRLCK;
  persist(lock, sizeof *lock);
  if (fcntl(file, F_GETLK, lock) != 0) abort();
  WRITTEN(p->area, 2);
}
WRITER(poll_many) {
  int ends[2];
  if (pipe(ends) != 0 || ::write(ends[1], "x", 1) != 1) abort();
  constexpr int kMany = 700;
  pollfd* asked = in_area<pollfd>(p);
  for (int i = 0; i < kMany; ++i) asked[i] = {ends[0], POLLIN, 0};
  persist(asked, kMany * sizeof *asked);
  if (poll(asked, kMany, -1) != kMany) abort();
  WRITTEN_WITHIN(&asked[kMany - 1].revents, 2, asked, kMany * sizeof *asked);
}
WRITER(epoll_many) {
  constexpr int kMany = 400;
  const int poller = epoll_create1(0);
  int ends[2];
  if (pipe(ends) != 0 || ::write(ends[1], "x", 1) != 1) abort();
  for (uint64_t i = 0; i < kMany; ++i) {
    epoll_event event = {EPOLLIN, {.u64 = 0x4711000000000000 + i}};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, dup(ends[0]), &event) != 0) abort();
  }
  if (epoll_wait(poller, in_area<epoll_event>(p), kMany, -1) != kMany) abort();
  WRITTEN_WITHIN(p->area + (kMany - 1) * sizeof(epoll_event), sizeof(epoll_event), p->area,
                 kMany * sizeof(epoll_event));
}
WRITER(message_large) {
  static struct {
    long type;
    char text[6000];
  } message = {1, {}};
  memcpy(message.text, some_bytes(), 4000);
  memcpy(message.text + 4000, some_bytes(), 2000);
  const int queue = msgget(IPC_PRIVATE, 0600);
  const bool done = msgsnd(queue, &message, sizeof message.text, 0) == 0 &&
                    msgrcv(queue, p->area, sizeof message.text, 0, 0) == sizeof message.text;
  msgctl(queue, IPC_RMID, nullptr);
  if (!done) abort();
  WRITTEN_WITHIN(p->area + 5000, 16, p->area, 6008);
}
static int program_file() { return open("/proc/self/exe", O_RDONLY); }
WRITER(sendfile_offset) {
  *in_area<volatile off_t>(p) = 100;
  persist(p->area, 8);
  int ends[2];
  if (pipe(ends) != 0 || sendfile(ends[1], program_file(), in_area<off_t>(p), 300) != 300) abort();
  WRITTEN(p->area, 8);
}
WRITER(splice_offset) {
  *in_area<volatile off_t>(p) = 100;
  persist(p->area, 8);
  int ends[2];
  if (pipe(ends) != 0 || splice(program_file(), in_area<off_t>(p), ends[1], nullptr, 300, 0) != 300) abort();
  WRITTEN(p->area, 8);
}
WRITER(copy_range_offset) {
  *in_area<volatile off_t>(p) = 100;
  persist(p->area, 8);
  const int to = open("copy", O_CREAT | O_RDWR | O_TRUNC, 0600);
  if (copy_file_range(program_file(), in_area<off_t>(p), to, nullptr, 300, 0) != 300) abort();
  WRITTEN(p->area, 8);
}
WRITER(parts_in_pm) {
  iovec* parts = in_area<iovec>(p, 256);
  parts[0] = {p->area, 8};
  parts[1] = {p->area + 8, 8};
  persist(parts, 2 * sizeof *parts);
  if (preadv(program_file(), parts, 2, 0) != 16) abort();
  WRITTEN(p->area, 16);
}
// A message with credentials beside it: the kernel says nothing where it can't store them.
WRITER(message_control) {
  int ends[2];
  const int on = 1;
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) abort();
  setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  char byte = 'x';
  if (send(ends[0], &byte, 1, 0) != 1) abort();
  iovec part = {&byte, 1};
  msghdr message = {};
  message.msg_control = p->area;
  message.msg_controllen = 100;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (recvmsg(ends[1], &message, 0) != 1) abort();
  WRITTEN(p->area, 16);
}
WRITER(message_header) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 || send(ends[0], "cologne", 7, 0) != 7) abort();
  static char text[2];
  iovec* part = in_area<iovec>(p, 256);
  *part = {text, sizeof text};
  auto* message = in_area<msghdr>(p);
  message->msg_iov = part;
  message->msg_iovlen = 1;
  persist(message, sizeof *message);
  persist(part, sizeof *part);
  if (recvmsg(ends[1], message, 0) != 2) abort();
  WRITTEN(&message->msg_flags, 4);  // the text was cut off
}
WRITER(task_number) {
  // The kernel stores the child's number, and says nothing where it can't.
  static char stack[65536];
  const int child =
      clone([](void*) { return 0; }, stack + sizeof stack, CLONE_PARENT_SETTID | SIGCHLD, nullptr, in_area<int>(p));
  waitpid(child, nullptr, 0);
  WRITTEN(p->area, 4);
}
WRITER(interface_list) {
  // At an address inside another structure: the call fails, and goes another way.
  ifconf list = {};
  list.ifc_len = 400;
  list.ifc_buf = p->area;
  if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFCONF, &list) != 0 || list.ifc_len == 0) memcpy(p->area, "none", 4);
  WRITTEN(p->area, 2);
}

// One string of assembly that stores twice, or in a way that only a fault tells.
WRITER(assembly_again) {
  asm volatile("movq $0x55, (%0); clwb (%0); sfence; movq $4711, (%0)" : : "r"(p->area) : "memory");
  WRITTEN(p->area, 8);
}
WRITER(assembly_operand_again) {
  asm volatile("movq $0x55, %0; clwb %0; sfence; movq $4711, %0" : "+m"(*in_area<long>(p)) : : "memory");
  WRITTEN(p->area, 8);
}
WRITER(assembly_twice) {
  asm volatile("movq $0x55, (%0); movq $4711, 4(%0)" : : "r"(p->area) : "memory");
  WRITTEN(p->area, 12);
}
WRITER(assembly_pointer) {
  asm volatile("movq $0x55, (%0); leaq 64(%0), %%rax; movq $4711, (%%rax)" : : "r"(p->area) : "memory", "rax");
  persist(p->area, 8);
  WRITTEN(p->area + 64, 8);
}
WRITER(movsl_four) {
  void* to = p->area;
  const void* from = some_bytes();
  asm volatile("movsl; movsl; movsl; movsl" : "+D"(to), "+S"(from) : : "memory");
  WRITTEN(p->area, 16);
}
// By a segment's base, which the program sets.
WRITER(segment_base) {
  syscall(SYS_arch_prctl, ARCH_SET_GS, p->area);
  asm volatile("movq %0, %%gs:16" : : "r"(4711L) : "memory");
  WRITTEN(p->area + 16, 8);
}
WRITER(movs_backwards) {
  void* to = p->area + 39;
  const void* from = some_bytes() + 39;
  size_t count = 40;
  asm volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  WRITTEN(p->area, 40);
}

// The pool lies where the program has memory of its own.
WRITER(over_static) {
  alignas(4096) static char memory[kPoolSize];
  const int file = open(g_pool_path, O_RDWR);
  if (mmap(memory, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) abort();
  *reinterpret_cast<volatile long*>(&memory[offsetof(Pool, area)]) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(over_stack) {
  alignas(4096) char memory[kPoolSize];
  const int file = open(g_pool_path, O_RDWR);
  if (mmap(memory, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) abort();
  *reinterpret_cast<volatile long*>(&memory[offsetof(Pool, area)]) = 4711;
  if (right) persist(p->area, 8);
  if (mmap(memory, kPoolSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    abort();
  return {p->area, 8};
}
WRITER(stream_to_file) {
  // libstdc++ calls write() itself.
  {
    std::fstream file(g_pool_path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(Pool, area));
    file.write(some_bytes(), 16);
  }
  WRITTEN(p->area, 16);
}
WRITER(stream_over) {
  struct Buffer : std::streambuf {
    Buffer(char* at, size_t size) { setp(at, at + size); }
  } buffer(p->area, 1000);
  std::ostream(&buffer) << 4711 << " cologne " << 2.5;
  WRITTEN(p->area, 16);
}
WRITER(memory_stream) {
  FILE* stream = open_memstream(in_area<char*>(p), in_area<size_t>(p, 8));
  fprintf(stream, "4711");
  fclose(stream);
  WRITTEN(p->area, 16);
}
WRITER(stream_buffer) {
  FILE* stream = fopen("/dev/null", "w");
  setvbuf(stream, p->area, _IOFBF, 1000);
  fprintf(stream, "4711 %s", "cologne");
  WRITTEN(p->area, 12);
}

// At the end of the program or of a thread, after which nobody else publishes.
static bool g_right;
static void write_late() {
  *in_area<volatile long>(g_shared) = 4711;
  if (g_right) persist(g_shared->area, 8);
  publish(g_shared, g_shared->area, 8);
}
static Written later(Pool* p, bool right) {
  g_shared = p;
  g_right = right;
  return {nullptr, 0};
}
struct Late {
  int used = 0;
  ~Late() { write_late(); }
};
WRITER(late_atexit) {
  atexit(write_late);
  return later(p, right);
}
WRITER(late_static) {
  static Late late;
  late.used = 1;
  return later(p, right);
}
WRITER(late_thread_local) {
  const Written written = later(p, right);
  std::thread([] {
    thread_local Late late;
    late.used = 1;
  }).join();
  return written;
}
WRITER(late_key) {
  const Written written = later(p, right);
  static pthread_key_t key;
  pthread_key_create(&key, [](void*) { write_late(); });
  std::thread([] { pthread_setspecific(key, g_shared); }).join();
  return written;
}
WRITER(late_cancelled) {
  const Written written = later(p, right);
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        Late late;
        for (;;) pause();
      },
      nullptr);
  usleep(10000);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  return written;
}
WRITER(late_daemon) {
  if (daemon(1, 1) != 0) abort();
  *in_area<volatile long>(p) = 4711;
  WRITTEN(p->area, 8);
}
// Signals of the program's own.
WRITER(write_barrier) {
  // Pages that are written are told by faults.
  g_shared = p;
  struct sigaction action = {};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    const auto begin = reinterpret_cast<uintptr_t>(g_shared);
    if (at < begin || at >= begin + kPoolSize) _exit(66);
    mprotect(reinterpret_cast<void*>(at & ~uintptr_t{4095}), 4096, PROT_READ | PROT_WRITE);
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  mprotect(p->area, sizeof p->area, PROT_READ);
  *in_area<volatile long>(p) = 4711;
  memcpy(p->area + 4096, some_bytes(), 100);
  persist(p->area + 4096, 100);
  WRITTEN(p->area, 8);
}
WRITER(own_filter) {
  // A seccomp filter of its own, whose signal is its own as well.
  g_shared = p;
  struct sigaction action = {};
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    *in_area<volatile long>(g_shared) = 4711;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = 0;
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  static sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) abort();
  syscall(SYS_getpriority, 0, 0);
  if (*in_area<volatile long>(p) != 4711) abort();
  WRITTEN(p->area, 8);
}

// The stack that the program has given for its signals is small, and what lies below it is the program's.
WRITER(load_small_stack) {
  static char room[3 << 14];
  memset(room, 0x47, sizeof room);
  stack_t small = {};
  small.ss_sp = room + (1 << 15);
  small.ss_size = 1 << 14;
  if (sigaltstack(&small, nullptr) != 0) abort();
  for (const char* name : {"libresolv.so.2", "libthread_db.so.1", "libhelper_clwb.so"}) {
    void* library = dlopen(name, RTLD_LAZY);
    if (library == nullptr || dlclose(library) != 0) abort();
  }
  for (int i = 0; i < 1 << 15; ++i)
    if (room[i] != 0x47) abort();
  *in_area<volatile long>(p) = 4711;
  WRITTEN(p->area, 8);
}

// What libraries write at addresses that they are given.
WRITER(insque) {
  struct Element {
    Element *next, *before;
  };
  auto* first = in_area<Element>(p);
  insque(first, nullptr);
  insque(first + 1, first);
  WRITTEN(p->area, 32);
}
WRITER(lsearch) {
  static long sought = 4711;
  size_t count = 0;
  lsearch(&sought, p->area, &count, sizeof sought, [](const void* a, const void* b) {
    return int(*static_cast<const long*>(a) != *static_cast<const long*>(b));
  });
  WRITTEN(p->area, 8);
}
WRITER(strptime) {
  if (strptime("2024-02-29 12:34:56", "%Y-%m-%d %H:%M:%S", in_area<tm>(p)) == nullptr) abort();
  WRITTEN_WITHIN(p->area + 4, 16, p->area, sizeof(tm));
}
WRITER(nrand48) {
  auto* state = in_area<unsigned short>(p);
  nrand48(state);
  WRITTEN(p->area, 6);
}
WRITER(sincos) {
  volatile double angle = 0.75;
  sincos(angle, in_area<double>(p), in_area<double>(p, 8));
  WRITTEN(p->area, 16);
}
WRITER(remquo) {
  volatile double value = 29;
  memset(p->area, 0x55, 4);
  persist(p->area, 4);
  remquo(value, 3, in_area<int>(p));
  WRITTEN(p->area, 4);
}
WRITER(getpwuid) {
  passwd found, *there = nullptr;
  if (getpwuid_r(0, &found, p->area, 1024, &there) != 0 || there == nullptr) abort();
  WRITTEN_OF(p->area, 4, 1024);
}
WRITER(swprintf) {
  swprintf(in_area<wchar_t>(p), 16, L"%d", 4711);
  WRITTEN(p->area, 20);
}
WRITER(memfrob) {
  memset(p->area, 0x55, 64);
  persist(p->area, 64);
  memfrob(p->area, 40);
  WRITTEN(p->area, 40);
}
WRITER(list_node) {
  // Nodes that the C++ library links, in code of its own.
  static std::pmr::monotonic_buffer_resource memory(p->area, 4096, std::pmr::null_memory_resource());
  auto* list = new (memory.allocate(sizeof(std::pmr::list<long>))) std::pmr::list<long>(&memory);
  list->push_back(1);
  persist(p->area, 4096);
  list->push_back(4711);
  WRITTEN_OF(list, sizeof *list, 4096);
}
WRITER(map_node) {
  static std::pmr::monotonic_buffer_resource memory(p->area, 4096, std::pmr::null_memory_resource());
  auto* map = new (memory.allocate(sizeof(std::pmr::map<long, long>))) std::pmr::map<long, long>(&memory);
  (*map)[4] = 1;
  persist(p->area, 4096);
  (*map)[3] = 4711;
  WRITTEN_OF(map, sizeof *map, 4096);
}
WRITER(regex_replace) {
  const char* from = some_text(20);
  std::regex_replace(p->area, from, from + 20, std::regex("b.d"), "47");
  WRITTEN(p->area, 19);
}
WRITER(path_copy) {
  std::filesystem::path("/alpha/beta/gamma.txt").replace_extension().string().copy(p->area, 64);
  WRITTEN(p->area, 17);
}

// Calls of the system that write at addresses they are given.
WRITER(vmsplice_in) {
  // On the end that is read from it reads.
  int ends[2];
  if (pipe(ends) != 0 || ::write(ends[1], some_bytes(), 16) != 16) abort();
  const iovec part = {p->area, 16};
  if (vmsplice(ends[0], &part, 1, 0) != 16) abort();
  WRITTEN(p->area, 16);
}
WRITER(select) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  auto* asked = in_area<fd_set>(p);
  FD_ZERO(asked);
  FD_SET(ends[0], asked);
  FD_SET(ends[1], asked);
  persist(asked, sizeof *asked);
  timeval none = {0, 0};
  fd_set read_from;
  FD_ZERO(&read_from);
  if (select(64, &read_from, asked, nullptr, &none) != 1) abort();
  WRITTEN(p->area, 8);
}
WRITER(select_time) {
  timeval* left = in_area<timeval>(p);
  left->tv_sec = 1;
  left->tv_usec = 4711;
  persist(left, sizeof *left);
  int ends[2];
  if (pipe(ends) != 0) abort();
  fd_set asked;
  FD_ZERO(&asked);
  FD_SET(ends[1], &asked);
  if (select(64, nullptr, &asked, nullptr, left) != 1) abort();
  left->tv_sec = 3;
  WRITTEN(p->area, 8);
}
WRITER(getresuid) {
  memset(p->area, 0x55, 16);
  persist(p->area, 16);
  if (getresuid(in_area<uid_t>(p), in_area<uid_t>(p, 4), in_area<uid_t>(p, 8)) != 0) abort();
  WRITTEN(p->area, 12);
}
WRITER(getaffinity) {
  memset(p->area, 0x55, 128);
  persist(p->area, 128);
  if (sched_getaffinity(0, 128, in_area<cpu_set_t>(p)) != 0) abort();
  WRITTEN_OF(p->area, 8, 128);
}
WRITER(timer_create) {
  memset(p->area, 0x55, 8);
  persist(p->area, 8);
  sigevent event = {};
  event.sigev_notify = SIGEV_NONE;
  if (timer_create(CLOCK_MONOTONIC, &event, in_area<timer_t>(p)) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(timerfd_gettime) {
  const int file = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec later = {{4711, 0}, {5000, 0}};
  timerfd_settime(file, 0, &later, nullptr);
  if (timerfd_gettime(file, in_area<itimerspec>(p)) != 0) abort();
  WRITTEN_OF(p->area, 8, sizeof(itimerspec));
}
WRITER(signalfd) {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
  const int file = signalfd(-1, &asked, 0);
  raise(SIGUSR1);
  if (::read(file, p->area, sizeof(signalfd_siginfo)) != sizeof(signalfd_siginfo)) abort();
  WRITTEN_OF(p->area, 4, sizeof(signalfd_siginfo));
}
WRITER(sigpending) {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
  raise(SIGUSR1);
  if (sigpending(in_area<sigset_t>(p)) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(sigmask_old) {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
  if (sigprocmask(SIG_BLOCK, nullptr, in_area<sigset_t>(p)) != 0) abort();
  WRITTEN(p->area, 8);
}
WRITER(waitid) {
  const pid_t child = fork();
  if (child == 0) _exit(47);
  if (waitid(P_PID, id_t(child), in_area<siginfo_t>(p), WEXITED) != 0) abort();
  WRITTEN_WITHIN(p->area + 24, 4, p->area, sizeof(siginfo_t));
}
WRITER(mincore) {
  if (mincore(p, 4096, in_area<unsigned char>(p)) != 0) abort();
  p->area[1] = 47;
  WRITTEN(p->area, 2);
}
WRITER(getxattr) {
  const int file = open("attributed", O_CREAT | O_RDWR, 0600);
  if (fsetxattr(file, "user.blackout", "4711 alpha", 10, 0) != 0) abort();
  if (fgetxattr(file, "user.blackout", p->area, 64) != 10) abort();
  WRITTEN(p->area, 10);
}
WRITER(name_to_handle) {
  auto* handle = in_area<file_handle>(p);
  handle->handle_bytes = 128;
  persist(handle, 8);
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, "pool", handle, &mount, 0) != 0) abort();
  WRITTEN_OF(p->area, 12, 136);
}
WRITER(sysinfo) {
  if (syscall(SYS_sysinfo, p->area) != 0) abort();
  WRITTEN_WITHIN(p->area + 32, 8, p->area, 112);
}
WRITER(prlimit_old) {
  if (prlimit(0, RLIMIT_NOFILE, nullptr, in_area<rlimit>(p)) != 0) abort();
  WRITTEN(p->area, 16);
}
WRITER(recvfrom_address) {
  const int here = socket(AF_INET, SOCK_DGRAM, 0), there = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(here, reinterpret_cast<sockaddr*>(&address), length) != 0) abort();
  if (getsockname(here, reinterpret_cast<sockaddr*>(&address), &length) != 0) abort();
  if (sendto(there, "x", 1, 0, reinterpret_cast<sockaddr*>(&address), length) != 1) abort();
  char got[4];
  length = sizeof address;
  if (recvfrom(here, got, 4, 0, in_area<sockaddr>(p), &length) != 1) abort();
  WRITTEN(p->area, 8);
}
WRITER(death_signal) {
  memset(p->area, 0x55, 4);
  persist(p->area, 4);
  if (prctl(PR_GET_PDEATHSIG, p->area) != 0) abort();
  WRITTEN(p->area, 4);
}
WRITER(file_writev_odd) {
  const int file = open(g_pool_path, O_RDWR);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  const iovec parts[] = {{nullptr, 0},
                         {const_cast<char*>(some_bytes()), 3},
                         {p->more, 0},
                         {const_cast<char*>(some_bytes()), 13},
                         {nullptr, 0}};
  if (writev(file, parts, 5) != 16) abort();
  WRITTEN(p->area, 16);
}
WRITER(pwritev2_here) {
  const int file = open(g_pool_path, O_RDWR);
  lseek(file, offset_of(p, p->area), SEEK_SET);
  const iovec part = {const_cast<char*>(some_bytes()), 16};
  if (pwritev2(file, &part, 1, -1, 0) != 16) abort();
  WRITTEN(p->area, 16);
}
WRITER(child_vm_writev) {
  // Another process writes into the memory of this one.
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const iovec local = {const_cast<char*>(some_bytes()), 16}, remote = {p->area, 16};
    _exit(process_vm_writev(parent, &local, 1, &remote, 1, 0) == 16 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) abort();
  WRITTEN(p->area, 16);
}

// Mappings that change.
WRITER(mremap_second) {
  // Of nothing: another mapping of the same pages.
  void* second = mremap(p, 0, 16384, MREMAP_MAYMOVE);
  if (second == MAP_FAILED) abort();
  *in_area<volatile long>(static_cast<Pool*>(second)) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(remap_pages) {
  // Another page of the file is at this address now.
  if (remap_file_pages(p->more, 4096, 0, size_t(offset_of(p, p->area)) / 4096, 0) != 0) abort();
  *reinterpret_cast<volatile long*>(p->more) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(madvise_remove) {
  *in_area<volatile long>(p) = 4711;
  persist(p->area, 8);
  if (madvise(p->area, 4096, MADV_REMOVE) != 0) abort();
  if (*in_area<volatile long>(p) != 0) abort();
  *in_area<volatile long>(p) = 815;
  WRITTEN(p->area, 8);
}
WRITER(zero_range) {
  const int file = open(g_pool_path, O_RDWR);
  *in_area<volatile long>(p) = 4711;
  persist(p->area, 8);
  if (fallocate(file, FALLOC_FL_ZERO_RANGE, offset_of(p, p->area), 4096) != 0) abort();
  if (*in_area<volatile long>(p) != 0) abort();
  *in_area<volatile long>(p) = 815;
  WRITTEN(p->area, 8);
}
WRITER(map_over) {
  // For a while something else is at this address.
  *in_area<volatile long>(p) = 1;
  persist(p->area, 8);
  if (mmap(p->area, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p->area) abort();
  *in_area<volatile long>(p) = 815;
  const int file = open(g_pool_path, O_RDWR);
  if (mmap(p->area, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset_of(p, p->area)) != p->area)
    abort();
  *in_area<volatile long>(p) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(fault_jump) {
  // The program's own fault, out of which it jumps.
  static sigjmp_buf back;
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(back, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  if (mprotect(p->area, 4096, PROT_READ) != 0) abort();
  if (sigsetjmp(back, 1) == 0)
    *in_area<volatile long>(p) = 4711;
  else if (mprotect(p->area, 4096, PROT_READ | PROT_WRITE) != 0)
    abort();
  *in_area<volatile long>(p) = 4711;
  WRITTEN(p->area, 8);
}
WRITER(queued_signal) {
  g_shared = p;
  struct sigaction action = {};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    *in_area<volatile long>(g_shared) = info->si_value.sival_int;
    *in_area<volatile long>(g_shared, 8) = 815;
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN + 3, &action, nullptr);
  sigval value = {};
  value.sival_int = 4711;
  if (sigqueue(getpid(), SIGRTMIN + 3, value) != 0) abort();
  WRITTEN(p->area, 16);
}
WRITER(spawn) {
  pid_t child;
  const char* words[] = {g_program, g_pool_path, "write", "direct", right ? "right" : "bug", nullptr};
  if (posix_spawn(&child, g_program, nullptr, nullptr, const_cast<char**>(words), environ) != 0) abort();
  waitpid(child, nullptr, 0);
  return {nullptr, 0};
}

// Instructions.
WRITER(stosb_backwards) {
  void* to = p->area + 39;
  size_t count = 40;
  asm volatile("std; rep stosb; cld" : "+D"(to), "+c"(count) : "a"(0x47) : "memory");
  WRITTEN(p->area, 40);
}
WRITER(btc_negative) {
  asm volatile("lock btcq %1, (%0)" : : "r"(p->area + 4096), "r"(long{-4096 * 8 + 5}) : "memory", "cc");
  WRITTEN(p->area, 1);
}
WRITER(enter) {
  asm volatile(
      "movq %%rsp, %%rbx; movq %%rbp, %%r12; leaq 128(%0), %%rsp; movq $4711, %%rbp; enter $16, $0; movq %%r12, %%rbp; "
      "movq %%rbx, %%rsp"
      :
      : "r"(p->area)
      : "rbx", "r12", "memory");
  WRITTEN(p->area + 120, 8);
}
WRITER(call_in_pm) {
  // The address to return to goes to PM, and comes from there.
  asm volatile("movq %%rsp, %%rbx; leaq 128(%0), %%rsp; call 1f; jmp 2f; 1: ret; 2: movq %%rbx, %%rsp"
               :
               : "r"(p->area)
               : "rbx", "memory");
  WRITTEN(p->area + 120, 8);
}
WRITER(pushf) {
  asm volatile("movq %%rsp, %%rbx; leaq 128(%0), %%rsp; pushfq; movq %%rbx, %%rsp" : : "r"(p->area) : "rbx", "memory");
  WRITTEN(p->area + 120, 8);
}
WRITER(fbstp) {
  const long value = 4711;
  asm volatile("fildq %1; fbstp (%0)" : : "r"(p->area), "m"(value) : "memory");
  WRITTEN(p->area, 10);
}
WRITER(fnsave) {
  asm volatile("fnsave (%0)" : : "r"(p->area) : "memory");
  WRITTEN_OF(p->area, 8, 108);
}
WRITER(fistp) {
  const double value = 4711;
  asm volatile("fldl %1; fistpll (%0); fldl %1; fisttpl 8(%0); fldl %1; fstps 12(%0)"
               :
               : "r"(p->area), "m"(value)
               : "memory");
  WRITTEN(p->area, 16);
}
WRITER(xsave) {
  asm volatile("xsave (%0)" : : "r"(p->area), "a"(7), "d"(0) : "memory");
  WRITTEN_WITHIN(p->area + 512, 8, p->area, 4096);
}
WRITER(pextr) {
  asm volatile(
      "movq %1, %%xmm0; movddup %%xmm0, %%xmm0; pextrq $1, %%xmm0, (%0); pextrd $1, %%xmm0, 8(%0); pextrw $0, %%xmm0, "
      "12(%0); pextrb $0, %%xmm0, "
      "14(%0); movhps %%xmm0, 16(%0); movlpd %%xmm0, 24(%0)"
      :
      : "r"(p->area), "r"(0x4711081547110815)
      : "xmm0", "memory");
  WRITTEN(p->area, 32);
}
WRITER(half_floats) {
  asm volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0; vcvtps2ph $0, %%xmm0, (%0); vzeroupper"
               :
               : "r"(p->area)
               : "xmm0", "memory");
  WRITTEN(p->area, 8);
}
WRITER(mask_moved) {
  // Only some of its elements are stored.
  asm volatile(
      "vpcmpeqd %%ymm0, %%ymm0, %%ymm0; vpslldq $8, %%ymm0, %%ymm1; vpmaskmovq %%ymm0, %%ymm1, (%0); vzeroupper"
      :
      : "r"(p->area)
      : "xmm0", "xmm1", "memory");
  WRITTEN(p->area + 8, 8);
}
WRITER(shifts) {
  *in_area<volatile long>(p) = 0x4711;
  persist(p->area, 8);
  asm volatile("rolq $3, (%0); shldq $5, %1, (%0); negq (%0); notl (%0)" : : "r"(p->area), "r"(815L) : "memory", "cc");
  WRITTEN(p->area, 8);
}
WRITER(clzero) {
  memset(p->area, 0x47, 64);
  persist(p->area, 64);
  // Past the cache: a fence is all it needs.
  asm volatile("clzero" : : "a"(p->area + 5) : "memory");
  if (right) fence();
  return {p->area, 16};
}

// Libraries with one thing in them, linked (WITH_LIBRARIES) or loaded when they are needed.
#ifdef WITH_LIBRARIES
extern "C" {
void helper_sfence(void);
void helper_clwb(const void* at);
void helper_store(long* to, long value);
}
#define HELPER(name) name
#else
template <typename Function>
static Function load(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) abort();
  return reinterpret_cast<Function>(dlsym(handle, name));
}
#define HELPER(name) load<decltype(&name)>("lib" #name ".so", #name)
void helper_sfence(void);
void helper_clwb(const void* at);
void helper_store(long* to, long value);
#endif
WRITER(helper_sfence) {
  const auto helper = HELPER(helper_sfence);
  *in_area<volatile long>(p) = 4711;
  flush(p->area, 8);
  if (right) helper();
  return {p->area, 8};
}
WRITER(helper_clwb) {
  const auto helper = HELPER(helper_clwb);
  *in_area<volatile long>(p) = 4711;
  if (right) helper(p->area);
  fence();
  return {p->area, 8};
}
WRITER(helper_store) {
  HELPER(helper_store)(in_area<long>(p), 4711);
  WRITTEN(p->area, 8);
}
