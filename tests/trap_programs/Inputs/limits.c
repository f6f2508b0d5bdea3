// Programs that use what traps use: protection of their own, seccomp, io_uring.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "Inputs/pool.h"

static sigjmp_buf back;
static void* volatile address;
static void jump(int signal, siginfo_t* info, void* context) {
  (void)context;
  address = info->si_addr;
  siglongjmp(back, signal);
}

static void flush(volatile void* p) { __asm__ volatile("clflush %0\n sfence" : : "m"(*(volatile char*)p) : "memory"); }

static int protects(volatile uint64_t* p) {
  struct sigaction action = {.sa_sigaction = jump, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  p[512] = 1;
  if (mprotect((void*)(p + 512), 4096, PROT_READ) != 0) return 3;
  p[0] = 2;  // the other page is as it was
  if (sigsetjmp(back, 1) == 0) {
    p[513] = 3;
    return 4;
  }
  if (address != (void*)(p + 513) || p[512] != 1 || p[513] != 0) return 5;
  if (mprotect((void*)(p + 512), 4096, PROT_NONE) != 0) return 6;
  if (sigsetjmp(back, 1) == 0) return (int)p[512];
  if (address != (void*)(p + 512)) return 7;
  if (mprotect((void*)p, 8192, PROT_READ | PROT_WRITE) != 0) return 8;
  p[513] = 4;
  flush(p);
  flush(p + 512);
  return p[512] == 1 && p[513] == 4 ? 0 : 9;
}

// A filter that makes one call fail, as a sandbox would.
static int sandboxed(volatile uint64_t* p) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 3;
  p[0] = 1;
  if (syscall(SYS_sched_yield) != -1 || errno != ENOTTY) return 4;
  int fd = open("/dev/zero", O_RDONLY);
  p[1] = 2;
  if (read(fd, (void*)(p + 1), 8) != 8 || p[1] != 0) return 5;
  flush(p);
  return 0;
}

// A thread with its stack in the pool.
static void* squares(void* argument) {
  volatile uint64_t kept[64];
  for (uint64_t i = 0; i < 64; ++i) kept[i] = i * i;
  *(volatile uint64_t*)argument = kept[9];
  return NULL;
}
static int stacked(volatile uint64_t* p) {
  static uint64_t result;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  char* stack = (char*)mapPool("stack", 1 << 20);
  if (pthread_attr_setstack(&attributes, stack, 1 << 20) != 0) return 3;
  pthread_t thread;
  if (pthread_create(&thread, &attributes, squares, &result) != 0 || pthread_join(thread, NULL) != 0) return 4;
  return result == 81 && p[0] == 1 ? 0 : 5;
}

// A child's memory is written through the debugger's interface.
static int control(volatile uint64_t* p) {
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    _exit(p[0] == 1 ? 0 : 5);
  }
  int status;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 3;
  if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) return 4;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 5;
}

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 8192);
  if (argc < 3) return 2;
  if (strcmp(argv[2], "protects") == 0) return protects(p);
  if (strcmp(argv[2], "sandboxed") == 0) return sandboxed(p);
  p[0] = 1;
  flush(p);
  if (strcmp(argv[2], "plain") == 0) return 0;
  if (strcmp(argv[2], "stacked") == 0) return stacked(p);
  if (strcmp(argv[2], "control") == 0) return control(p);
  if (strcmp(argv[2], "spawned") == 0) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, argv[1], O_RDWR, 0);
    char* arguments[] = {"true", NULL};
    pid_t child;
    int status;
    if (posix_spawnp(&child, "true", &actions, NULL, arguments, environ) != 0) return 3;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 4;
  }
  if (strcmp(argv[2], "generated") == 0) {
    // mov $SYS_getuid, %eax; syscall; ret
    unsigned char code[] = {0xb8, SYS_getuid, 0, 0, 0, 0x0f, 0x05, 0xc3};
    char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return 3;
    return ((uid_t(*)(void))page)() == getuid() ? 0 : 4;
  }
  // Whether the kernel has it or not.
  char parameters[256] = {0};
  long ring = syscall(SYS_io_uring_setup, 4, parameters);
  return ring >= 0 || errno == ENOSYS || errno == EPERM ? 0 : 3;
}
