#include "run/recording_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/drive.h"
#include "runtime/processes.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

volatile sig_atomic_t childPid = 0;
volatile sig_atomic_t requests = 0;  // to end
void (*toolsOwn)(int) = nullptr;     // what the tool does on SIGTERM

void endIt(int) {
  if (childPid > 0) kill(static_cast<pid_t>(childPid), SIGKILL);
}

// A program that does not end is ended: who asks twice, or for longer than some seconds, means it.
void forward(int signal) {
  constexpr unsigned kPatience = 3;  // seconds
  if (signal == SIGTERM && toolsOwn != nullptr) toolsOwn(signal);
  if (childPid <= 0) return;
  kill(static_cast<pid_t>(childPid), requests == 0 ? signal : SIGKILL);
  requests = requests + 1;
  alarm(kPatience);
}

// A terminal sends it to the program as well.
void again(int signal) {
  if (requests != 0) endIt(signal);
  requests = requests + 1;
}

// While the program runs, an interrupt is the program's: it ends, and what it did is judged.
class Signals {
 public:
  Signals() {
    struct sigaction ignore{}, pass{}, second{}, last{};
    ignore.sa_handler = SIG_IGN;
    pass.sa_handler = forward;
    second.sa_handler = again;
    last.sa_handler = endIt;
    requests = 0;
    sigaction(SIGINT, &second, &old_[0]);
    sigaction(SIGQUIT, &ignore, &old_[1]);
    sigaction(SIGTERM, nullptr, &old_[2]);
    toolsOwn = old_[2].sa_handler == SIG_DFL || old_[2].sa_handler == SIG_IGN ? nullptr : old_[2].sa_handler;
    sigaction(SIGTERM, &pass, nullptr);
    sigaction(SIGHUP, &pass, &old_[3]);
    sigaction(SIGALRM, &last, &old_[4]);
  }
  ~Signals() {
    alarm(0);
    restore();
    childPid = 0;
  }
  void restore() const {
    sigaction(SIGINT, &old_[0], nullptr);
    sigaction(SIGQUIT, &old_[1], nullptr);
    sigaction(SIGTERM, &old_[2], nullptr);
    sigaction(SIGHUP, &old_[3], nullptr);
    sigaction(SIGALRM, &old_[4], nullptr);
  }

 private:
  struct sigaction old_[5]{};
};

// Memory that the tool shares with its children, or with the runtime by the file of the trace.
class SharedPage {
 public:
  static constexpr std::size_t kSize = 4096;
  explicit SharedPage(const char* file = nullptr) {
    int fd = file == nullptr ? -1 : ::open(file, O_RDWR | O_CLOEXEC);
    if (file == nullptr || fd >= 0)
      base_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (fd >= 0) ::close(fd);
  }
  ~SharedPage() {
    if (base_ != MAP_FAILED) munmap(base_, kSize);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  template <class T>
  T* as() const {
    return base_ == MAP_FAILED ? nullptr : static_cast<T*>(base_);
  }

 private:
  void* base_ = MAP_FAILED;
};
static_assert(offsetof(blackout_trace_header, listening) < SharedPage::kSize);

// The driver of a recorded server, a child of the tool.
class Driver {
 public:
  explicit Driver(const std::string& tracePath) : header_(tracePath.c_str()) {}
  Result<void> start(pid_t server, const RecordOptions& options) {
    auto* header = header_.as<blackout_trace_header>();
    auto* result = result_.as<blackout_drive>();
    if (header == nullptr || result == nullptr) return fail("no memory for --drive", ExitCode::Internal);
    pid_t tool = getpid();
    pid_t child = fork();
    if (child < 0) return fail(fmt::format("can't start a process: {}", std::strerror(errno)), ExitCode::Internal);
    if (child > 0) return {};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != tool) _exit(1);
    // An interrupt is for the program and its client.
    for (int s : {SIGTERM, SIGHUP}) std::signal(s, SIG_IGN);
    std::vector<char*> command = argumentsOf(options.drive);
    rt::drive({.server = server,
               .listening = &header->listening,
               .command = command.data(),
               .output = STDERR_FILENO,
               .readyMs = options.readySeconds * 1000,
               .momentMs = 100,
               .patienceMs = 5000},
              *result);
    _exit(0);
  }
  blackout_drive result() const {
    return result_.as<blackout_drive>() ? *result_.as<blackout_drive>() : blackout_drive{};
  }

 private:
  SharedPage header_, result_;
};

ClientEnd clientEnd(const blackout_drive& drive) {
  ClientEnd end;
  switch (drive.state) {
    case BLACKOUT_DRIVE_NEVER_READY:
      end.state = ClientEnd::NeverReady;
      break;
    case BLACKOUT_DRIVE_NO_SERVER:
      end.state = ClientEnd::NoServer;
      break;
    case BLACKOUT_DRIVE_ENDED:
      end.state = ClientEnd::Ended;
      end.code = rt::clientCode(drive.client_status);
      end.killedServer = drive.sent == SIGKILL;
      break;
    default:  // whatever a driver that was killed had written
      end.state = ClientEnd::Lost;
  }
  return end;
}

// What the program left behind, all of it asleep: nobody waits for that for ever.
class Leftovers {
 public:
  // True: for a second nobody of them has run, or for five if one sleeps until some time has passed. A daemon that
  // works is waited for.
  bool sleep() {
    std::uint64_t ran = 0;
    bool asleep = true, timed = false;
    auto add = [&](pid_t process) {
      rt::forEachThread(process, [&](pid_t thread) {
        char state = rt::stateOf(process, thread);
        if (state == 'Z' || state == 'X') return;
        asleep &= state == 'S' || state == 'T';
        char path[64], call[64];
        std::snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", process, thread);
        timed |= rt::readText(path, call, sizeof call) && std::strstr(call, "nanosleep") != nullptr;
        ran += rt::switchesOf(process, thread) + static_cast<std::uint64_t>(thread);
      });
    };
    rt::forEachBelow(getpid(), 0, add);
    auto now = std::chrono::steady_clock::now();
    if (!asleep || ran != ran_) since_ = now;
    ran_ = ran;
    return now - since_ >= std::chrono::seconds(timed ? 5 : 1);
  }
  // Ends them, and says what can't be known of them.
  static void end(const fs::path& pools, RunEnd& run) {
    bool mapped = false;
    std::string names;
    auto kill = [&](pid_t process) {
      char path[64], name[64];
      std::snprintf(path, sizeof path, "/proc/%d/comm", process);
      if (!rt::readText(path, name, sizeof name)) return;
      std::string_view word(name);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", word.substr(0, word.find('\n')));
      std::ifstream maps(fmt::format("/proc/{}/maps", process));
      for (std::string line; !mapped && std::getline(maps, line);)
        mapped = line.find(pools.string()) != std::string::npos;
      ::kill(process, SIGKILL);
    };
    rt::forEachBelow(getpid(), 0, kill);
    if (names.empty()) return;
    run.notes.push_back(fmt::format(
        "The program ended and left a process asleep ({}), which was not waited for and was killed.", names));
    if (mapped)
      run.unseen.push_back(fmt::format(
          "The program left a process behind ({}) that has a pool mapped and slept; what it would have done later was "
          "not seen. Let the program wait for it, or end it.",
          names));
  }

 private:
  std::uint64_t ran_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// Children that outlive the program come to us, so that the trace ends after the last of them.
class Subreaper {
 public:
  Subreaper() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Subreaper() { prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
};

}  // namespace

struct RecordingRunner::Process {
  Subreaper subreaper;
  Signals signals;
  Launched launched;
  std::optional<Driver> driver;
};

RecordingRunner::RecordingRunner(const Launcher& launcher, const RecordOptions& options, const std::string& tracePath,
                                 const fs::path& pools, RuntimeOptions runtimeOptions)
    : launcher_(launcher),
      options_(options),
      tracePath_(tracePath),
      pools_(pools),
      runtimeOptions_(std::move(runtimeOptions)) {}
RecordingRunner::~RecordingRunner() = default;

Result<void> RecordingRunner::begin(unsigned, const Run& run) {
  assert(run.role == Role::Recording && process_ == nullptr);
  auto process = std::make_unique<Process>();
  auto launched = launcher_.start(
      Role::Recording, runtimeOptions_,
      [&] {
        process->signals.restore();
        if (int nowhere = options_.quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; nowhere >= 0) {
          dup2(nowhere, STDOUT_FILENO);
          dup2(nowhere, STDERR_FILENO);
        }
        if (options_.outputToStandardError) dup2(STDERR_FILENO, STDOUT_FILENO);
      },
      [](pid_t child) { childPid = child; });
  if (!launched) return tl::unexpected(launched.error());
  process->launched = *launched;
  process_ = std::move(process);
  if (options_.drive.empty()) return {};
  auto driven = process_->driver.emplace(tracePath_).start(launched->pid, options_);
  if (driven) return {};
  kill(launched->pid, SIGKILL);
  (void)wait();
  return driven;
}

Result<std::pair<unsigned, RunEnd>> RecordingRunner::wait() {
  assert(process_ != nullptr);
  RunEnd end;
  std::optional<Leftovers> left;
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(-1, &status, left ? WNOHANG : 0);
    if (ended == process_->launched.pid) {
      end.waitStatus = status;
      // A driver ends what belongs to its server.
      if (!process_->driver) left.emplace();
    }
    if (ended < 0 && errno != EINTR) break;  // ECHILD: all are gone
    if (ended != 0) continue;
    if (left->sleep()) Leftovers::end(pools_, end);
    constexpr useconds_t kTick = 5000;
    usleep(kTick);
  }
  if (process_->driver) {
    blackout_drive drive = process_->driver->result();
    end.waitStatus = rt::serverStatus(end.waitStatus, drive);
    end.client = clientEnd(drive);
  }
  end.outcome.ending = WIFSIGNALED(end.waitStatus) ? Ending::Signalled : Ending::Exited;
  end.outcome.code = WIFSIGNALED(end.waitStatus) ? WTERMSIG(end.waitStatus) : WEXITSTATUS(end.waitStatus);
  end.tracePath = tracePath_;
  if (!process_->launched.fixedAddresses)
    end.notes.emplace_back(
        "address randomisation can't be switched off here, so volatile addresses differ from run to run");
  process_.reset();
  return std::pair(0U, std::move(end));
}

}  // namespace blackout
