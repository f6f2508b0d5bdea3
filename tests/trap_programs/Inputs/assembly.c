// System calls that no library is asked for. Each part prints what it found; parts that change something look at it by
// the C library's functions as well.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static long call(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}
#define P(p) ((long)(p))
static void expect(int holds, const char* what) {
  if (!holds) printf("not so: %s\n", what);
}

static char* map(long file) {
  long at = call(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  if (at < 0 && at > -4096) exit(9);
  return (char*)at;
}
static void persist(volatile char* p, char value) {
  *p = value;
  __asm__ volatile("clflush %0\nsfence" : "+m"(*p));
}

static void files(void) {
  // A pool by every way of making one.
  long a = call(SYS_creat, P("pm/a"), 0600, 0, 0, 0);
  expect(a >= 0 && call(SYS_ftruncate, a, 4096, 0, 0, 0) == 0, "creat, ftruncate");
  call(SYS_close, a, 0, 0, 0, 0);
  a = call(SYS_openat, AT_FDCWD, P("pm/a"), O_RDWR, 0, 0);
  persist(map(a), 1);
  struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
  long b = call(SYS_openat2, AT_FDCWD, P("pm/b"), P(&how), sizeof how, 0);
  expect(b >= 0 && call(SYS_fallocate, b, 0, 0, 4096, 0) == 0, "openat2, fallocate");
  persist(map(b), 2);
  expect(call(SYS_pwrite64, b, P("written"), 7, 64, 0) == 7, "pwrite64");
  struct stat st, by;
  expect(call(SYS_stat, P("pm/b"), P(&st), 0, 0, 0) == 0 && stat("pm/b", &by) == 0 && st.st_ino == by.st_ino, "stat");
  expect(call(SYS_open, P("pm/none"), O_RDWR, 0, 0, 0) == -ENOENT, "open of nothing");
  expect(call(SYS_rename, P("pm/b"), P("pm/c"), 0, 0, 0) == 0 && access("pm/b", F_OK) != 0 && access("pm/c", F_OK) == 0,
         "rename");
  expect(call(SYS_linkat, AT_FDCWD, P("pm/c"), AT_FDCWD, P("pm/d"), 0) == 0 && access("pm/d", F_OK) == 0, "linkat");
  expect(call(SYS_unlink, P("pm/d"), 0, 0, 0, 0) == 0 && access("pm/d", F_OK) != 0, "unlink");
  expect(call(SYS_unlinkat, AT_FDCWD, P("pm/a"), 0, 0, 0) == 0 && access("pm/a", F_OK) != 0, "unlinkat");
  expect(call(SYS_truncate, P("pm/c"), 8192, 0, 0, 0) == 0 && stat("pm/c", &by) == 0 && by.st_size == 8192, "truncate");
  char where[4096], by_libc[4096];
  expect(call(SYS_getcwd, P(where), sizeof where, 0, 0, 0) == (long)strlen(getcwd(by_libc, sizeof by_libc)) + 1 &&
             strcmp(where, by_libc) == 0,
         "getcwd");
  expect(call(SYS_getcwd, P(where), 1, 0, 0, 0) == -ERANGE, "getcwd without room");
  expect(call(SYS_fcntl, b, F_GETFL, 0, 0, 0) == fcntl((int)b, F_GETFL), "fcntl");
  expect(call(SYS_chmod, P("pm/c"), 0640, 0, 0, 0) == 0 && stat("pm/c", &by) == 0 && (by.st_mode & 0777) == 0640,
         "chmod");
  // A function of libc's that none of ours stands before.
  struct statfs system;
  expect(statfs("pm/c", &system) == 0, "libc's statfs");
}

static volatile int handled;
static void handler(int signal) { handled = signal; }
extern void restore(void);
__asm__("restore: mov $15, %eax\nsyscall");

static void processes(void) {
  int status;
  long child = call(SYS_fork, 0, 0, 0, 0, 0);
  if (child == 0) call(SYS_exit_group, 3, 0, 0, 0, 0);
  expect(waitpid((pid_t)child, &status, 0) == child && WEXITSTATUS(status) == 3, "fork");
  child = call(SYS_vfork, 0, 0, 0, 0, 0);
  if (child == 0) {
    char* arguments[] = {"sh", "-c", "test \"$A\" = 1 && exit 4", NULL};
    char* environment[] = {"A=1", NULL};
    call(SYS_execve, P("/bin/sh"), P(arguments), P(environment), 0, 0);
    call(SYS_exit_group, 5, 0, 0, 0, 0);
  }
  expect(waitpid((pid_t)child, &status, 0) == child && WEXITSTATUS(status) == 4, "vfork, execve");
  child = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) call(SYS_exit_group, 6, 0, 0, 0, 0);
  expect(waitpid((pid_t)child, &status, 0) == child && WEXITSTATUS(status) == 6, "clone as fork");
  // Handlers and masks: a fault must be followed all the same.
  uint64_t all = ~0ull, before = 1, now = 0;
  expect(call(SYS_rt_sigprocmask, SIG_SETMASK, P(&all), P(&before), 8, 0) == 0 && before == 0, "rt_sigprocmask");
  long file = call(SYS_open, P("pm/e"), O_RDWR | O_CREAT, 0600, 0, 0);
  call(SYS_ftruncate, file, 4096, 0, 0, 0);
  persist(map(file), 5);
  uint64_t none = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, P(&none), P(&now), 8, 0);
  expect((now | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)) == all, "what was blocked");
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
  } action = {handler, 0x04000000, restore, all};
  for (int s = 0; s < 3; ++s) {
    int signals[] = {SIGUSR1, SIGSEGV, SIGSYS};
    handled = 0;
    expect(call(SYS_rt_sigaction, signals[s], P(&action), 0, 8, 0) == 0, "rt_sigaction");
    raise(signals[s]);
    expect(handled == signals[s], "its handler");
  }
  persist(map(file), 6);
  // On a stack that has no room for much.
  static char small[8192];
  stack_t stack = {.ss_sp = small, .ss_size = sizeof small};
  sigaltstack(&stack, NULL);
  expect(call(SYS_close, call(SYS_open, P("pm/e"), O_RDONLY, 0, 0, 0), 0, 0, 0, 0) == 0, "with an alternate stack");
}

static int in_thread;
static char thread_stack[65536] __attribute__((aligned(16)));
static void threads(void) {
  long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  long made = SYS_clone;
  __asm__ volatile(
      "syscall\n"
      "test %%eax, %%eax\n"
      "jnz 1f\n"
      "movl $1, %[seen]\n"
      "mov $60, %%eax\n"
      "xor %%edi, %%edi\n"
      "syscall\n"
      "1:"
      : "+a"(made), [seen] "=m"(in_thread)
      : "D"(flags), "S"(thread_stack + sizeof thread_stack - 64), "d"(0), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  for (int i = 0; i < 10000 && !*(volatile int*)&in_thread; ++i) usleep(100);
  expect(made > 0 && in_thread, "a thread");
}

int main(int argc, char** argv) {
  if (strcmp(argv[1], "files") == 0) files();
  if (strcmp(argv[1], "files") != 0) {
    long file = call(SYS_open, P("pm/pool"), O_RDWR | O_CREAT, 0600, 0, 0);
    call(SYS_ftruncate, file, 4096, 0, 0, 0);
    persist(map(file), 1);
  }
  if (strcmp(argv[1], "processes") == 0) processes();
  if (strcmp(argv[1], "threads") == 0) threads();
  if (strcmp(argv[1], "unknown") == 0) expect(call(999, 0, 0, 0, 0, 0) == -ENOSYS, "a number that is none");
  if (strcmp(argv[1], "attributes") == 0) call(SYS_setxattr, P("pm/pool"), P("user.name"), P("x"), 1, 0);
  if (strcmp(argv[1], "unseen") == 0) call(SYS_chroot, P("/"), 0, 0, 0, 0);
  printf("done\n");
  return 0;
}
