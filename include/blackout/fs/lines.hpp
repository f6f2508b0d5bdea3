// A file system in any language, as fs.hpp wants one: another process, which is asked by lines and answers by lines.
//
// It reads requests from its standard input, each a line, and writes an answer to each to its standard output, a line
// too: a number, 0 or an errno below 0 (-2 is ENOENT), and after a 0 what was asked for. It ends when its input ends.
//
//   mkfs                        makes a new file system
//   mount                       opens it, after a crash too: recovers what that left
//   unmount                     closes it
//   creat PATH                  paths are as A/foo, from the root on
//   mkdir PATH
//   write PATH OFFSET HEX       bytes, each as two hexadecimal digits
//   append PATH HEX
//   truncate PATH SIZE
//   fallocate PATH OFFSET SIZE
//   link PATH NEW
//   symlink TEXT NEW
//   unlink PATH
//   rmdir PATH
//   rename PATH NEW
//   list PATH                   0 NAME NAME ...; without a path: of the root
//   stat PATH                   0 KIND INODE LINKS SIZE; the kind is file, directory or link
//   read PATH OFFSET SIZE       0 HEX
//   readlink PATH               0 TEXT
//   open PATH                   0 NUMBER, by which the open file is called from then on
//   pwrite NUMBER OFFSET HEX
//   pread NUMBER OFFSET SIZE    0 HEX
//   close NUMBER
//   fsck                        0, or an errno below 0 if its own structures contradict each other
//
// What it does not know it answers with -38 (ENOSYS). On its standard error it may say what it likes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "blackout/fs.hpp"

extern char** environ;

namespace blackout::fs {

// One process for the run, from the first request on.
class LinesProgram {
 public:
  explicit LinesProgram(std::vector<std::string> command) : command_(std::move(command)) {}
  ~LinesProgram() {
    if (to_ >= 0) ::close(to_);
    if (from_ >= 0) ::close(from_);
  }
  LinesProgram(const LinesProgram&) = delete;
  LinesProgram& operator=(const LinesProgram&) = delete;

  // The words of the answer after its number, which is the result.
  int ask(const std::string& request, std::vector<std::string>& words) {
    if (pid_ < 0) start();
    asked_ = request.substr(0, request.find(' '));
    send(request + '\n');
    std::istringstream answer(line());
    std::string number;
    answer >> number;
    words.clear();
    for (std::string word; answer >> word;) words.push_back(word);
    char* end = nullptr;
    errno = 0;
    long result = std::strtol(number.c_str(), &end, 10);
    if (number.empty() || *end != '\0' || errno != 0 || result > 0 || result < -4095)
      wrong("\"" + number + "\", which is not 0 or an errno below 0");
    return static_cast<int>(result);
  }

  [[noreturn]] void wrong(const std::string& what) const {
    fail("the program of the file system answers \"" + asked_ + "\" with " + what);
  }

  // Nothing more is asked: it ends by itself, and what it says by that counts.
  void end() {
    if (pid_ < 0) return;
    ::close(to_);
    to_ = -1;
    while (fill()) {
    }
    if (!buffer_.empty()) fail("the program of the file system says more than it was asked: " + buffer_.substr(0, 200));
    std::string how = ending();
    if (!how.empty()) fail("the program of the file system " + how);
  }

 private:
  void start() {
    int to[2], from[2];
    // A request to a program that is gone is an error, not the end of this one.
    signal(SIGPIPE, SIG_IGN);
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) fail("a pipe can't be made: " + errorText(-errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &pipes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> words;
    for (std::string& word : command_) words.push_back(word.data());
    words.push_back(nullptr);
    if (int error = posix_spawnp(&pid_, words[0], &actions, &attributes, words.data(), environ); error != 0)
      fail(command_[0] + " can't be started: " + errorText(-error));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }

  void send(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      ssize_t n = ::write(to_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) gone();
      done += static_cast<std::size_t>(n);
    }
  }

  bool fill() {
    char part[4096];
    ssize_t n;
    do n = ::read(from_, part, sizeof part);
    while (n < 0 && errno == EINTR);
    if (n > 0) buffer_.append(part, static_cast<std::size_t>(n));
    return n > 0;
  }

  std::string line() {
    std::size_t end;
    while ((end = buffer_.find('\n')) == std::string::npos)
      if (buffer_.size() > 4 * kMaxFile || !fill()) gone();
    std::string text = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return text;
  }

  // How it ended; empty: well.
  std::string ending() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) return std::string("was ended by a signal: ") + strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "ended with the exit code " + std::to_string(WEXITSTATUS(status));
  }

  [[noreturn]] void gone() {
    std::string how = ending();
    fail("the program of the file system gives no answer to \"" + asked_ + "\": it " + (how.empty() ? "ended" : how));
  }

  std::vector<std::string> command_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_;
  std::string asked_;
};

class Lines {
 public:
  static inline LinesProgram* program = nullptr;

  static int mkfs(const char*) { return asked("mkfs"); }
  static Lines* mount(const char*) { return asked("mount") == 0 ? new Lines : nullptr; }
  void unmount() {
    if (int error = asked("unmount"); error != 0) fail("unmount gives: " + errorText(error));
  }
  int creat(const char* path) { return asked("creat", path); }
  int mkdir(const char* path) { return asked("mkdir", path); }
  int write(const char* path, std::uint64_t offset, const void* data, std::size_t size) {
    return asked("write", path, offset, hex(data, size));
  }
  int append(const char* path, const void* data, std::size_t size) { return asked("append", path, hex(data, size)); }
  int truncate(const char* path, std::uint64_t size) { return asked("truncate", path, size); }
  int fallocate(const char* path, std::uint64_t offset, std::uint64_t size) {
    return asked("fallocate", path, offset, size);
  }
  int link(const char* path, const char* to) { return asked("link", path, to); }
  int symlink(const char* says, const char* path) { return asked("symlink", says, path); }
  int unlink(const char* path) { return asked("unlink", path); }
  int rmdir(const char* path) { return asked("rmdir", path); }
  int rename(const char* path, const char* to) { return asked("rename", path, to); }
  int fsck() { return asked("fsck"); }
  int open(const char* path) {
    std::vector<std::string> words;
    if (int result = program->ask(std::string("open ") + path, words); result != 0) return result;
    if (words.size() != 1 || numberOf(words[0]) > INT_MAX) program->wrong("something else than: 0 NUMBER");
    return static_cast<int>(numberOf(words[0]));
  }
  int pwrite(int file, std::uint64_t offset, const void* data, std::size_t size) {
    return asked("pwrite", number(file), offset, hex(data, size));
  }
  int pread(int file, std::uint64_t offset, void* data, std::size_t size) {
    return bytes("pread " + std::to_string(file), offset, data, size);
  }
  int close(int file) { return asked("close", number(file)); }

  template <class Visit>
  int list(const char* path, Visit visit) {
    std::vector<std::string> names;
    int result = *path == '\0' ? program->ask("list", names) : program->ask(std::string("list ") + path, names);
    if (result != 0) return result;
    for (const std::string& name : names) visit(name.c_str());
    return 0;
  }

  int stat(const char* path, Status& status) {
    std::vector<std::string> words;
    if (int result = program->ask(std::string("stat ") + path, words); result != 0) return result;
    static const std::vector<std::string> kinds{"file", "directory", "link"};
    auto kind = words.size() == 4 ? std::find(kinds.begin(), kinds.end(), words[0]) : kinds.end();
    if (kind == kinds.end()) program->wrong("something else than: 0 KIND INODE LINKS SIZE");
    status.kind = static_cast<Kind>(kind - kinds.begin());
    std::uint64_t* const numbers[] = {&status.inode, &status.links, &status.size};
    for (std::size_t i = 0; i < 3; ++i) *numbers[i] = numberOf(words[i + 1]);
    return 0;
  }

  int read(const char* path, std::uint64_t offset, void* data, std::size_t size) {
    return bytes(std::string("read ") + path, offset, data, size);
  }

  int readlink(const char* path, std::string& says) {
    std::vector<std::string> words;
    if (int result = program->ask(std::string("readlink ") + path, words); result != 0) return result;
    says = words.empty() ? "" : words[0];
    return 0;
  }

 private:
  static int bytes(const std::string& what, std::uint64_t offset, void* data, std::size_t size) {
    std::vector<std::string> words;
    std::string request = what + ' ' + std::to_string(offset) + ' ' + std::to_string(size);
    if (int result = program->ask(request, words); result != 0) return result;
    if (size == 0 && words.empty()) return 0;
    if (words.size() != 1 || words[0].size() != 2 * size) program->wrong("another number of bytes than were asked for");
    for (std::size_t i = 0; i < size; ++i) {
      int high = digit(words[0][2 * i]), low = digit(words[0][2 * i + 1]);
      if (high < 0 || low < 0) program->wrong("bytes that are not hexadecimal");
      static_cast<unsigned char*>(data)[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return 0;
  }

  static std::uint64_t numberOf(const std::string& word) {
    char* end = nullptr;
    errno = 0;
    std::uint64_t n = std::strtoull(word.c_str(), &end, 10);
    if (*end != '\0' || word[0] == '-' || errno != 0) program->wrong("\"" + word + "\", which is no number");
    return n;
  }
  static std::uint64_t number(int file) { return static_cast<std::uint64_t>(file); }

  static const std::string& text(const std::string& word) { return word; }
  static std::string text(std::uint64_t number) { return std::to_string(number); }

  template <class... Words>
  static int asked(const char* name, const Words&... words) {
    std::string request = name;
    ((request += ' ' + text(words)), ...);
    std::vector<std::string> rest;
    return program->ask(request, rest);
  }

  static std::string hex(const void* data, std::size_t size) {
    std::string out;
    for (std::size_t i = 0; i < size; ++i) {
      unsigned char byte = static_cast<const unsigned char*>(data)[i];
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
    return out;
  }
  static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }
};

// A main() of: PROGRAM ARGUMENT... [--workload FILE], where the program speaks the lines above.
inline int runLines(int argc, char** argv) {
  std::vector<std::string> command(argv + 1, argv + argc);
  std::string workloadFile;
  if (command.size() >= 2 && command[command.size() - 2] == "--workload") {
    workloadFile = command.back();
    command.resize(command.size() - 2);
  }
  if (command.empty()) {
    std::fprintf(stderr, "usage: %s PROGRAM ARGUMENT... [--workload FILE]\n", argv[0]);
    return 2;
  }
  LinesProgram program(std::move(command));
  Lines::program = &program;
  int code = runWorkload<Lines>("", workloadFile);
  program.end();
  return code;
}

}  // namespace blackout::fs
