#include "infer/in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace blackout {

static bool writeAll(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t n = write(to, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> inChild(const std::function<std::string()>& ask, const ChildLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ask();
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return ask();
  }
  if (child == 0) {
    // No word of its own, no handler of the tool, no core.
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM, SIGPIPE, SIGTERM})
      std::signal(signal, SIG_DFL);
    std::signal(SIGINT, SIG_IGN);  // a terminal sends it to all; the tool decides
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) dup2(null, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(limits.seconds);
    _exit(writeAll(ends[1], ask()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char part[65536];
  for (ssize_t n = -1; n != 0;) {
    constexpr int kLook = 50;  // milliseconds
    pollfd p{ends[0], POLLIN, 0};
    int ready = poll(&p, 1, limits.giveUp ? kLook : -1);
    if (limits.giveUp && limits.giveUp()) kill(child, SIGKILL);
    if (ready <= 0) continue;
    n = read(ends[0], part, sizeof part);
    if (n > 0)
      said.append(part, static_cast<std::size_t>(n));
    else if (n < 0 && errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return said;
}

}  // namespace blackout
