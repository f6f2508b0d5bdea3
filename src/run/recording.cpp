#include "run/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "binary/trapped_sites.h"
#include "binary/uninstrumented.h"
#include "events/trace.h"
#include "events/trace_writer.h"
#include "run/launch.h"
#include "run/recording_runner.h"
#include "run/self_check.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

RuntimeOptions runtimeOptions(const RecordOptions& o, const std::string& trace, const fs::path& shadow,
                              const std::vector<PoolPattern>& patterns) {
  RuntimeOptions options;
  // With store buffers whatever reads PM is to be followed, so that it can't read past them.
  if (o.loads || o.schedule.buffers) options.set("loads", o.loads ? 1 : 2);
  if (o.locks) options.set("locks", 1);
  if (o.steps) options.set("steps", 1);
  if (o.stackDepth >= 0) options.set("stack", static_cast<std::uint64_t>(o.stackDepth));
  if (o.heap != 0) options.set("heap", o.heap);
  if (!o.patches) options.set("patches", 0);
  if (o.repBytes) options.set("repbytes", 1);
  if (o.heapFill) options.set("heapfill", *o.heapFill);
  if (o.schedule.controlled()) options.set("schedule", o.schedule.text());
  if (o.pinTime) options.set("pin", 2);
  return options.set(o.trap).set("trace", trace).set("shadow", shadow.string()).pools(patterns);
}

// How far the file that is standard input was read; -1: it is no file.
off_t inputAt() {
  struct stat s{};
  bool file = fstat(STDIN_FILENO, &s) == 0 && S_ISREG(s.st_mode);
  return file ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

// What came of the client. The recording goes on without it where there is something to judge.
Result<void> judgeClient(const RecordOptions& options, const std::string& program,
                         const std::optional<ClientEnd>& client, Recording& recording) {
  if (!client) return {};
  switch (client->state) {
    case ClientEnd::NeverReady:
      return fail(fmt::format("{}: it was not ready for --drive within {} s: it neither listened on a socket nor slept "
                              "waiting for input; give it longer with --ready SECONDS",
                              program, options.readySeconds),
                  ExitCode::Inconclusive);
    case ClientEnd::NoServer:
      recording.incomplete.push_back(
          fmt::format("The program ended before it was ready, so {} was not run; --drive is for a program that waits.",
                      options.drive[0]));
      break;
    case ClientEnd::Ended:
      if (client->code != 0)
        recording.incomplete.push_back(fmt::format(
            "The command of --drive, {}, ended with exit code {} in the recorded run, without a simulated crash, so "
            "not all of what it should do was seen. Fix that first.",
            options.drive[0], client->code));
      if (client->killedServer)
        recording.notes.emplace_back(
            "The program did not end on SIGTERM and was killed; what it does on a clean shutdown was not seen.");
      break;
    case ClientEnd::Lost:
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
  IdVector<FileNo, std::uint64_t> sizes(trace.files().size());
  for (EventNo n : trace.rare()) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::FileSize) sizes[fileOf(e.addr)] = e.value;
    if (kindOf(e) != EventKind::Map) continue;
    std::uint64_t end = offsetOf(e.addr) + trace.mapping(n).size;
    std::uint64_t size = sizes[fileOf(e.addr)];
    if (end > (size + 4095) / 4096 * 4096)
      recording.incomplete.push_back(
          fmt::format("{} is too small: the program mapped {} bytes of it and it has {}; make it larger (truncate -s)",
                      trace.files()[fileOf(e.addr)].path, end, size));
  }
}

// What the program did without being followed. What may have been a flush says more (unseenReason).
void sayUnfollowed(const Trace& trace, Recording& recording) {
  for (EventNo n : trace.rare())
    if (kindOf(trace[n]) == EventKind::Unfollowed && trace[n].len == 0)
      recording.incomplete.push_back(fmt::format("Not followed: {}.", trace.payload(n)));
}

// Why nothing can be judged at all, if that is so.
Result<void> sawPm(const Trace& trace, const RecordOptions& options, const std::string& program, const Loaded& code,
                   const Recording& recording) {
  bool loaded = false, followed = false, mapped = trace.count(EventKind::Map) != 0;
  for (const LoadedModule& m : trace.modules()) {
    loaded = true;
    followed |= m.instrumented || m.trapped;
  }
  // It has said why.
  constexpr int kStopped = 3;
  if (!loaded && WIFEXITED(recording.waitStatus) && WEXITSTATUS(recording.waitStatus) == kStopped)
    return fail(
        fmt::format("{}: nothing was recorded, because Blackout's runtime stopped it before its first instruction and "
                    "says why above; if there is no room for the trace, TMPDIR names another folder",
                    program),
        ExitCode::Inconclusive);
  if (!loaded)
    return fail(
        fmt::format("{}: Blackout's runtime was not loaded into it; static and setuid programs are not "
                    "supported, link it dynamically",
                    program));
  // A program that failed before it mapped anything tells its own story first.
  if (!mapped && recording.waitStatus != 0 && options.mayRefuse) return {};
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
    return fail(fmt::format("{}: not instrumented; build it with blackout-clang or blackout-clang++{}", program,
                            options.trap == Trap::Never ? ", or leave out --trap never" : ""));
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
  if (auto ok = beginning.spoolTo(recording.tracePath); !ok) return tl::unexpected(ok.error());
  if (auto ok = copyPools(*patterns, shadow, beginning); !ok) return tl::unexpected(ok.error());
  if (options.heap != 0)
    if (auto ok = makeHeap(options.heap, shadow, beginning); !ok) return tl::unexpected(ok.error());
  if (auto ok = beginning.save(recording.tracePath, false); !ok) return tl::unexpected(ok.error());

  RecordingRunner runner(*launcher, options, recording.tracePath, shadow,
                         runtimeOptions(options, recording.tracePath, shadow, *patterns));
  off_t input = inputAt();
  auto ran = runner.run({.role = Role::Recording});
  if (!ran) return tl::unexpected(ran.error());
  recording.readInput = inputAt() != input;
  recording.waitStatus = ran->waitStatus;
  recording.notes = std::move(ran->notes);
  recording.incomplete = std::move(ran->unseen);
  if (auto ok = judgeClient(options, program, ran->client, recording); !ok) return tl::unexpected(ok.error());

  auto internal = [](Error error) { return tl::unexpected(Error{std::move(error.sentence), ExitCode::Internal}); };
  auto trace = Trace::open(recording.tracePath);
  if (!trace) return internal(trace.error());
  if (auto ok = TrappedSites().nameSites(*trace); !ok) return tl::unexpected(ok.error());

  // The trace checks itself before it is sealed, so that the answer stays with it.
  auto found = unexplainedBytes(*trace, shadow);
  if (!found) return tl::unexpected(found.error());
  const std::vector<std::string> unexplained = std::move(*found);
  if (auto ok = sealTrace(recording.tracePath, ran->waitStatus, unexplained.empty() ? 0 : BLACKOUT_PROBLEM_UNEXPLAINED);
      !ok)
    return tl::unexpected(ok.error());
  if (auto ok = trace->readOn(); !ok) return internal(ok.error());
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
  trace->forgetPages();
  recording.trace = std::make_shared<const Trace>(std::move(*trace));
  return recording;
}

std::uint64_t heapTop(const Trace& trace) {
  MappedAt heap;
  std::uint64_t top = 0;
  if (trace.count(EventKind::Alloc) == 0) return top;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::Map && trace.files()[fileOf(e.addr)].path == BLACKOUT_HEAP_PATH)
      heap = trace.mapping(n);
    else if (kindOf(e) == EventKind::Alloc && e.addr - heap.address < heap.size)
      top = std::max(top, e.addr - heap.address + e.value);
  }
  return top;
}

}  // namespace blackout
