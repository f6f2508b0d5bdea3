// What a restart listens on is its own: the same port, path or name in every restart at once, and whoever has the port
// outside does not matter.
//
// RUN: %cxx -O1 %s -o %t && head -c 4096 /dev/zero > %t.img && rm -rf %t.d && mkdir %t.d
// RUN: cd %t.d && %t outside %blackout check --jobs 2 --findings %t.found --pm %t.img -- %t 2>&1 | FileCheck %s
// RUN: ls %t.d | count 0
// CHECK: note: a restart uses the network{{[;,]}}
// CHECK: restarts: {{ *[2-9]}} of
// CHECK: SUMMARY: blackout: no findings;{{.*}},tso=off{{$}}
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <string>

#include "Inputs/restart.h"

static int listenAt(uint16_t port, uint16_t* got) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = port;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || listen(fd, 1) != 0) return -1;
  socklen_t size = sizeof at;
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  *got = at.sin_port;
  return fd;
}

static bool reaches(int fd, const void* at, socklen_t size, int family) {
  int client = socket(family, SOCK_STREAM, 0);
  if (connect(client, static_cast<const sockaddr*>(at), size) != 0) return false;
  char byte = 0;
  int server = accept(fd, nullptr, nullptr);
  return server >= 0 && write(client, "x", 1) == 1 && read(server, &byte, 1) == 1 && byte == 'x';
}

static void localSocket(const char* name, size_t length) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  memcpy(at.sun_path, name, length);
  socklen_t size = socklen_t(offsetof(sockaddr_un, sun_path) + length);
  // A name that somebody has already is refused, so this fails if one restart sees another.
  EXPECT(bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 && listen(fd, 1) == 0);
  EXPECT(reaches(fd, &at, size, AF_UNIX));
  int second = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT(bind(second, reinterpret_cast<sockaddr*>(&at), size) == -1 && errno == EADDRINUSE);
}

static bool mayHaveOwnNetwork() {
  pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

// Holds a port while the rest of the command runs with it as an argument.
static int outside(int argc, char** argv) {
  uint16_t port = 0;
  if (listenAt(0, &port) < 0) return 9;
  std::string command;
  for (int i = 2; i < argc; ++i) command += std::string(argv[i]) + " ";
  std::string pool;
  for (int i = 2; i + 1 < argc; ++i)
    if (strcmp(argv[i], "--pm") == 0) pool = argv[i + 1];
  command += pool + " " + std::to_string(port) + (mayHaveOwnNetwork() ? " own" : " shared");
  return WEXITSTATUS(system(command.c_str()));
}

int main(int argc, char** argv) {
  if (strcmp(argv[1], "outside") == 0) return outside(argc, argv);
  volatile uint64_t* pool = mapPool(argv[1]);
  if (blackout_recovering()) {
    uint16_t got = 0;
    auto port = uint16_t(atoi(argv[2]));
    int fd = listenAt(port, &got);
    if (strcmp(argv[3], "own") == 0) {
      EXPECT(fd >= 0 && got == port);
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_port = port;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT(reaches(fd, &at, sizeof at, AF_INET));
    } else {
      EXPECT(fd < 0 && errno == EADDRINUSE);
    }
    localSocket("a.socket", 9);
    localSocket("\0abstract", 9);
  }
  twoStores(pool);
}
