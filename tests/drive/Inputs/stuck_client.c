// A client of stuck_server.cpp: stuck_client ADDRESS [SECONDS] [alarm]. Asks once; exits with 5 after so many seconds
// without an answer, told by the socket or by a signal.
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static void giveUp(int number) {
  (void)number;
  _exit(5);
}

int main(int argc, char** argv) {
  int tcp = strncmp(argv[1], "tcp:", 4) == 0;
  int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  if (tcp)
    port.sin_port = htons((unsigned short)atoi(argv[1] + 4));
  else
    strcpy(path.sun_path, argv[1]);
  if (connect(fd, tcp ? (struct sockaddr*)&port : (struct sockaddr*)&path, tcp ? sizeof port : sizeof path) != 0)
    return 6;
  struct timeval limit = {argc > 2 ? atoi(argv[2]) : 0, 0};
  if (argc > 3) {
    signal(SIGALRM, giveUp);
    alarm((unsigned)limit.tv_sec);
  } else
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char answer[16];
  if (write(fd, "ask\n", 4) != 4) return 6;
  if (read(fd, answer, sizeof answer) <= 0) return 5;
  puts("answered");
  return 0;
}
