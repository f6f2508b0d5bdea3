#include "explore/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "explore/launch.h"
#include "explore/self_check.h"
#include "explore/uninstrumented.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

std::string runtimeOptions(const RecordOptions& o, const std::string& trace, const fs::path& shadow,
                           const std::vector<PoolPattern>& patterns) {
  // The user's own words come first, ours after them.
  const char* given = std::getenv("BLACKOUT_OPTIONS");
  std::string words = given == nullptr ? "" : given;
  if (o.loads) words += ":loads=1";
  if (o.locks) words += ":locks=1";
  if (o.stackDepth >= 0) words += fmt::format(":stack={}", o.stackDepth);
  if (o.heap != 0) words += fmt::format(":heap={}", o.heap);
  words += optionWord("trace", trace) + optionWord("shadow", shadow.string());
  for (const PoolPattern& p : patterns) words += optionWord(p.glob ? "glob" : "pm", p.text);
  return words;
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

struct Ran {
  int waitStatus = 0;
  bool randomised = false;  // addresses differ from run to run
};

Result<Ran> run(const std::string& program, const std::vector<std::string>& command, const std::string& preload,
                const std::string& words) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail(fmt::format("no pipe: {}", std::strerror(errno)), ExitCode::Internal);
  // Children that outlive the program come to us, so that the trace ends after the last of them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Signals signals;
  Ran ran;
  FixedAddresses fixed;
  ran.randomised = !fixed.possible();
  pid_t child = fork();
  if (child == 0) {
    signals.restore();
    setEnvironment(preload, words);
    execv(program.c_str(), argv.data());
    int error = errno;
    ssize_t ignored = write(report[1], &error, sizeof error);
    (void)ignored;
    _exit(127);
  }
  fixed.restore();
  ::close(report[1]);
  if (child < 0) {
    ::close(report[0]);
    return fail(fmt::format("no process can be made: {}", std::strerror(errno)), ExitCode::Internal);
  }
  childPid = child;
  int error = 0;
  ssize_t n = read(report[0], &error, sizeof error);
  ::close(report[0]);
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == child) ran.waitStatus = status;
    if (ended < 0 && errno == ECHILD) break;
    if (ended < 0 && errno != EINTR) break;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  if (n == sizeof error) return fail(fmt::format("{}: can't be started: {}", program, std::strerror(error)));
  return ran;
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

// Why nothing can be judged at all, if that is so.
Result<void> sawPm(const Trace& trace, const RecordOptions& options, const std::string& program,
                   const Recording& recording) {
  bool loaded = false, instrumented = false, mapped = false;
  for (const LoadedModule& m : trace.modules()) {
    loaded = true;
    instrumented |= m.instrumented;
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
  if (!instrumented)
    return fail(fmt::format("{}: not instrumented; build it with blackout-clang or blackout-clang++", program));
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
    return fail("no program: write it behind --, as in 'blackout check --pm pool.img -- ./program'");
  auto program = findProgram(options.command[0]);
  if (!program) return tl::unexpected(program.error());
  auto preload = runtimePath();
  if (!preload) return tl::unexpected(preload.error());
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

  auto ran = run(*program, options.command, *preload, runtimeOptions(options, recording.tracePath, shadow, *patterns));
  if (!ran) return tl::unexpected(ran.error());
  recording.waitStatus = ran->waitStatus;
  if (ran->randomised)
    recording.notes.push_back(
        "address randomisation can't be switched off here, so volatile addresses differ from run to run");

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
  if (auto ok = sawPm(*trace, options, *program, recording); !ok) return tl::unexpected(ok.error());

  explainBusError(*trace, recording);
  if (!unexplained.empty())
    recording.incomplete.push_back(fmt::format("Not explained by the trace: {}.", fmt::join(unexplained, "; ")));
  recording.blindSentence = blindSentence(*trace);
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
