// A server that goes wrong where the second of two stores was lost or not the first: stuck_server POOL ADDRESS WHEN
// HOW. ADDRESS is the path of a socket, or tcp:PORT. WHEN: it `starts`, or it is `asked`. HOW:
//   mutex  it takes a mutex twice
//   loop   it waits for a flag that nobody sets
//   slow   it sleeps for a third of a second on a mutex that another thread lets go
//   right  nothing
#include <fcntl.h>
#include <immintrin.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct Pool {
  alignas(64) volatile uint64_t data;
  alignas(64) volatile uint64_t done;
};
static Pool* pool;
static const char *when, *how;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int flag;

__attribute__((noinline)) static void lockTwice() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  flag = 1;
}
__attribute__((noinline)) static void waitForFlag() {
  while (flag == 0) {
  }
}
static void* letGo(void*) {
  struct timespec t{0, 300000000};
  syscall(SYS_nanosleep, &t, nullptr);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}
static void slowly() {
  pthread_mutex_lock(&mutex);
  pthread_t other;
  pthread_create(&other, nullptr, letGo, nullptr);
  pthread_mutex_lock(&mutex);
  pthread_join(other, nullptr);
  pthread_mutex_unlock(&mutex);
}

static void recover(const char* now) {
  bool torn = pool->done != 0 && pool->data == 0;
  if (!torn || strcmp(when, now) != 0) return;
  if (strcmp(how, "mutex") == 0) lockTwice();
  if (strcmp(how, "loop") == 0) waitForFlag();
  if (strcmp(how, "slow") == 0) slowly();
}

static void* serve(void* argument) {
  int client = int(intptr_t(argument));
  char line[64];
  for (ssize_t n; (n = read(client, line, sizeof line)) > 0;) {
    recover("asked");
    pool->data = 1;
    pool->done = 1;
    _mm_clflush(const_cast<uint64_t*>(&pool->done));
    _mm_sfence();
    if (write(client, "ok\n", 3) != 3) break;
  }
  close(client);
  return nullptr;
}

int main(int, char** argv) {
  when = argv[3], how = argv[4];
  int fd = open(argv[1], O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 9;
  void* p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 9;
  close(fd);
  pool = static_cast<Pool*>(p);
  recover("starts");
  bool tcp = strncmp(argv[2], "tcp:", 4) == 0;
  int listener = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
  int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in port{};
  port.sin_family = AF_INET;
  port.sin_port = htons(uint16_t(tcp ? atoi(argv[2] + 4) : 0));
  port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  strcpy(path.sun_path, argv[2]);
  if (!tcp) unlink(path.sun_path);
  if (bind(listener, tcp ? reinterpret_cast<sockaddr*>(&port) : reinterpret_cast<sockaddr*>(&path),
           tcp ? sizeof port : sizeof path) != 0 ||
      listen(listener, 4) != 0)
    return perror(argv[2]), 9;
  for (;;) {
    int client = accept(listener, nullptr, nullptr);
    if (client < 0) return 9;
    pthread_t thread;
    pthread_create(&thread, nullptr, serve, reinterpret_cast<void*>(intptr_t(client)));
    pthread_detach(thread);
  }
}
