// Ways in which a restart may end that found its data missing.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ways.h"

extern "C" Ending find_ending(const char* name) { return Way<Ending>::find(name); }

// What is missing, as a compiler can't know: 0.
static long missing(Pool* p) { return *reinterpret_cast<volatile char*>(p->text); }

ENDING(exit_1) { exit(1); }
ENDING(exit_255) { exit(255); }
ENDING(quick_exit) { quick_exit(3); }
ENDING(abort) { abort(); }
ENDING(assert) { assert(missing(p) != 0); }
ENDING(null_pointer) { *reinterpret_cast<volatile int*>(missing(p)) = 1; }
ENDING(wild_pointer) { *reinterpret_cast<volatile int*>(0x123450000000 + missing(p)) = 1; }
ENDING(null_function) { reinterpret_cast<void (*)()>(missing(p))(); }
ENDING(wild_function) { reinterpret_cast<void (*)()>(0x123450000000 + missing(p))(); }
ENDING(jump_into_pm) { reinterpret_cast<void (*)()>(p->area)(); }  // data is no code
ENDING(illegal_instruction) { asm volatile("ud2"); }
ENDING(division) {
  volatile int zero = static_cast<int>(missing(p));
  volatile int result = 1;
  result = result / zero;
}
ENDING(exception) { throw std::runtime_error("the text is missing"); }
ENDING(exception_in_thread) {
  std::thread([] { throw std::runtime_error("the text is missing"); }).join();
}
ENDING(terminate) { std::terminate(); }
ENDING(kill) { kill(getpid(), SIGKILL); }
ENDING(kill_term) { kill(getpid(), SIGTERM); }
ENDING(raise_bus) { raise(SIGBUS); }
ENDING(alarm) {
  alarm(1);
  pause();
}
static int recurse(volatile int* depth) {
  volatile int mine[64];
  mine[0] = *depth + 1;
  return recurse(mine) + mine[0];
}
ENDING(recursion) {
  volatile int depth = 0;
  recurse(&depth);
}
ENDING(double_free) {
  void* volatile block = malloc(16);
  free(block);
  free(block);
}
ENDING(stack_smash) {
  volatile long* frame = reinterpret_cast<volatile long*>(__builtin_frame_address(0));
  for (int i = 0; i < 40; ++i) frame[i] = 0x4141414141414141;
}
ENDING(deadlock) {
  // Locked in this process, and again.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
}
ENDING(deadlock_pm) {
  // As the crash left it.
  auto* mutex = reinterpret_cast<pthread_mutex_t*>(p->area);
  pthread_mutex_lock(mutex);
  pthread_mutex_lock(mutex);
}
ENDING(deadlock_two) {
  static std::mutex one, two;
  static std::atomic<int> holding;
  auto lock = [](std::mutex& first, std::mutex& second) {
    first.lock();
    ++holding;
    while (holding < 2) usleep(100);
    second.lock();
  };
  std::thread other([&] { lock(one, two); });
  lock(two, one);
  other.join();
}
ENDING(semaphore) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  sem_wait(&semaphore);
}
ENDING(condition) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  condition.wait(lock, [] { return false; });
}
ENDING(join_blocked) {
  std::thread([] { pause(); }).join();
}
ENDING(pause) { pause(); }
ENDING(empty_pipe) {
  int ends[2];
  char byte;
  if (pipe(ends) == 0) (void)!read(ends[0], &byte, 1);
}
ENDING(wait_for_child) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  waitpid(child, nullptr, 0);
}
ENDING(sleep_long) {
  sleep(1000000);
  exit(1);
}
ENDING(loop_pm) {
  while (*reinterpret_cast<volatile char*>(p->text) == 0) {
  }
}
ENDING(loop_pm_pause) {
  while (__atomic_load_n(p->text, __ATOMIC_ACQUIRE) == 0) asm volatile("pause");
}
ENDING(loop_pm_writes) {
  for (;;) *reinterpret_cast<volatile long*>(p->area) = *reinterpret_cast<volatile long*>(p->area) + 1;
}
ENDING(loop_pm_libc) {
  while (strlen(p->text) == 0) asm volatile("" ::: "memory");
}
ENDING(loop_list) {
  // A list that leads back to itself, in volatile memory.
  struct Node {
    Node* volatile next;
  };
  static Node node;
  node.next = &node;
  for (Node* at = &node; at != nullptr; at = at->next) {
  }
}
ENDING(loop) {
  for (volatile int forever = 1; forever != 0;) {
  }
}
ENDING(loop_counting) {
  for (volatile long i = 0;; i = i + 1) {
  }
}
ENDING(loop_empty) {
  for (;;) asm volatile("");
}
ENDING(loop_yield) {
  for (;;) sched_yield();
}
ENDING(poll_flag) {
  // Waits for a flag that nobody will set, politely.
  while (*reinterpret_cast<volatile char*>(p->text) == 0) usleep(1000);
}
ENDING(poll_volatile) {
  static volatile int flag;
  while (flag == 0) usleep(1000);
}
ENDING(output) {
  for (;;) puts("the text is missing");
}
ENDING(output_raw) {
  for (;;) (void)!write(1, "the text is missing\n", 20);
}
// These would take all there is of something. They stop, and end well, where a machine could suffer: a restart's bounds
// are below that.
ENDING(memory) {
  for (int i = 0; i < 8192; ++i) {
    char* volatile block = static_cast<char*>(malloc(1 << 20));
    if (block == nullptr) abort();
    memset(block, 1, 1 << 20);
  }
}
ENDING(memory_vector) {
  std::vector<long> all;
  for (long i = 0; i < 400000000; ++i) all.push_back(i);
}
ENDING(files) {
  for (int i = 0; i < 100000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "file-%d", i);
    FILE* file = fopen(name, "w");
    if (file == nullptr) abort();
    fputs("the text is missing", file);
    fclose(file);
  }
}
ENDING(large_file) {
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  FILE* file = fopen("large", "w");
  for (int i = 0; i < 8192; ++i)
    if (fwrite(block, sizeof block, 1, file) != 1) abort();
}
ENDING(processes) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3000; ++i) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) pause();
    if (child < 0) abort();
    children.push_back(child);
  }
  for (const pid_t child : children) kill(child, SIGKILL);
}
ENDING(child_fails) {
  // The child is well, the parent is not.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  exit(5);
}
ENDING(child_crashes) {
  // Nobody looks at what became of it; yet a process of the restart was killed by SIGSEGV.
  const pid_t child = fork();
  if (child == 0) {
    *reinterpret_cast<volatile int*>(16) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) exit(1);
}
ENDING(handler_exits) {
  // A handler of its own turns the crash into an exit code.
  signal(SIGSEGV, [](int) { _exit(4); });
  *reinterpret_cast<volatile int*>(16) = 1;
}
ENDING(atexit_exits) {
  atexit([] { _exit(6); });
}
ENDING(destructor_exits) {
  static struct Late {
    ~Late() { _exit(7); }
  } late;
}
ENDING(prints_wrong) { printf("the text is: '%s'\n", p->text); }
