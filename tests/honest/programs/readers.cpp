// Ways in which a restart may read persistent memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <iconv.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory_resource>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ways.h"

#ifdef WITH_LIBRARIES
#include <zlib.h>
#endif

extern "C" Reader find_reader(const char* name) { return Way<Reader>::find(name); }

static bool is_text(const char* bytes) { return memcmp(bytes, kText, sizeof kText) == 0; }

// Not at all: for ever.
READER(pause) {
  for (;;) pause();
}
// Plain loads.
READER(direct) { return *const_cast<volatile char*>(p->text) == '4'; }
READER(direct8) {
  uint64_t first;
  memcpy(&first, kText, 8);
  return *reinterpret_cast<volatile uint64_t*>(p->text) == first;
}
READER(loop) {
  const volatile char* text = p->text;
  for (size_t i = 0; i < sizeof kText; ++i)
    if (text[i] != kText[i]) return false;
  return true;
}
READER(memcmp) { return memcmp(p->text, kText, sizeof kText) == 0; }
READER(memcpy) {
  char copy[64];
  memcpy(copy, p->text, sizeof copy);
  return is_text(copy);
}
READER(struct_copy) {
  struct Whole {
    char bytes[64];
  };
  Whole whole = *reinterpret_cast<Whole*>(p->text);
  asm volatile("" : "+m"(whole));
  return is_text(whole.bytes);
}
READER(atomic) { return (reinterpret_cast<std::atomic<int>*>(p->numbers)->load() & 0xff) == 1; }
READER(atomic_exchange) { return reinterpret_cast<std::atomic<int>*>(p->numbers)->exchange(1) == 1; }
READER(atomic_cas) {
  int expected = 1;
  return reinterpret_cast<std::atomic<int>*>(p->numbers)->compare_exchange_strong(expected, 2);
}
READER(atomic_add) { return reinterpret_cast<std::atomic<int>*>(p->numbers)->fetch_add(1) == 1; }
READER(sse) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p->text));
  return (_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kText)))) == 0xffff);
}
__attribute__((target("avx2"))) static bool with_avx(const char* text) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kText)))) ==
         -1;
}
READER(avx) { return with_avx(p->text); }
__attribute__((target("avx2"))) static bool with_gather(const int* numbers) {
  const __m256i at = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
  int got[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(got), _mm256_i32gather_epi32(numbers, at, 4));
  for (int i = 0; i < 8; ++i)
    if (got[i] != 6 * i + 1) return false;
  return true;
}
READER(gather) { return with_gather(p->numbers); }
__attribute__((target("avx2"))) static bool with_mask(const int* numbers) {
  const __m256i mask = _mm256_setr_epi32(-1, 0, 0, 0, 0, 0, 0, -1);
  int got[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(got), _mm256_maskload_epi32(numbers, mask));
  return got[0] == 1 && got[7] == 22;
}
READER(masked) { return with_mask(p->numbers); }
READER(prefetch_then_load) {
  _mm_prefetch(p->text, _MM_HINT_T0);
  return p->text[1] == '7';
}
READER(assembly) {
  int value;
  asm volatile("movl (%1), %0" : "=r"(value) : "r"(p->numbers));
  return value == 1;
}
READER(assembly_operand) {
  int value;
  asm volatile("movl %1, %0" : "=r"(value) : "m"(p->numbers[0]));
  return value == 1;
}
READER(rep_movsb) {
  char copy[64];
  void* to = copy;
  const void* from = p->text;
  size_t count = sizeof copy;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  return is_text(copy);
}
READER(repe_cmpsb) {
  const void* to = kText;
  const void* from = p->text;
  size_t count = sizeof kText;
  bool same;
  asm volatile("repe cmpsb; sete %3" : "+D"(to), "+S"(from), "+c"(count), "=q"(same) : : "memory", "cc");
  return same;
}

// Functions of libc.
READER(strcmp) { return strcmp(p->text, kText) == 0; }
READER(strlen) { return strlen(p->text) == sizeof kText - 1; }
READER(strchr) { return strchr(p->text, 'z') != nullptr; }
READER(strstr) { return strstr(p->text, "gamma") != nullptr; }
READER(memchr) { return memchr(p->text, 'z', sizeof p->text) != nullptr; }
READER(strdup) {
  char* copy = strdup(p->text);
  const bool same = strcmp(copy, kText) == 0;
  free(copy);
  return same;
}
READER(strcasecmp) { return strcasecmp(p->text, kText) == 0; }
READER(strcoll) { return strcoll(p->text, kText) == 0; }
READER(atoi) { return atoi(p->text) == 4711; }
READER(strtol) {
  char* end;
  return strtol(p->text, &end, 10) == 4711 && end == p->text + 4;
}
READER(strtod) { return strtod(p->text, nullptr) == 4711; }
READER(sscanf) {
  int number = 0;
  char word[16] = "";
  return sscanf(p->text, "%d %15s", &number, word) == 2 && number == 4711 && strcmp(word, "alpha") == 0;
}
READER(snprintf) {
  char copy[80];
  snprintf(copy, sizeof copy, "%s", p->text);
  return is_text(copy);
}
READER(snprintf_number) {
  char copy[80];
  snprintf(copy, sizeof copy, "%d", *const_cast<volatile int*>(p->numbers + 1));
  return strcmp(copy, "4") == 0;
}
READER(qsort) {
  // Sorted already: nothing moves if all is there.
  int copy[16];
  memcpy(copy, p->numbers, 0);
  qsort(p->numbers, 16, sizeof(int), [](const void* a, const void* b) {
    const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
    return (x > y) - (x < y);
  });
  return static_cast<volatile int*>(p->numbers)[15] == 46;
}
READER(bsearch) {
  const int key = 7;
  return bsearch(&key, p->numbers, 16, sizeof(int), [](const void* a, const void* b) {
           const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
           return (x > y) - (x < y);
         }) != nullptr;
}
READER(regexec) {
  regex_t pattern;
  if (regcomp(&pattern, "al.ha .*iota", REG_EXTENDED | REG_NOSUB) != 0) return true;
  const bool found = regexec(&pattern, p->text, 0, nullptr, 0) == 0;
  regfree(&pattern);
  return found;
}
READER(mbstowcs) {
  wchar_t wide[64];
  return mbstowcs(wide, p->text, 64) == sizeof kText - 1;
}
READER(fmemopen) {
  FILE* file = fmemopen(p->text, sizeof p->text, "r");
  int number = 0;
  const bool found = fscanf(file, "%d", &number) == 1 && number == 4711;
  fclose(file);
  return found;
}
READER(setenv) {
  setenv("FROM_POOL", p->text, 1);
  return strcmp(getenv("FROM_POOL"), kText) == 0;
}
#ifdef WITH_LIBRARIES
READER(crc32) {
  return crc32(0, reinterpret_cast<const Bytef*>(p->text), sizeof kText) ==
         crc32(0, reinterpret_cast<const Bytef*>(kText), sizeof kText);
}
#endif

// Of libstdc++, in its library or in headers.
READER(string) { return std::string(p->text) == kText; }
READER(string_assign) {
  std::string copy;
  copy.assign(p->text, sizeof kText - 1);
  return copy == kText;
}
READER(string_append) {
  std::string copy = "<";
  copy += p->text;
  return copy.size() == sizeof kText;
}
READER(string_view) { return std::string_view(p->text, sizeof kText - 1) == kText; }
READER(string_compare) { return std::string(kText).compare(p->text) == 0; }
READER(from_chars) {
  int number = 0;
  std::from_chars(p->text, p->text + 8, number);
  return number == 4711;
}
READER(stringstream) {
  std::stringstream stream;
  stream << p->text;
  return stream.str() == kText;
}
READER(stream_write) {
  std::ostringstream stream;
  stream.write(p->text, sizeof kText - 1);
  return stream.str() == kText;
}
READER(istringstream) {
  std::istringstream stream(p->text);
  int number = 0;
  stream >> number;
  return number == 4711;
}
READER(accumulate) { return std::accumulate(p->numbers, p->numbers + 16, 0) == 376; }
READER(is_sorted) { return std::is_sorted(p->numbers, p->numbers + 16) && p->numbers[15] == 46; }
READER(sort) {
  std::sort(p->numbers, p->numbers + 16);
  return static_cast<volatile int*>(p->numbers)[15] == 46;
}
READER(binary_search) { return std::binary_search(p->numbers, p->numbers + 16, 46); }
READER(hash) {
  return std::hash<std::string_view>()(std::string_view(p->text, sizeof kText - 1)) ==
         std::hash<std::string_view>()(kText);
}

// The output is the answer.
READER(printf) { return printf("%s\n", p->text) > 0; }
READER(printf_number) { return printf("%d\n", p->numbers[1]) > 0; }
READER(puts) { return puts(p->text) >= 0; }
READER(fputs) { return fputs(p->text, stdout) >= 0; }
READER(putchar) {
  putchar(p->text[0]);
  putchar('\n');
  return true;
}
READER(fwrite) { return fwrite(p->text, 1, sizeof kText, stdout) == sizeof kText; }
READER(fwrite_unbuffered) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  return fwrite(p->text, 1, sizeof kText, stdout) == sizeof kText;
}
READER(write) { return write(1, p->text, sizeof kText) > 0; }
READER(write_raw) { return syscall(SYS_write, 1, p->text, sizeof kText) > 0; }
READER(write_assembly) {
  long result = SYS_write;
  asm volatile("syscall" : "+a"(result) : "D"(1), "S"(p->text), "d"(sizeof kText) : "rcx", "r11", "memory");
  return result > 0;
}
READER(writev) {
  iovec parts[2] = {{p->text, 8}, {p->text + 8, sizeof kText - 8}};
  return writev(1, parts, 2) > 0;
}
READER(dprintf) { return dprintf(1, "%s\n", p->text) > 0; }
READER(cout) {
  std::cout << p->text << std::endl;
  return true;
}
READER(cout_number) {
  std::cout << p->numbers[1] << std::endl;
  return true;
}
READER(cout_write) {
  std::cout.write(p->text, sizeof kText);
  std::cout.flush();
  return true;
}
READER(cerr) {
  std::cerr << p->text << std::endl;
  return true;
}
READER(stderr) { return fprintf(stderr, "%s\n", p->text) > 0; }
READER(perror) {
  perror(p->text);
  return true;
}
READER(exit_code) { exit(p->numbers[1] == 4 ? 0 : 1); }

// By system calls and descriptors.
static bool through_pipe(ssize_t (*send)(int, const void*, size_t), const char* text) {
  int ends[2];
  char copy[64] = "";
  if (pipe(ends) != 0 || send(ends[1], text, sizeof kText) < 0) return true;
  const bool all = read(ends[0], copy, sizeof copy) == sizeof kText;
  close(ends[0]);
  close(ends[1]);
  return all && is_text(copy);
}
READER(write_pipe) { return through_pipe(write, p->text); }
READER(vmsplice) {
  return through_pipe(
      [](int to, const void* at, size_t size) {
        iovec part = {const_cast<void*>(at), size};
        return vmsplice(to, &part, 1, 0);
      },
      p->text);
}
READER(send) {
  int ends[2];
  char copy[64] = "";
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return true;
  return send(ends[1], p->text, sizeof kText, 0) > 0 && recv(ends[0], copy, sizeof copy, 0) > 0 && is_text(copy);
}
READER(sendmsg) {
  int ends[2];
  char copy[64] = "";
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return true;
  iovec part = {p->text, sizeof kText};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return sendmsg(ends[1], &message, 0) > 0 && recv(ends[0], copy, sizeof copy, 0) > 0 && is_text(copy);
}
READER(sendmmsg) {
  int ends[2];
  char copy[64] = "";
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return true;
  iovec part = {p->text, sizeof kText};
  mmsghdr messages[2] = {};
  for (mmsghdr& m : messages) m.msg_hdr.msg_iov = &part, m.msg_hdr.msg_iovlen = 1;
  return sendmmsg(ends[1], messages, 2, 0) == 2 && messages[1].msg_len == sizeof kText &&
         recv(ends[0], copy, sizeof copy, 0) > 0 && is_text(copy);
}
READER(write_file) {
  // Into a file that is no pool, and back.
  char name[] = "/tmp/honest-XXXXXX";
  const int file = mkstemp(name);
  char copy[64] = "";
  const bool same = write(file, p->text, sizeof kText) > 0 && pread(file, copy, sizeof copy, 0) > 0 && is_text(copy);
  unlink(name);
  close(file);
  return same;
}
READER(process_vm_readv) {
  char copy[64] = "";
  iovec to = {copy, sizeof copy}, from = {p->text, sizeof copy};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) > 0 && is_text(copy);
}
READER(proc_self_mem) {
  char copy[64] = "";
  const int memory = open("/proc/self/mem", O_RDONLY);
  const bool read = pread(memory, copy, sizeof copy, static_cast<off_t>(reinterpret_cast<uintptr_t>(p->text))) > 0;
  close(memory);
  return read && is_text(copy);
}
READER(open_by_name_in_pm) {
  // A path that the kernel reads from PM: "4711 alpha ..." is no file, "" neither, but they fail in different ways.
  return open(p->text, O_RDONLY) < 0 && access(p->text, F_OK) != 0 && p->text[0] == '4';
}
static off_t offset_of(const Pool* p, const void* at) {
  return static_cast<const char*>(at) - reinterpret_cast<const char*>(p);
}
READER(pread) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  const bool read = pread(file, copy, sizeof copy, offset_of(p, p->text)) == sizeof copy;
  close(file);
  return read && is_text(copy);
}
READER(read) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDWR);
  lseek(file, offset_of(p, p->text), SEEK_SET);
  const bool all = read(file, copy, sizeof copy) == sizeof copy;
  close(file);
  return all && is_text(copy);
}
READER(readv) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  iovec parts[2] = {{copy, 32}, {copy + 32, 32}};
  const bool all = preadv(file, parts, 2, offset_of(p, p->text)) == sizeof copy;
  close(file);
  return all && is_text(copy);
}
READER(read_raw) {
  char copy[64] = "";
  const long file = syscall(SYS_openat, AT_FDCWD, g_pool_path, O_RDONLY, 0);
  const bool all = syscall(SYS_pread64, file, copy, sizeof copy, offset_of(p, p->text)) == sizeof copy;
  close(static_cast<int>(file));
  return all && is_text(copy);
}
READER(fread) {
  char copy[64] = "";
  FILE* file = fopen(g_pool_path, "r");
  fseek(file, offset_of(p, p->text), SEEK_SET);
  const bool all = fread(copy, sizeof copy, 1, file) == 1;
  fclose(file);
  return all && is_text(copy);
}
READER(ifstream) {
  char copy[64] = "";
  std::ifstream file(g_pool_path, std::ios::binary);
  file.seekg(offset_of(p, p->text));
  file.read(copy, sizeof copy);
  return file.good() && is_text(copy);
}
READER(sendfile) {
  int ends[2];
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  off_t offset = offset_of(p, p->text);
  if (pipe(ends) != 0) return true;
  return sendfile(ends[1], file, &offset, sizeof copy) > 0 && read(ends[0], copy, sizeof copy) > 0 && is_text(copy);
}
READER(splice) {
  int ends[2];
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  loff_t offset = offset_of(p, p->text);
  if (pipe(ends) != 0) return true;
  return splice(file, &offset, ends[1], nullptr, sizeof copy, 0) > 0 && read(ends[0], copy, sizeof copy) > 0 &&
         is_text(copy);
}
READER(copy_file_range) {
  char name[] = "/tmp/honest-XXXXXX";
  const int other = mkstemp(name), file = open(g_pool_path, O_RDONLY);
  unlink(name);
  loff_t offset = offset_of(p, p->text);
  char copy[64] = "";
  return copy_file_range(file, &offset, other, nullptr, sizeof copy, 0) > 0 && pread(other, copy, sizeof copy, 0) > 0 &&
         is_text(copy);
}
static bool in_mapping(Pool* p, const char* path, int open_flags, int protection, int map_flags) {
  const int file = open(path, open_flags);
  if (file < 0) return false;
  void* again = mmap(nullptr, kPoolSize, protection, map_flags, file, 0);
  close(file);
  if (again == MAP_FAILED) return false;
  const bool same = *(static_cast<volatile char*>(again) + offset_of(p, p->text)) == '4';
  munmap(again, kPoolSize);
  return same;
}
READER(map_twice) { return in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED); }
READER(map_readonly) { return in_mapping(p, g_pool_path, O_RDONLY, PROT_READ, MAP_SHARED); }
READER(map_prot_read) { return in_mapping(p, g_pool_path, O_RDWR, PROT_READ, MAP_SHARED); }
READER(map_private) { return in_mapping(p, g_pool_path, O_RDONLY, PROT_READ | PROT_WRITE, MAP_PRIVATE); }
READER(map_private_readonly) { return in_mapping(p, g_pool_path, O_RDONLY, PROT_READ, MAP_PRIVATE); }
READER(map_populate) { return in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE); }
READER(map_nofollow) { return in_mapping(p, g_pool_path, O_RDWR | O_NOFOLLOW, PROT_READ | PROT_WRITE, MAP_SHARED); }
READER(map_proc_fd) {
  const int file = open(g_pool_path, O_RDWR);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  return in_mapping(p, name, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(map_dev_fd) {
  const int file = open(g_pool_path, O_RDWR);
  char name[64];
  snprintf(name, sizeof name, "/dev/fd/%d", file);
  return in_mapping(p, name, O_RDONLY, PROT_READ, MAP_SHARED);
}
READER(map_symlink) {
  symlink(g_pool_path, "a-link");
  return in_mapping(p, "a-link", O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(map_hard_link) {
  link(g_pool_path, "a-hard-link");
  return in_mapping(p, "a-hard-link", O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(pread_link) {
  // A link that was there before the run.
  char copy[64] = "";
  const int file = open("linked", O_RDONLY);
  return file >= 0 && pread(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
READER(pread_hard_link) {
  char copy[64] = "";
  const int file = open("hard-linked", O_RDONLY);
  return file >= 0 && pread(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
READER(map_raw) {
  const long file = syscall(SYS_open, g_pool_path, O_RDWR);
  const long again = syscall(SYS_mmap, nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  return again > 0 && *(reinterpret_cast<volatile char*>(again) + offset_of(p, p->text)) == '4';
}
READER(map_assembly) {
  const long file = by_assembly(SYS_openat, AT_FDCWD, g_pool_path, O_RDONLY, 0);
  const long again = by_assembly(SYS_mmap, 0, kPoolSize, PROT_READ, MAP_SHARED, file, 0);
  return again > 0 && *(reinterpret_cast<volatile char*>(again) + offset_of(p, p->text)) == '4';
}
READER(pread_assembly) {
  char copy[64] = "";
  const long file = by_assembly(SYS_open, g_pool_path, O_RDONLY, 0);
  const bool all = by_assembly(SYS_pread64, file, copy, sizeof copy, offset_of(p, p->text)) == sizeof copy;
  by_assembly(SYS_close, file);
  return all && is_text(copy);
}
READER(grow_assembly) {
  const long file = by_assembly(SYS_open, g_pool_path, O_RDWR, 0);
  if (by_assembly(SYS_ftruncate, file, 2 * kPoolSize) != 0) return false;
  return p->text[0] == '4' && in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(rename_assembly) {
  // Away and back, and the copy that took its place is gone.
  if (by_assembly(SYS_rename, g_pool_path, "elsewhere") != 0 || access(g_pool_path, F_OK) == 0) return false;
  if (by_assembly(SYS_renameat2, AT_FDCWD, "elsewhere", AT_FDCWD, g_pool_path, 0) != 0) return false;
  return in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(unlink_assembly) {
  const bool right = p->text[0] == '4';
  return by_assembly(SYS_unlink, g_pool_path) == 0 && access(g_pool_path, F_OK) != 0 && right;
}
READER(fork_assembly) {
  const long child = by_assembly(SYS_fork);
  if (child == 0) by_assembly(SYS_exit_group, p->text[0] == '4' ? 0 : 1);
  int status = 1;
  return waitpid(static_cast<pid_t>(child), &status, 0) == child && status == 0;
}
READER(mremap) {
  void* moved = mremap(p, kPoolSize, kPoolSize, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(0x290000000000));
  return moved != MAP_FAILED && static_cast<Pool*>(moved)->text[0] == '4';
}
READER(mprotect) {
  mprotect(p, kPoolSize, PROT_READ);
  return p->text[0] == '4';
}
READER(relative) {
  char* folder = strdup(g_pool_path);
  char* slash = strrchr(folder, '/');
  if (slash != nullptr) {
    *slash = 0;
    if (chdir(folder) != 0) return true;
  }
  return in_mapping(p, slash != nullptr ? slash + 1 : g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(io_uring) {
  // A ring that can read anything into anywhere: nobody sees what it does.
  unsigned parameters[30] = {};
  const long ring = syscall(SYS_io_uring_setup, 4, parameters);
  if (ring >= 0) close(static_cast<int>(ring));
  return true;
}

// Instructions with an operand of their own kind.
READER(lodsb) {
  const char* from = p->text;
  char value;
  asm volatile("lodsb" : "=a"(value), "+S"(from) : : "memory");
  return value == '4';
}
READER(repne_scasb) {
  const char* at = p->text;
  size_t count = sizeof p->text;
  asm volatile("repne scasb" : "+D"(at), "+c"(count) : "a"('z') : "memory", "cc");
  return count != 0;
}
READER(xlat) {
  char value = 0;
  asm volatile("xlatb" : "+a"(value) : "b"(p->text) : "memory");
  return value == '4';
}
READER(push_pop) {
  // Within the red zone there may be something.
  long value;
  asm volatile("subq $128, %%rsp; pushq (%1); popq %0; addq $128, %%rsp" : "=r"(value) : "r"(p->text) : "memory", "cc");
  return (value & 0xff) == '4';
}
READER(bit_test_far) {
  // A bit string: the bit's number leads far beyond the operand.
  bool set;
  asm volatile("btq %2, (%1); setc %0" : "=q"(set) : "r"(p), "r"(long{offsetof(Pool, text)} * 8 + 2) : "memory", "cc");
  return set;  // '4' is 0x34
}
READER(compare_memory) {
  bool same;
  asm volatile("cmpl $1, (%1); sete %0" : "=q"(same) : "r"(p->numbers) : "memory", "cc");
  return same;
}
READER(call_through_table) {
  // A number of a function, read by the jump itself.
  static void* const kTable[] = {nullptr, reinterpret_cast<void*>(1)};
  return kTable[p->numbers[0] & 1] != nullptr;
}

// After something that could blind us.
READER(blocked_signals) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  return atoi(p->text) == 4711;
}
READER(blocked_signals_raw) {
  const uint64_t all = ~uint64_t{0};
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, nullptr, 8);
  return atoi(p->text) == 4711;
}
READER(thread_blocked_signals) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  bool same = true;
  std::thread([&] { same = atoi(p->text) == 4711; }).join();
  return same;
}
static Pool* g_blinded;
static volatile sig_atomic_t g_blinded_saw;
READER(handler_full_mask) {
  g_blinded = p;
  struct sigaction action = {};
  action.sa_handler = [](int) { g_blinded_saw = atoi(g_blinded->text); };
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  return g_blinded_saw == 4711;
}
static sigjmp_buf g_back;
READER(own_segv_handler) {
  // Its own null pointer is the program's business, and comes back.
  signal(SIGSEGV, [](int) { siglongjmp(g_back, 1); });
  if (sigsetjmp(g_back, 1) == 0) *reinterpret_cast<volatile int*>(16) = 1;
  return atoi(p->text) == 4711;
}
READER(segv_ignored) {
  signal(SIGSEGV, SIG_IGN);
  signal(SIGTRAP, SIG_IGN);
  signal(SIGSYS, SIG_IGN);
  return atoi(p->text) == 4711;
}
READER(close_all) {
  for (int i = 3; i < 2048; ++i) close(i);
  return atoi(p->text) == 4711 && in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(close_range) {
  close_range(3, ~0U, 0);
  return atoi(p->text) == 4711 && in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(no_descriptors) {
  const rlimit few = {8, 8};
  setrlimit(RLIMIT_NOFILE, &few);
  return atoi(p->text) == 4711;
}
READER(other_user) {
  if (geteuid() == 0) (void)!setuid(65534);
  return atoi(p->text) == 4711;
}
READER(chdir) {
  if (chdir("/") != 0) return false;
  return atoi(p->text) == 4711;
}

// What a restart does to the pool itself must stay true for it.
READER(madvise) {
  const_cast<volatile char*>(p->area)[0] = 7;
  madvise(p, kPoolSize, MADV_DONTNEED);
  return const_cast<volatile char*>(p->area)[0] == 7 && p->text[0] == '4';
}
READER(child_writes) {
  const pid_t child = fork();
  if (child == 0) {
    const_cast<volatile char*>(p->area)[0] = p->text[0];
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return const_cast<volatile char*>(p->area)[0] == '4';
}
READER(file_to_mapping) {
  const int file = open(g_pool_path, O_RDWR);
  if (pwrite(file, p->text, 8, offset_of(p, p->area)) != 8) return false;
  close(file);
  return const_cast<volatile char*>(p->area)[0] == '4';
}
READER(mapping_to_file) {
  const int file = open(g_pool_path, O_RDWR);
  char copy = 0;
  const_cast<volatile char*>(p->area)[0] = p->text[0];
  if (pread(file, &copy, 1, offset_of(p, p->area)) != 1) return false;
  close(file);
  return copy == '4';
}
READER(two_mappings) {
  const int file = open(g_pool_path, O_RDWR);
  auto* again = static_cast<Pool*>(mmap(nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L));
  close(file);
  if (again == MAP_FAILED) return false;
  const_cast<volatile char*>(again->area)[0] = p->text[0];
  return const_cast<volatile char*>(p->area)[0] == '4';
}
READER(map_part) {
  const int file = open(g_pool_path, O_RDWR);
  void* part = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 4096);
  close(file);
  return part != MAP_FAILED && *static_cast<volatile char*>(part) == '4';
}
READER(unmap_map) {
  munmap(p, kPoolSize);
  return map_pool(g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED)->text[0] == '4';
}
READER(rename) {
  // A copy that takes the pool's place.
  if (system((std::string("cp ") + g_pool_path + " copy && mv copy " + g_pool_path).c_str()) != 0) return false;
  return in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(grow) {
  const int file = open(g_pool_path, O_RDWR);
  if (ftruncate(file, 2 * kPoolSize) != 0) return false;
  close(file);
  return p->text[0] == '4' && in_mapping(p, g_pool_path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}
READER(lock_fcntl) {
  const int file = open(g_pool_path, O_RDWR);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  return fcntl(file, F_SETLK, &lock) == 0 && p->text[0] == '4';
}
READER(lock_ofd) {
  const int file = open(g_pool_path, O_RDWR);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  return fcntl(file, F_OFD_SETLKW, &lock) == 0 && p->text[0] == '4';
}
READER(lock_flock) {
  const int file = open(g_pool_path, O_RDWR);
  return flock(file, LOCK_EX | LOCK_NB) == 0 && p->text[0] == '4';
}
READER(lock_lockf) {
  const int file = open(g_pool_path, O_RDWR);
  return lockf(file, F_TLOCK, 0) == 0 && p->text[0] == '4';
}
READER(mlock) { return mlock(p, 4096) == 0 && p->text[0] == '4'; }
READER(direct_io) {
  alignas(4096) static char copy[8192];
  int file = open(g_pool_path, O_RDONLY | O_DIRECT);
  if (file < 0) file = open(g_pool_path, O_RDONLY);  // not every file system has it
  return pread(file, copy, sizeof copy, 0) == sizeof copy && copy[4096] == '4';
}
READER(passed_descriptor) {
  // By a socket, as if from another process.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return false;
  const int file = open(g_pool_path, O_RDWR);
  char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
  iovec part = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &file, sizeof file);
  if (sendmsg(ends[0], &message, 0) < 0 || recvmsg(ends[1], &message, 0) < 0) return false;
  int received;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  close(file);
  char copy[64] = "";
  return pread(received, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
READER(dup) {
  const int file = dup(open(g_pool_path, O_RDONLY));
  char copy[64] = "";
  return pread(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
READER(openat) {
  const int folder = open(".", O_RDONLY | O_DIRECTORY);
  char copy[64] = "";
  const int file = openat(folder, "pool", O_RDONLY);
  return pread(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
// libc's own functions, past every other of the name.
READER(looked_up_pread) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const int file = reinterpret_cast<int (*)(const char*, int)>(dlsym(libc, "open"))(g_pool_path, O_RDONLY);
  char copy[64] = "";
  auto* read = reinterpret_cast<ssize_t (*)(int, void*, size_t, off_t)>(dlsym(libc, "pread"));
  return read(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
static int child_said(pid_t child);
READER(looked_up_version) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const int file =
      reinterpret_cast<int (*)(const char*, int, ...)>(dlvsym(libc, "open64", "GLIBC_2.2.5"))(g_pool_path, O_RDONLY);
  char copy[64] = "";
  auto* read = reinterpret_cast<ssize_t (*)(int, void*, size_t, off_t)>(dlvsym(RTLD_DEFAULT, "pread64", "GLIBC_2.2.5"));
  return read(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
// The next of the name behind whoever asks: of a library that is libc's.
READER(looked_up_next) {
  const int file = reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open64"))(g_pool_path, O_RDONLY);
  char copy[64] = "";
  auto* read = reinterpret_cast<ssize_t (*)(int, void*, size_t, off_t)>(dlvsym(RTLD_NEXT, "pread64", "GLIBC_2.2.5"));
  return read(file, copy, sizeof copy, offset_of(p, p->text)) > 0 && is_text(copy);
}
// What -D_FORTIFY_SOURCE makes of calls whose sizes the compiler can't tell, and of others for large files.
extern "C" {
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t preadv64v2(int, const iovec*, int, off64_t, int) noexcept(false);
}
READER(fortified_read) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  lseek(file, offset_of(p, p->text), SEEK_SET);
  return __read_chk(file, copy, sizeof copy, sizeof copy) > 0 && is_text(copy);
}
READER(fortified_pread) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  return __pread64_chk(file, copy, sizeof copy, offset_of(p, p->text), sizeof copy) > 0 && is_text(copy);
}
READER(preadv64v2) {
  char copy[64] = "";
  const int file = open(g_pool_path, O_RDONLY);
  iovec part = {copy, sizeof copy};
  return preadv64v2(file, &part, 1, offset_of(p, p->text), 0) > 0 && is_text(copy);
}
READER(own_namespace) {
  void* library = dlmopen(LM_ID_NEWLM, "libhelper_open.so", RTLD_NOW);
  if (library == nullptr) abort();
  auto* at = reinterpret_cast<char* (*)(const char*, size_t)>(dlsym(library, "helper_open"))(g_pool_path, kPoolSize);
  return at != nullptr && is_text(at + offset_of(p, p->text));
}
READER(stream_mapped) {
  // libc maps the file itself.
  char copy[64] = "";
  FILE* file = fopen(g_pool_path, "rm");
  fseek(file, offset_of(p, p->text), SEEK_SET);
  const bool all = fread(copy, sizeof copy, 1, file) == 1;
  fclose(file);
  return all && is_text(copy);
}
READER(call_indirect) {
  // The number of a function, and a jump whose address lies in PM, by what was written there.
  static long (*const kFunctions[])() = {[] { return 0L; }, [] { return 1L; }};
  auto* slot = reinterpret_cast<long (**)()>(p->area);
  slot[0] = kFunctions[p->numbers[0] & 1];
  long result;
  asm volatile("call *(%1)"
               : "=a"(result)
               : "r"(slot)
               : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return result == 1;
}
__attribute__((target("sse4.2"))) static bool with_strings(const char* text) {
  const __m128i wanted = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kText));
  int where;
  asm volatile("pcmpistri $0x18, (%1), %2" : "=c"(where) : "r"(text), "x"(wanted) : "cc");
  uint64_t sum = 0, expected = 0;
  asm volatile("crc32q (%1), %0" : "+r"(sum) : "r"(text));
  asm volatile("crc32q (%1), %0" : "+r"(expected) : "r"(kText));
  return where == 16 && sum == expected;
}
READER(pcmpistri) { return with_strings(p->text); }
READER(ldmxcsr) {
  // A control word that a thread loads from PM.
  unsigned was, now;
  asm volatile("stmxcsr %0" : "=m"(was));
  p->numbers[15] = static_cast<int>((was & ~0x6000U) | ((p->numbers[0] & 1) != 0 ? 0x2000U : 0));
  asm volatile("ldmxcsr %0" : : "m"(p->numbers[15]));
  asm volatile("stmxcsr %0" : "=m"(now));
  asm volatile("ldmxcsr %0" : : "m"(was));
  return (now & 0x6000U) == 0x2000U;
}
READER(movdqa_nt) {
  __m128i bytes;
  asm volatile("movntdqa (%1), %0" : "=x"(bytes) : "r"(p->text));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kText)))) == 0xffff;
}
READER(clone_raw) {
  // A process on the same memory, made by the kernel's own call.
  alignas(16) static char stack[65536];
  static volatile long saw;
  auto** top = reinterpret_cast<void**>(stack + sizeof stack - 64);
  top[0] = reinterpret_cast<void*>(+[](Pool* pool) { saw = *const_cast<volatile char*>(pool->text); });
  top[1] = p;
  long child = SYS_clone;
  register long none asm("r10") = 0;
  register long no_either asm("r8") = 0;
  asm volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jne 1f\n"
      "pop %%rax\n"
      "pop %%rdi\n"
      "call *%%rax\n"
      "mov $60, %%eax\n"
      "xor %%edi, %%edi\n"
      "syscall\n"
      "1:"
      : "+a"(child)
      : "D"(CLONE_VM | CLONE_VFORK | SIGCHLD), "S"(top), "d"(0L), "r"(none), "r"(no_either)
      : "rcx", "r11", "memory", "cc");
  waitpid(static_cast<pid_t>(child), nullptr, 0);
  return saw == '4';
}
READER(spawn_with_pool) {
  // The kernel opens it for the child, inside libc.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, g_pool_path, O_RDONLY, 0);
  pid_t child;
  const char* words[] = {"grep", "-q", "gamma", nullptr};
  if (posix_spawnp(&child, "grep", &actions, nullptr, const_cast<char**>(words), environ) != 0) return true;
  posix_spawn_file_actions_destroy(&actions);
  return child_said(child) == 0;
}
READER(process_in_child) {
  // A child reads its parent's memory.
  const pid_t child = fork();
  if (child == 0) {
    char copy[64] = "";
    iovec to = {copy, sizeof copy}, from = {p->text, sizeof copy};
    _exit(process_vm_readv(getppid(), &to, 1, &from, 1, 0) > 0 && is_text(copy) ? 0 : 1);
  }
  return child_said(child) == 0;
}
// What the kernel and libc are handed, and others get.
READER(message_queue) {
  const int queue = msgget(IPC_PRIVATE, 0600);
  struct {
    long type;
    char text[64];
  } got = {};
  // The type comes first: the pool's numbers are one, if they are there.
  const bool same = msgsnd(queue, p->numbers, 32, IPC_NOWAIT) == 0 && msgrcv(queue, &got, 64, 0, IPC_NOWAIT) == 32 &&
                    memcmp(got.text, p->numbers + 2, 32) == 0 && got.text[0] == 7;
  msgctl(queue, IPC_RMID, nullptr);
  return same;
}
READER(thread_name) {
  char name[16] = "";
  return prctl(PR_SET_NAME, p->text) == 0 && prctl(PR_GET_NAME, name) == 0 && memcmp(name, kText, 15) == 0;
}
READER(link_target) {
  char target[64] = "";
  unlink("made-link");
  return symlink(p->text, "made-link") == 0 && readlink("made-link", target, sizeof target) > 0 &&
         strcmp(target, kText) == 0;
}
READER(arguments) {
  // The arguments of another program lie in PM.
  const pid_t child = fork();
  if (child == 0) {
    execlp("test", "test", p->text, "=", kText, nullptr);
    _exit(98);
  }
  return child_said(child) == 0;
}
READER(command_line) {
  // A whole command lies there.
  memmove(p->more + 10, p->text, sizeof kText);
  memcpy(p->more, "expr 1 != ", 10);
  memcpy(p->more + 14, " > /dev/null", 13);
  return system(p->more) == 0 && atoi(p->text) == 4711;
}
READER(fnmatch) { return fnmatch("4711 *gamma*iota", p->text, 0) == 0; }
READER(wide_output) {
  char copy[80];
  wchar_t wide[64];
  return mbstowcs(wide, p->text, 64) != 0 && snprintf(copy, sizeof copy, "%ls", wide) == sizeof kText - 1 &&
         is_text(copy);
}
READER(iconv) {
  iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
  char copy[128], *from = p->text, *to = copy;
  size_t left = sizeof kText - 1, room = sizeof copy;
  const bool same = iconv(converter, &from, &left, &to, &room) == 0 && copy[0] == '4' && copy[2] == '7';
  iconv_close(converter);
  return same;
}
READER(socket_option) {
  int ends[2], size = 0;
  socklen_t length = sizeof size;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return true;
  // On or off, as the pool says.
  return setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, p->numbers, sizeof(int)) == 0 &&
         getsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &size, &length) == 0 && size == 1;
}
READER(signal_mask) {
  sigset_t now;
  sigprocmask(SIG_SETMASK, reinterpret_cast<const sigset_t*>(p->text), nullptr);
  sigprocmask(SIG_SETMASK, nullptr, &now);
  // '4' is 0x34: the third of the signals, SIGQUIT, is one of them.
  return sigismember(&now, SIGQUIT) == 1;
}
READER(getopt) {
  char* words[] = {const_cast<char*>("ways"), p->text, nullptr};
  p->more[0] = '-';
  memmove(p->more + 1, p->text, 8);
  words[1] = p->more;
  return getopt(2, words, "4") == '4';
}
READER(name_in_pool) {
  // A name in PM, by which the kernel looks for a file: a right one is there.
  const int made = open(kText, O_WRONLY | O_CREAT, 0600);
  close(made);
  return access(p->text, F_OK) == 0;
}
READER(semaphores) {
  const int set = semget(IPC_PRIVATE, 1, 0600);
  auto* values = reinterpret_cast<unsigned short*>(p->numbers);
  const bool same = semctl(set, 0, SETALL, values) == 0 && semctl(set, 0, GETVAL) == 1;
  semctl(set, 0, IPC_RMID);
  return same;
}
READER(deep_binding) {
  void* library = dlopen("libhelper_open.so", RTLD_NOW | RTLD_DEEPBIND);
  if (library == nullptr) abort();
  auto* at = reinterpret_cast<char* (*)(const char*, size_t)>(dlsym(library, "helper_open"))(g_pool_path, kPoolSize);
  return at != nullptr && is_text(at + offset_of(p, p->text));
}
READER(env_without_preload) {
  // The child's environment says nothing of us.
  const pid_t child = fork();
  if (child == 0) {
    const char* words[] = {g_program, g_pool_path, "read", "atoi", nullptr};
    const char* environment[] = {"PATH=/usr/bin:/bin", nullptr};
    execve(g_program, const_cast<char**>(words), const_cast<char**>(environment));
    _exit(98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

// By others.
static Pool* g_shared;
static volatile sig_atomic_t g_seen;
READER(thread) {
  bool same = true;
  std::thread([&] { same = *const_cast<volatile char*>(p->text) == '4'; }).join();
  return same;
}
READER(thread_libc) {
  bool same = true;
  std::thread([&] { same = atoi(p->text) == 4711; }).join();
  return same;
}
READER(signal_handler) {
  g_shared = p;
  signal(SIGUSR1, [](int) { g_seen = *const_cast<volatile char*>(g_shared->text); });
  raise(SIGUSR1);
  return g_seen == '4';
}
READER(signal_handler_libc) {
  g_shared = p;
  signal(SIGUSR1, [](int) { g_seen = memchr(g_shared->text, 'z', 64) != nullptr; });
  raise(SIGUSR1);
  return g_seen == 1;
}
READER(alternate_stack) {
  static char stack[65536];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  g_shared = p;
  struct sigaction action = {};
  action.sa_handler = [](int) { g_seen = *const_cast<volatile char*>(g_shared->text); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  return g_seen == '4';
}
static ucontext_t g_main_context, g_coroutine;
READER(coroutine) {
  static char stack[65536];
  g_shared = p;
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = sizeof stack;
  g_coroutine.uc_link = &g_main_context;
  makecontext(&g_coroutine, [] { g_seen = atoi(g_shared->text); }, 0);
  swapcontext(&g_main_context, &g_coroutine);
  return g_seen == 4711;
}
static int child_said(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
READER(fork) {
  const pid_t child = fork();
  if (child == 0) _exit(*const_cast<volatile char*>(p->text) == '4' ? 0 : 1);
  return child_said(child) == 0;
}
READER(fork_libc) {
  const pid_t child = fork();
  if (child == 0) _exit(atoi(p->text) == 4711 ? 0 : 1);
  return child_said(child) == 0;
}
READER(fork_twice) {
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(*const_cast<volatile char*>(p->text) == '4' ? 0 : 1);
    _exit(child_said(grandchild));
  }
  return child_said(child) == 0;
}
READER(vfork_exec) {
  const pid_t child = vfork();
  if (child == 0) {
    execl(g_program, g_program, g_pool_path, "read", "atoi", nullptr);
    _exit(98);
  }
  return child_said(child) == 0;
}
READER(spawn) {
  pid_t child;
  const char* words[] = {g_program, g_pool_path, "read", "strtol", nullptr};
  if (posix_spawn(&child, g_program, nullptr, nullptr, const_cast<char**>(words), environ) != 0) return true;
  return child_said(child) == 0;
}
READER(exec) {
  execl(g_program, g_program, g_pool_path, "read", "direct", nullptr);
  return false;
}
READER(system) {
  const std::string command = std::string(g_program) + " " + g_pool_path + " read direct";
  return system(command.c_str()) == 0;
}
READER(popen) {
  const std::string command = "grep -c gamma " + std::string(g_pool_path);
  FILE* from = popen(command.c_str(), "r");
  int count = 0;
  const bool got = fscanf(from, "%d", &count) == 1;
  pclose(from);
  return got && count > 0;
}
READER(cmp_by_dd) {
  const std::string command =
      "dd if=" + std::string(g_pool_path) + " bs=1 skip=4096 count=4 2>/dev/null | grep -q 4711";
  return system(command.c_str()) == 0;
}

// What the system reads at an address that it is given. The numbers: 1, 4, 7, 10 ...
READER(futex_compare) {
  // It would wait while the word is what was stored; what it says of another one is EAGAIN.
  const timespec none = {0, 1};
  int first;
  memcpy(&first, kText, 4);
  return syscall(SYS_futex, p->text, FUTEX_WAIT, first, &none, nullptr, 0) == -1 && errno == ETIMEDOUT;
}
READER(set_timer) {
  // More microseconds than a second has.
  return setitimer(ITIMER_REAL, reinterpret_cast<itimerval*>(p->numbers), nullptr) == -1 && errno == EINVAL;
}
READER(poll_asked) {
  // What is polled: descriptor 1, of which the events 4 are asked.
  pollfd* asked = reinterpret_cast<pollfd*>(p->numbers);
  return poll(asked, 1, 0) == 1 && asked->revents != 0;
}
READER(set_xattr) {
  const int file = open("attributed", O_CREAT | O_RDWR, 0600);
  char back[64];
  if (fsetxattr(file, "user.blackout", p->text, sizeof kText, 0) != 0) return true;
  return fgetxattr(file, "user.blackout", back, sizeof back) == sizeof kText && is_text(back);
}
READER(set_limit) {
  rlimit* wanted = reinterpret_cast<rlimit*>(p->numbers);  // more than 4 thousand million
  rlimit now;
  if (setrlimit(RLIMIT_CORE, wanted) != 0) return false;
  return getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur != 0;
}
READER(utimens) {
  const int file = open("touched", O_CREAT | O_RDWR, 0600);
  timespec when[2] = {{0, 0}, {0, 0}};
  struct stat st;
  memcpy(&when[1].tv_sec, p->numbers, 4);
  if (futimens(file, when) != 0 || fstat(file, &st) != 0) return false;
  return st.st_mtim.tv_sec == 1;
}
READER(send_from) {
  int ends[2];
  char got[64];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return true;
  const iovec parts[] = {{p->text, 10}, {p->text + 10, sizeof kText - 10}};
  if (writev(ends[0], parts, 2) != sizeof kText) return false;
  return recv(ends[1], got, sizeof got, MSG_WAITALL | MSG_DONTWAIT) == sizeof kText && is_text(got);
}
READER(tee) {
  int first[2], second[2];
  char got[64];
  const iovec part = {p->text, sizeof kText};
  if (pipe(first) != 0 || pipe(second) != 0 || vmsplice(first[1], &part, 1, 0) != sizeof kText) return false;
  if (tee(first[0], second[1], sizeof kText, 0) != sizeof kText) return false;
  return read(second[0], got, sizeof got) == sizeof kText && is_text(got);
}
READER(memory_file) {
  const int file = memfd_create("copy", 0), from = open(g_pool_path, O_RDONLY);
  char got[64];
  off_t offset = 4096;
  if (sendfile(file, from, &offset, sizeof kText) != sizeof kText) return false;
  return pread(file, got, sizeof got, 0) == sizeof kText && is_text(got);
}
READER(mremap_second) {
  const char* second = static_cast<const char*>(mremap(p, 0, 16384, MREMAP_MAYMOVE));
  return second != MAP_FAILED && is_text(second + 4096);
}
READER(remap_pages) {
  if (remap_file_pages(p->more, 4096, 0, 1, 0) != 0) return true;
  return is_text(p->more);
}
READER(preadv2_here) {
  const int file = open(g_pool_path, O_RDONLY);
  char got[64];
  const iovec part = {got, sizeof kText};
  lseek(file, 4096, SEEK_SET);
  return preadv2(file, &part, 1, -1, 0) == sizeof kText && is_text(got);
}
READER(dont_need) {
  // What it stores itself is in the file, and stays.
  *const_cast<volatile char*>(p->more) = 7;
  madvise(p, kPoolSize, MADV_DONTNEED);
  return *const_cast<volatile char*>(p->more) == 7 && is_text(p->text);
}
READER(fault_jump) {
  static sigjmp_buf back;
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(back, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  mprotect(p, kPoolSize, PROT_NONE);
  if (sigsetjmp(back, 1) == 0) return is_text(p->text);
  mprotect(p, kPoolSize, PROT_READ);
  return is_text(p->text);
}
READER(leave) {
  uint64_t first, got;
  memcpy(&first, kText, 8);
  asm volatile(
      "movq %%rsp, %%r12; movq %%rbp, %%r13; movq %1, %%rbp; leave; movq %%rbp, %0; movq %%r12, %%rsp; movq %%r13, "
      "%%rbp"
      : "=&r"(got)
      : "r"(p->text)
      : "r12", "r13", "memory");
  return got == first;
}
READER(x87) {
  long got;
  asm volatile("fildll %1; fistpll %0" : "=m"(got) : "m"(p->numbers[0]));
  return got == (1L | 4L << 32);
}
READER(fbld) {
  // Eighteen digits.
  long got;
  asm volatile("fbld %1; fistpll %0" : "=m"(got) : "m"(p->numbers[0]));
  return got == 70000000400000001;
}
READER(cmov) {
  long got = 0;
  asm volatile("testq %%rax, %%rax; cmovzq %1, %0" : "+r"(got) : "m"(p->numbers[0]), "a"(0L) : "cc");
  return got == (1L | 4L << 32);
}
READER(divide) {
  long quotient = 4711, rest = 0;
  if (p->numbers[1] < -1) return true;
  asm volatile("addl $1, %%eax; mull %2" : "+a"(quotient), "=d"(rest) : "m"(p->numbers[2]) : "cc");
  return quotient == 4712 * 7;
}
READER(crc_instruction) {
  unsigned long sum = 0, right = 0, word;
  for (int i = 0; i < 2; ++i) {
    memcpy(&word, kText + 8 * i, 8);
    asm volatile("crc32q %1, %0" : "+r"(sum) : "m"(p->text[8 * i]));
    asm volatile("crc32q %1, %0" : "+r"(right) : "r"(word));
  }
  return sum == right;
}
READER(broadcast) {
  int got[8];
  asm volatile("vpbroadcastd %1, %%ymm0; vmovdqu %%ymm0, %0; vzeroupper" : "=m"(got) : "m"(p->numbers[3]) : "xmm0");
  return got[0] == 10 && got[7] == 10;
}
READER(test_vector) {
  bool zero;
  asm volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0; vptest %1, %%xmm0; setz %0"
               : "=r"(zero)
               : "m"(p->numbers[0])
               : "xmm0", "cc");
  return !zero;
}
READER(failing_exchange) {
  // It stores nothing, and says what is there.
  long expected = 0, wanted = 0;
  asm volatile("lock cmpxchgq %2, %1" : "+a"(expected), "+m"(p->numbers[0]) : "r"(wanted) : "cc", "memory");
  return expected == (1L | 4L << 32);
}
READER(regex_match) { return std::regex_match(p->text, p->text + sizeof kText - 1, std::regex("[0-9]+( [a-z]+)+")); }
READER(path) { return std::filesystem::path(p->text).native() == kText; }
READER(wide_copy) {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<std::pmr::string> words(&memory);
  words.emplace_back(p->text);
  return words[0] == kText;
}
READER(task_folder) {
  // Its own thread, by its number.
  char name[64], got[64] = "";
  snprintf(name, sizeof name, "/proc/self/task/%d/comm", gettid());
  const int file = open(name, O_RDONLY);
  if (file < 0 || read(file, got, sizeof got) < 4) abort();
  snprintf(name, sizeof name, "/proc/%d/task/%d/comm", getpid(), gettid());
  if (access(name, R_OK) != 0) abort();
  return strncmp(got, "ways", 4) == 0 && is_text(p->text);
}
