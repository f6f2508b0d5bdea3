// A server that keeps a log in a pool: server POOL ADDRESS [WORD...]. ADDRESS is tcp:PORT, unix:PATH, fifo:PATH or
// files:PATH. Each request is a line: "add N" appends N, "list" asks for all of it, "end" ends the server. Words make
// it worse:
//   bug      the count is durable before the entry is
//   checks   it looks at its log when it starts, and exits with 4 if it is not 100, 101, ...
//   late     it sleeps before it listens
//   spins    it never listens, and never sleeps
//   ignores  SIGTERM
//   daemon   it goes on in a child, and its first process ends
//   crashes  a request for a wrong log ends in abort()
#include <fcntl.h>
#include <immintrin.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <set>
#include <string>

struct Log {
  static constexpr uint64_t kMost = 60;
  struct alignas(64) Line {
    uint64_t value;
  };
  Line count;
  Line entries[kMost];
};

static Log* log_;
static std::set<std::string> words;

static bool is(const char* word) { return words.count(word) != 0; }

static void persist(const void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

static void add(uint64_t n) {
  uint64_t at = log_->count.value;
  if (at >= Log::kMost) exit(9);
  log_->entries[at].value = n;
  if (!is("bug")) persist(&log_->entries[at]);
  log_->count.value = at + 1;
  persist(&log_->count);
  if (is("bug")) persist(&log_->entries[at]);
}

static bool right() {
  for (uint64_t i = 0; i < log_->count.value; ++i)
    if (log_->entries[i].value != 100 + i) return false;
  return true;
}

static std::string list() {
  if (is("crashes") && !right()) abort();
  std::string text;
  for (uint64_t i = 0; i < log_->count.value; ++i) text += std::to_string(log_->entries[i].value) + " ";
  return text + "\n";
}

static void serve(FILE* in, FILE* out) {
  char line[128];
  while (fgets(line, sizeof line, in) != nullptr) {
    std::string answer = "?\n";
    if (strncmp(line, "add ", 4) == 0) {
      add(strtoull(line + 4, nullptr, 10));
      answer = "ok\n";
    } else if (strcmp(line, "list\n") == 0) {
      answer = list();
    } else if (strcmp(line, "end\n") == 0) {
      exit(0);
    }
    fputs(answer.c_str(), out);
    fflush(out);
  }
}

static int listenAt(const std::string& address) {
  bool tcp = address.rfind("tcp:", 0) == 0;
  int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
  int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  int bound;
  if (tcp) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(uint16_t(std::stoi(address.substr(4))));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bound = bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
  } else {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    strcpy(at.sun_path, address.c_str() + 5);
    unlink(at.sun_path);
    bound = bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
  }
  if (bound != 0 || listen(fd, 4) != 0) {
    perror(address.c_str());
    exit(9);
  }
  return fd;
}

// Two pipes with names: requests come through the first, answers go through the second.
static void serveFifo(const std::string& path) {
  std::string answers = path + ".answers";
  for (const std::string& p : {path, answers}) {
    unlink(p.c_str());
    if (mkfifo(p.c_str(), 0600) != 0) exit(9);
  }
  for (;;) {
    FILE* in = fopen(path.c_str(), "r");
    FILE* out = fopen(answers.c_str(), "w");
    if (in == nullptr || out == nullptr) exit(9);
    serve(in, out);
    fclose(in);
    fclose(out);
  }
}

// A file with requests appears, and one with the answers takes its place.
static void serveFiles(const std::string& path) {
  for (;; usleep(5000)) {
    FILE* in = fopen(path.c_str(), "r");
    if (in == nullptr) continue;
    FILE* out = fopen((path + ".part").c_str(), "w");
    if (out == nullptr) exit(9);
    serve(in, out);
    fclose(in);
    fclose(out);
    unlink(path.c_str());
    rename((path + ".part").c_str(), (path + ".answers").c_str());
  }
}

int main(int argc, char** argv) {
  std::string address = argv[2];
  words = std::set<std::string>(argv + 3, argv + argc);
  int fd = open(argv[1], O_RDWR);
  void* p = fd < 0 ? MAP_FAILED : mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return perror(argv[1]), 9;
  close(fd);
  log_ = static_cast<Log*>(p);
  if (is("checks") && !right()) return 4;
  if (is("ignores")) signal(SIGTERM, SIG_IGN);
  if (is("spins"))
    for (volatile int i = 0;; i = i + 1) {
    }
  if (is("daemon") && fork() != 0) _exit(0);
  if (address.rfind("fifo:", 0) == 0) serveFifo(address.substr(5));
  if (address.rfind("files:", 0) == 0) serveFiles(address.substr(6));
  if (is("late")) usleep(500000);
  int listener = listenAt(address);
  for (;;) {
    int client = accept(listener, nullptr, nullptr);
    if (client < 0) return 9;
    FILE* in = fdopen(client, "r");
    FILE* out = fdopen(dup(client), "w");
    serve(in, out);
    fclose(in);
    fclose(out);
  }
}
