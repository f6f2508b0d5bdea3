#include "run/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "binary/trapped_sites.h"
#include "binary/uninstrumented.h"
#include "events/trace.h"
#include "events/trace_writer.h"
#include "run/launch.h"
#include "run/self_check.h"
#include "runtime/drive.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

RuntimeOptions runtimeOptions(const RecordOptions& o, const std::string& trace, const fs::path& shadow,
                              const std::vector<PoolPattern>& patterns) {
  RuntimeOptions options;
  if (o.loads) options.set("loads", 1);
  if (o.locks) options.set("locks", 1);
  if (o.stackDepth >= 0) options.set("stack", static_cast<std::uint64_t>(o.stackDepth));
  if (o.heap != 0) options.set("heap", o.heap);
  return options.set(o.trap).set("trace", trace).set("shadow", shadow.string()).pools(patterns);
}

volatile sig_atomic_t childPid = 0;
void forward(int signal) {
  if (childPid > 0) kill(static_cast<pid_t>(childPid), signal);
}

// While the program runs, an interrupt is the program's: it ends, and what it did is judged.
class Signals {
 public:
  Signals() {
    struct sigaction ignore{}, pass{};
    ignore.sa_handler = SIG_IGN;
    pass.sa_handler = forward;
    sigaction(SIGINT, &ignore, &old_[0]);
    sigaction(SIGQUIT, &ignore, &old_[1]);
    sigaction(SIGTERM, &pass, &old_[2]);
    sigaction(SIGHUP, &pass, &old_[3]);
  }
  ~Signals() {
    restore();
    childPid = 0;
  }
  void restore() const {
    sigaction(SIGINT, &old_[0], nullptr);
    sigaction(SIGQUIT, &old_[1], nullptr);
    sigaction(SIGTERM, &old_[2], nullptr);
    sigaction(SIGHUP, &old_[3], nullptr);
  }

 private:
  struct sigaction old_[4]{};
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

struct Ran {
  int waitStatus = 0;
  bool randomised = false;  // addresses differ from run to run
  blackout_drive drive{};
};

Result<Ran> run(const Launcher& launcher, const RecordOptions& options, const std::string& tracePath,
                const RuntimeOptions& runtimeOptions) {
  // Children that outlive the program come to us, so that the trace ends after the last of them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Signals signals;
  auto launched = launcher.start(Role::Recording, runtimeOptions, [&] {
    signals.restore();
    if (options.outputToStandardError) dup2(STDERR_FILENO, STDOUT_FILENO);
  });
  if (!launched) {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    return tl::unexpected(launched.error());
  }
  pid_t child = launched->pid;
  childPid = child;
  Ran ran;
  ran.randomised = !launched->fixedAddresses;
  std::optional<Driver> driver;
  Result<void> driven;
  if (!options.drive.empty()) {
    driven = driver.emplace(tracePath).start(child, options);
    if (!driven) kill(child, SIGKILL);
  }
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == child) ran.waitStatus = status;
    if (ended < 0 && errno == ECHILD) break;
    if (ended < 0 && errno != EINTR) break;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  if (!driven) return tl::unexpected(driven.error());
  if (driver) {
    ran.drive = driver->result();
    ran.waitStatus = rt::serverStatus(ran.waitStatus, ran.drive);
  }
  return ran;
}

// What came of the client. The recording goes on without it where there is something to judge.
Result<void> judgeDrive(const RecordOptions& options, const std::string& program, const blackout_drive& drive,
                        Recording& recording) {
  if (options.drive.empty()) return {};
  switch (drive.state) {
    case BLACKOUT_DRIVE_NEVER_READY:
      return fail(fmt::format("{}: it was not ready for --drive within {} s: it neither listened on a socket nor slept "
                              "waiting for input; give it longer with --ready SECONDS",
                              program, options.readySeconds),
                  ExitCode::Inconclusive);
    case BLACKOUT_DRIVE_NO_SERVER:
      recording.incomplete.push_back(
          fmt::format("The program ended before it was ready, so {} was not run; --drive is for a program that waits.",
                      options.drive[0]));
      break;
    case BLACKOUT_DRIVE_ENDED:
      if (int code = rt::clientCode(drive.client_status); code != 0)
        recording.incomplete.push_back(fmt::format(
            "The command of --drive, {}, ended with exit code {} in the recorded run, without a simulated crash, so "
            "not all of what it should do was seen. Fix that first.",
            options.drive[0], code));
      if (drive.sent == SIGKILL)
        recording.notes.emplace_back(
            "The program did not end on SIGTERM and was killed; what it does on a clean shutdown was not seen.");
      break;
    default:
      recording.incomplete.push_back(
          fmt::format("{} was not waited for, because the process that ran it was killed.", options.drive[0]));
  }
  return {};
}

// Keeps what the program made of its pools.
Result<void> keepPools(const std::string& to, const Trace& trace, const fs::path& shadow) {
  std::vector<std::string> paths;
  for (const PoolFile& f : trace.files())
    if (f.number != 0 && !f.removed) paths.push_back(f.path);
  std::error_code error;
  bool folder = paths.size() != 1 || fs::is_directory(to, error);
  if (folder) fs::create_directories(to, error);
  for (const std::string& p : paths) {
    fs::path target = folder ? fs::path(to) / fs::path(p).filename() : fs::path(to);
    fs::copy_file(shadow / fs::path(p).relative_path(), target, fs::copy_options::overwrite_existing, error);
    if (error) return fail(fmt::format("{}: the pool can't be kept there: {}", target.string(), error.message()));
  }
  return {};
}

// "pool.img" was mapped further than it reaches, and the program died of it.
void explainBusError(const Trace& trace, Recording& recording) {
  if (!WIFSIGNALED(recording.waitStatus) || WTERMSIG(recording.waitStatus) != SIGBUS) return;
  std::vector<std::uint64_t> sizes(trace.files().size());
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::FileSize) sizes[fileOf(e.addr)] = e.value;
    if (kindOf(e) != EventKind::Map) continue;
    std::uint64_t place[2];
    std::memcpy(place, trace.payload(n).data(), sizeof place);
    std::uint64_t end = offsetOf(e.addr) + place[1];
    std::uint64_t size = sizes[fileOf(e.addr)];
    if (end > (size + 4095) / 4096 * 4096)
      recording.incomplete.push_back(
          fmt::format("{} is too small: the program mapped {} bytes of it and it has {}; make it larger (truncate -s)",
                      trace.files()[fileOf(e.addr)].path, end, size));
  }
}

// What code that is trapped did, or may have done, without being seen.
void sayUnfollowed(const Trace& trace, Recording& recording) {
  // A library that never touched PM (libcrypto has such places) needs no words.
  std::set<std::string, std::less<>> touching;
  for (SiteNo n = 1; n < trace.siteCount(); ++n) touching.insert(trace.site(n)->module);
  for (const LoadedModule& m : trace.modules())
    if (m.unproved > 0 && touching.contains(m.path))
      recording.notes.push_back(fmt::format(
          "{}: {} that may be flushes or fences could not be proved to be instructions; they are not followed.",
          fs::path(m.path).filename().string(), m.unproved == 1 ? "1 place" : fmt::format("{} places", m.unproved)));
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::Unfollowed)
      recording.incomplete.push_back(fmt::format("Not followed: {}.", trace.payload(n)));
}

// Why nothing can be judged at all, if that is so.
Result<void> sawPm(const Trace& trace, const RecordOptions& options, const std::string& program, const Loaded& code,
                   const Recording& recording) {
  bool loaded = false, followed = false, mapped = false;
  for (const LoadedModule& m : trace.modules()) {
    loaded = true;
    followed |= m.instrumented || m.trapped;
  }
  for (EventNo n = 0; n < trace.end() && !mapped; n = trace.next(n)) mapped = kindOf(trace[n]) == EventKind::Map;
  if (!loaded)
    return fail(
        fmt::format("{}: Blackout's runtime was not loaded into it; static and setuid programs are not "
                    "supported, link it dynamically",
                    program));
  // A program that failed before it mapped anything tells its own story first.
  if (!mapped && recording.waitStatus != 0)
    return fail(
        fmt::format("{}: it ended with {} before it mapped any PM; nothing was recorded", program,
                    WIFSIGNALED(recording.waitStatus) ? fmt::format("signal {}", WTERMSIG(recording.waitStatus))
                                                      : fmt::format("exit code {}", WEXITSTATUS(recording.waitStatus))),
        ExitCode::Inconclusive);
  if (!mapped && code.script)
    return fail(
        fmt::format("{}: a script: neither its interpreter {} nor what it started mapped any PM; name the pool files "
                    "with --pm, or the program itself after --",
                    program, code.path));
  if (!followed)
    return fail(fmt::format(
        "{}: not instrumented; build it with blackout-clang or blackout-clang++, or leave out --trap never", program));
  if (!mapped)
    return fail(options.pm.empty()
                    ? fmt::format("{}: no PM was seen; name its pool files with --pm, or register memory with "
                                  "blackout_pm_register",
                                  program)
                    : fmt::format("{}: it mapped no file that matches --pm {} shared and writable; name the pool files "
                                  "that it maps",
                                  program, fmt::join(options.pm, " --pm ")));
  return {};
}

}  // namespace

Result<Recording> record(const RecordOptions& options) {
  if (options.command.empty())
    return fail("no program: write it after --, as in 'blackout check --pm pool.img -- ./program'");
  auto launcher = Launcher::find(options.command);
  if (!launcher) return tl::unexpected(launcher.error());
  const std::string& program = launcher->program();
  auto patterns = canonicalPatterns(options.pm);
  if (!patterns) return tl::unexpected(patterns.error());
  auto folder = PrivateFolder::make();
  if (!folder) return tl::unexpected(folder.error());

  Recording recording;
  recording.folder = std::make_shared<PrivateFolder>(std::move(*folder));
  fs::path shadow = recording.folder->path() / "pools";
  std::error_code error;
  fs::create_directory(shadow, error);
  recording.tracePath = options.tracePath.empty() ? (recording.folder->path() / "trace").string()
                                                  : fs::absolute(options.tracePath, error).string();
  TraceWriter beginning;
  if (auto ok = copyPools(*patterns, shadow, beginning); !ok) return tl::unexpected(ok.error());
  if (options.heap != 0)
    if (auto ok = makeHeap(options.heap, shadow, beginning); !ok) return tl::unexpected(ok.error());
  if (auto ok = beginning.save(recording.tracePath, false); !ok) return tl::unexpected(ok.error());

  auto ran =
      run(*launcher, options, recording.tracePath, runtimeOptions(options, recording.tracePath, shadow, *patterns));
  if (!ran) return tl::unexpected(ran.error());
  recording.waitStatus = ran->waitStatus;
  if (auto ok = judgeDrive(options, program, ran->drive, recording); !ok) return tl::unexpected(ok.error());
  if (ran->randomised)
    recording.notes.push_back(
        "address randomisation can't be switched off here, so volatile addresses differ from run to run");

  if (auto ok = TrappedSites().nameSites(recording.tracePath); !ok) return tl::unexpected(ok.error());

  // The trace checks itself before it is sealed, so that the answer stays with it.
  std::vector<std::string> unexplained;
  {
    auto growing = Trace::open(recording.tracePath);
    if (!growing) return tl::unexpected(Error{growing.error().sentence, ExitCode::Internal});
    auto found = unexplainedBytes(*growing, shadow);
    if (!found) return tl::unexpected(found.error());
    unexplained = std::move(*found);
  }
  if (auto ok = sealTrace(recording.tracePath, ran->waitStatus, unexplained.empty() ? 0 : BLACKOUT_PROBLEM_UNEXPLAINED);
      !ok)
    return tl::unexpected(ok.error());
  auto trace = Trace::open(recording.tracePath);
  if (!trace) return tl::unexpected(Error{trace.error().sentence, ExitCode::Internal});
  if (auto ok = sawPm(*trace, options, program, launcher->loaded(), recording); !ok) return tl::unexpected(ok.error());

  explainBusError(*trace, recording);
  if (!unexplained.empty())
    recording.incomplete.push_back(fmt::format("Not explained by the trace: {}.", fmt::join(unexplained, "; ")));
  recording.unseenReason = unseenReason(*trace);
  sayUnfollowed(*trace, recording);
  for (const LoadedModule& m : trace->modules()) {
    if (fs::path(m.path).filename().string().rfind("libpmem", 0) == 0) {
      recording.notes.push_back(
          "PMEM_IS_PMEM_FORCE=1 was set, so that PMDK flushes as on real PM instead of calling msync.");
      break;
    }
  }
  if (!options.keepPool.empty())
    if (auto ok = keepPools(options.keepPool, *trace, shadow); !ok) return tl::unexpected(ok.error());
  return recording;
}

std::uint64_t heapTop(const Trace& trace) {
  std::uint64_t begin = 0, size = 0, top = 0;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::Map && trace.files()[fileOf(e.addr)].path == BLACKOUT_HEAP_PATH) {
      std::uint64_t place[2];
      std::memcpy(place, trace.payload(n).data(), sizeof place);
      begin = place[0];
      size = place[1];
    } else if (kindOf(e) == EventKind::Alloc && e.addr - begin < size) {
      top = std::max(top, e.addr - begin + e.value);
    }
  }
  return top;
}

}  // namespace blackout
