// Ways to reach a pool in a restart: read, mapped and opened in every manner, under locks and other names. Each sees the bug
// (the text's flush is left out), and none blames the right version. ways_all.test has the rest of the combinations.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o compiled
// RUN: gcc -O1 -g -Wall -Wextra -Wno-comment -Werror %s -o plain
// RUN: %S/Inputs/every_way.sh %blackout "compiled write" "plain write-right"
//
// A recording has its locks as well.
// RUN: ./plain pool locks-across-exec && %blackout record --pm pool -o trace -- ./plain pool locks-across-exec
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct pool {
  long valid;
  char apart[56];
  char text[64];
};
enum { kSize = 4096 };

static void persist(const void* at) {
  _mm_clflush(at);
  _mm_sfence();
}

static void write_record(struct pool* p, int right) {
  strcpy(p->text, "hello");
  if (right) persist(p->text);
  p->valid = 1;
  persist(&p->valid);
}

static int broken(const struct pool* p) { return p->valid && strcmp(p->text, "hello") != 0; }

// What can't work is no finding of the pool's: it must not look like one.
#define NEED(condition) \
  if (!(condition)) return printf("%s: %s\n", #condition, strerror(errno)), abort(), 0

static int mapped(int fd, int protection, int flags, size_t size) {
  NEED(fd >= 0);
  struct pool* p = mmap(0, size, protection, flags, fd, 0);
  NEED(p != MAP_FAILED);
  return broken(p);
}
static int usual(int fd) { return mapped(fd, PROT_READ | PROT_WRITE, MAP_SHARED, kSize); }

// --- mappings ---
static int read_only(const char* path) { return mapped(open(path, O_RDONLY), PROT_READ, MAP_SHARED, kSize); }
static int read_only_private(const char* path) { return mapped(open(path, O_RDONLY), PROT_READ, MAP_PRIVATE, kSize); }
static int private_written(const char* path) {
  int fd = open(path, O_RDONLY);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  NEED(p != MAP_FAILED);
  p->apart[0] = 1;
  char c = 9;
  NEED(pread(fd, &c, 1, 8) == 1 && c == 0);  // its own affair
  return broken(p);
}
static int both(const char* path) {
  int fd = open(path, O_RDWR);
  struct pool* w = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  struct pool* r = mmap(0, kSize, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
  NEED(w != MAP_FAILED && r != MAP_FAILED);
  w->apart[0] = 7;
  NEED(r->apart[0] == 7);
  return broken(r);
}
// What it stored is in the file, not only in its mapping.
static int mapped_again(const char* path) {
  int fd = open(path, O_RDWR);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED && p->apart[1] == 0);
  p->apart[1] = 7;
  NEED(munmap(p, kSize) == 0);
  p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED && p->apart[1] == 7);
  return broken(p);
}
static int read_again(const char* path) {
  int fd = open(path, O_RDWR);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED);
  p->apart[1] = 7;
  NEED(munmap(p, kSize) == 0 && munmap(p, kSize) == 0);
  NEED(mmap(p, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p && p->apart[1] == 0);
  struct pool q;
  NEED(pread(fd, &q, sizeof q, 0) == sizeof q && q.apart[1] == 7);
  return broken(&q);
}
static int huge(const char* path) { return mapped(open(path, O_RDWR), PROT_READ, MAP_SHARED, (size_t)1 << 38); }
static int huge_private(const char* path) {
  return mapped(open(path, O_RDONLY), PROT_READ, MAP_PRIVATE | MAP_NORESERVE, (size_t)1 << 38);
}
static int refused(const char* path) {
  // As on any file.
  int fd = open(path, O_RDONLY);
  NEED(mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
  NEED(write(fd, "x", 1) == -1 && errno == EBADF);
  NEED(ftruncate(fd, 1) == -1 && (errno == EINVAL || errno == EBADF));
  int writes = open(path, O_WRONLY);
  char c;
  NEED(read(writes, &c, 1) == -1 && errno == EBADF);
  NEED(mmap(0, kSize, PROT_READ, MAP_SHARED, writes, 0) == MAP_FAILED && errno == EACCES);
  return mapped(fd, PROT_READ, MAP_SHARED, kSize);
}

// --- reading ---
static int by_read(const char* path) {
  struct pool p;
  int fd = open(path, O_RDONLY);
  ssize_t n = read(fd, &p, sizeof p);
  if (n <= 0) return 0;  // not made yet
  NEED(n == sizeof p);
  return broken(&p);
}
static int by_pread(const char* path) {
  struct pool p;
  int fd = open(path, O_RDONLY);
  NEED(pread(fd, p.text, 64, 64) == 64 && pread(fd, &p, 64, 0) == 64);
  return broken(&p);
}
static int by_readv(const char* path) {
  struct pool p;
  struct iovec parts[] = {{&p, 64}, {p.text, 64}};
  int fd = open(path, O_RDWR);
  NEED(readv(fd, parts, 2) == sizeof p);
  memset(&p, 9, sizeof p);
  NEED(preadv(fd, parts, 2, 0) == sizeof p);
  return broken(&p);
}
static int by_fread(const char* path) {
  struct pool p;
  FILE* f = fopen(path, "r");
  NEED(f != NULL && fread(&p, sizeof p, 1, f) == 1);
  return broken(&p);
}
static int by_fdopen(const char* path) {
  struct pool p;
  FILE* f = fdopen(open(path, O_RDONLY), "r");
  NEED(f != NULL && fread(&p, sizeof p, 1, f) == 1);
  return broken(&p);
}
static int by_freopen(const char* path) {
  struct pool p;
  FILE* f = freopen(path, "r", stdin);
  NEED(f != NULL && fread(&p, sizeof p, 1, f) == 1);
  return broken(&p);
}
static int by_system_call(const char* path) {
  struct pool p;
  long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  NEED(fd >= 0 && syscall(SYS_pread64, fd, &p, sizeof p, 0L) == sizeof p);
  return broken(&p);
}
static int by_other_process(const char* path) {
  char command[1000];
  snprintf(command, sizeof command, "./plain %s read", path);
  int status = system(command);
  NEED(WIFEXITED(status));
  return WEXITSTATUS(status);
}
static int on_standard_input(const char* path) {
  char command[1000];
  snprintf(command, sizeof command, "./plain - standard-input < %s", path);
  int status = system(command);
  NEED(WIFEXITED(status));
  return WEXITSTATUS(status);
}
static int standard_input(const char* path) {
  struct pool p;
  if (strcmp(path, "-") != 0) return on_standard_input(path);
  NEED(read(0, &p, sizeof p) == sizeof p);
  return broken(&p);
}

// --- opening ---
static int no_follow(const char* path) { return usual(open(path, O_RDWR | O_NOFOLLOW)); }
static int direct(const char* path) {
  struct pool* p = aligned_alloc(4096, 4096);
  int fd = open(path, O_RDONLY | O_DIRECT);
  if (fd < 0 && errno == EINVAL) return usual(open(path, O_RDWR));
  NEED(read(fd, p, 4096) == 4096);
  return broken(p);
}
static int proc_fd(const char* path) {
  char again[64];
  snprintf(again, sizeof again, "/proc/self/fd/%d", open(path, O_RDONLY));
  return usual(open(again, O_RDWR));
}
static int dev_fd(const char* path) {
  char again[64];
  snprintf(again, sizeof again, "/dev/fd/%d", open(path, O_PATH));
  return mapped(open(again, O_RDONLY), PROT_READ, MAP_SHARED, kSize);
}
static int other_link(const char* path) {
  (void)path;
  return usual(open("hard", O_RDWR));
}
static int other_link_read(const char* path) {
  (void)path;
  return by_read("hard");
}
static int symbolic_link(const char* path) {
  (void)path;
  return usual(open("soft", O_RDWR));
}
// Names that the restart itself makes.
static int own_symbolic_link(const char* path) {
  NEED(symlink(path, "mine") == 0);
  return usual(open("mine", O_RDWR));
}
static int own_link_of_link(const char* path) {
  NEED(mkdir("below", 0700) == 0 && symlink("first", "second") == 0 && symlink("below/../soft", "first") == 0);
  (void)path;
  return by_read("second");
}
static int own_folder_link(const char* path) {
  char name[1000];
  NEED(mkdir("below", 0700) == 0 && symlink("..", "below/up") == 0);
  snprintf(name, sizeof name, "below/up/%s", path);
  struct stat st;
  NEED(lstat(name, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == kSize);
  return usual(open(name, O_RDWR | O_NOFOLLOW));
}
static int own_hard_link(const char* path) {
  NEED(link(path, "mine") == 0);
  int bad = by_read("mine");
  struct stat a, b;
  NEED(stat(path, &a) == 0 && stat("mine", &b) == 0 && a.st_ino == b.st_ino && a.st_nlink == b.st_nlink);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, open("mine", O_RDWR), 0);
  NEED(p != MAP_FAILED);
  p->apart[0] = 3;
  char c = 0;
  NEED(pread(open(path, O_RDONLY), &c, 1, 8) == 1 && c == 3);
  return bad;
}
static int duplicate(const char* path) {
  int fd = fcntl(dup(open(path, O_RDONLY)), F_DUPFD, 100);
  NEED(fd == 100);
  struct pool p;
  NEED(read(fd, &p, sizeof p) == sizeof p);
  return broken(&p);
}

// Beyond what most programs use.
static int high_descriptor(const char* path) {
  struct rlimit limit;
  NEED(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_max < 4096) return usual(open(path, O_RDWR));
  limit.rlim_cur = 4096;
  NEED(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int fd = open(path, O_RDWR), reader = open(path, O_RDONLY);
  NEED(dup2(fd, 3000) == 3000 && close(fd) == 0 && fcntl(reader, F_DUPFD, 3001) == 3001);
  NEED((fcntl(3000, F_GETFL) & O_ACCMODE) == O_RDWR && (fcntl(3001, F_GETFL) & O_ACCMODE) == O_RDONLY);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, 3000, 0);
  NEED(p != MAP_FAILED);
  p->apart[0] = 5;
  // Through the descriptor, and after a write through it, which gives the restart files of its own.
  char c = 6;
  NEED(pread(3000, &c, 1, 8) == 1 && c == 5);
  c = 7;
  NEED(pwrite(3000, &c, 1, 9) == 1 && p->apart[1] == 7);
  NEED(pread(3001, &c, 1, 8) == 1 && c == 5);
  NEED(pread(3001, &c, 1, 9) == 1 && c == 7);
  NEED(write(3001, "x", 1) == -1 && errno == EBADF);
  // And in a program that is handed it.
  char command[1000];
  snprintf(command, sizeof command, "exec 9<&-; ./plain - standard-input < /proc/self/fd/3000");
  int status = system(command);
  NEED(WIFEXITED(status));
  return WEXITSTATUS(status) | broken(p);
}

// --- locks ---
static struct flock all(short type) {
  struct flock l;
  memset(&l, 0, sizeof l);
  l.l_type = type;
  l.l_whence = SEEK_SET;
  return l;
}
// Another process is kept out, and let in.
static int held(const char* path, int command) {
  pid_t child = fork();
  if (child == 0) {
    struct flock l = all(F_WRLCK);
    _exit(fcntl(open(path, O_RDWR), command, &l) == 0 ? 1 : 0);
  }
  int status;
  waitpid(child, &status, 0);
  return status == 0;
}
static int locks(const char* path) {
  int fd = open(path, O_RDWR);
  struct flock l = all(F_WRLCK);
  NEED(fcntl(fd, F_SETLKW, &l) == 0);
  NEED(held(path, F_SETLK));
  l = all(F_UNLCK);
  NEED(fcntl(fd, F_SETLK, &l) == 0 && !held(path, F_SETLK));
  l = all(F_RDLCK);
  NEED(fcntl(fd, F_SETLK, &l) == 0);
  l = all(F_WRLCK);
  NEED(fcntl(fd, F_SETLK, &l) == 0);
  return usual(fd);
}
static int locks_after_mapping(const char* path) {
  int fd = open(path, O_RDWR);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED);
  p->apart[0] = 5;
  struct flock l = all(F_WRLCK);
  NEED(fcntl(fd, F_SETLKW, &l) == 0 && p->apart[0] == 5);
  int second = open(path, O_RDWR);
  l = all(F_WRLCK);
  NEED(fcntl(second, F_GETLK, &l) == 0 && l.l_type == F_UNLCK);  // its own
  return broken(p);
}
static int open_file_locks(const char* path) {
  int fd = open(path, O_RDWR), second = open(path, O_RDWR), reader = open(path, O_RDONLY);
  struct flock l = all(F_WRLCK);
  NEED(fcntl(fd, F_OFD_SETLK, &l) == 0);
  l = all(F_WRLCK);
  NEED(fcntl(second, F_OFD_SETLK, &l) == -1 && (errno == EAGAIN || errno == EACCES));
  l = all(F_WRLCK);
  NEED(fcntl(second, F_OFD_GETLK, &l) == 0 && l.l_type == F_WRLCK);
  l = all(F_UNLCK);
  NEED(fcntl(fd, F_OFD_SETLKW, &l) == 0);
  l = all(F_WRLCK);
  NEED(fcntl(second, F_OFD_SETLK, &l) == 0);
  l = all(F_WRLCK);
  NEED(fcntl(reader, F_SETLK, &l) == -1 && errno == EBADF);  // as on any file
  return usual(fd);
}
static int whole_file_locks(const char* path) {
  int fd = open(path, O_RDONLY), second = open(path, O_RDWR);
  NEED(flock(fd, LOCK_EX) == 0 && flock(second, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
  NEED(flock(fd, LOCK_UN) == 0 && flock(second, LOCK_EX | LOCK_NB) == 0);
  NEED(lockf(second, F_LOCK, 0) == 0 && held(path, F_SETLK));
  return mapped(fd, PROT_READ, MAP_SHARED, kSize);
}
// Of a process that was killed: nobody has it any more.
static int abandoned(const char* path) {
  pid_t child = fork();
  if (child == 0) {
    struct flock l = all(F_WRLCK);
    int fd = open(path, O_RDWR);
    if (fcntl(fd, F_SETLK, &l) != 0) _exit(1);
    abort();
  }
  int status;
  waitpid(child, &status, 0);
  NEED(WIFSIGNALED(status));
  struct flock l = all(F_WRLCK);
  int fd = open(path, O_RDWR);
  NEED(fcntl(fd, F_SETLKW, &l) == 0);
  return usual(fd);
}

// Record locks belong to the process, whatever it executes. What it maps for reading and writes through a stream makes
// the runtime open the pool for itself, which must not take them away.
static int keeps_its_lock(const char* path, int fd) {
  FILE* f = fdopen(fd, "r+");
  NEED(held(path, F_SETLK) && f != NULL && fseek(f, 8, SEEK_SET) == 0 && fputc(3, f) == 3 && fflush(f) == 0);
  NEED(mmap(0, kSize, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0) != MAP_FAILED && held(path, F_SETLK));
  return 1;
}
static int locks_across_exec(const char* path) {
  const char* inherited = getenv("LOCKED");
  if (inherited != NULL) return keeps_its_lock(path, atoi(inherited)) && usual(open(path, O_RDWR));
  int fd = open(path, O_RDWR);
  struct flock l = all(F_WRLCK);
  NEED(fcntl(fd, F_SETLK, &l) == 0 && keeps_its_lock(path, fd));
  char number[16];
  snprintf(number, sizeof number, "%d", fd);
  setenv("LOCKED", number, 1);
  execl("/proc/self/exe", "again", path, "locks-across-exec", (char*)NULL);
  NEED(0);
}

static const struct {
  const char* name;
  int (*read)(const char* path);
} kWays[] = {
    {"read-only", read_only},
    {"read-only-private", read_only_private},
    {"private-written", private_written},
    {"both", both},
    {"mapped-again", mapped_again},
    {"read-again", read_again},
    {"huge", huge},
    {"huge-private", huge_private},
    {"refused", refused},
    {"read", by_read},
    {"pread", by_pread},
    {"readv", by_readv},
    {"fread", by_fread},
    {"fdopen", by_fdopen},
    {"freopen", by_freopen},
    {"system-call", by_system_call},
    {"other-process", by_other_process},
    {"standard-input", standard_input},
    {"no-follow", no_follow},
    {"direct", direct},
    {"proc-fd", proc_fd},
    {"dev-fd", dev_fd},
    {"other-link", other_link},
    {"other-link-read", other_link_read},
    {"symbolic-link", symbolic_link},
    {"own-symbolic-link", own_symbolic_link},
    {"own-link-of-link", own_link_of_link},
    {"own-folder-link", own_folder_link},
    {"own-hard-link", own_hard_link},
    {"duplicate", duplicate},
    {"high-descriptor", high_descriptor},
    {"locks", locks},
    {"locks-after-mapping", locks_after_mapping},
    {"open-file-locks", open_file_locks},
    {"whole-file-locks", whole_file_locks},
    {"abandoned", abandoned},
    {"locks-across-exec", locks_across_exec},
};

int main(int argc, char** argv) {
  for (size_t i = 0; i < sizeof kWays / sizeof *kWays; ++i) {
    if (argc == 2) puts(kWays[i].name);
    if (argc > 2 && strcmp(argv[2], kWays[i].name) == 0) return kWays[i].read(argv[1]);
  }
  if (argc == 2) return 0;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  NEED(fd >= 0 && ftruncate(fd, kSize) == 0);
  struct pool* p = mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED);
  write_record(p, strcmp(argv[2], "write") != 0);
  if (argc > 4) return rename(argv[3], argv[4]) != 0;
  if (argc > 3) return unlink(argv[3]) != 0;
  return 0;
}
