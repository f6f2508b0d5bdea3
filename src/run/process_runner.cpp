#include "run/process_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "events/trace.h"
#include "run/launch.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

// The zygote's end of the sockets: out of the way of the program's own descriptors.
constexpr unsigned kFirstSocket = 700;
constexpr unsigned kMaxWorkers = 128;

tl::unexpected<Error> internal(std::string_view what) {
  return fail(fmt::format("recovery runs: {}: {}", what, std::strerror(errno)), ExitCode::Internal);
}

constexpr int kLook = 50;  // milliseconds between looks whether anybody still waits

tl::unexpected<Error> givenUp() { return fail("it was ended while a restart was under way", ExitCode::Inconclusive); }

// A byte from the socket within the time; false: it is closed, nothing came, or nobody waits for it any more.
bool answered(int socket, int milliseconds, const std::function<bool()>& giveUp) {
  for (; milliseconds > 0 && !(giveUp && giveUp()); milliseconds -= kLook) {
    pollfd p{socket, POLLIN, 0};
    int r = poll(&p, 1, kLook);
    unsigned char b;
    if (r > 0) return read(socket, &b, 1) == 1;
    if (r < 0 && errno != EINTR) return false;
  }
  return false;
}

// A sanitizer asks the kernel itself for its process's number, "==4711==ERROR: ...": the same in every run is 1.
void maskProcessNumbers(std::string& output) {
  for (std::size_t at = 0; (at = output.find("==", at)) != std::string::npos; at += 2) {
    std::size_t end = output.find_first_not_of("0123456789", at + 2);
    bool begins = at == 0 || output[at - 1] == '\n';
    if (begins && end != at + 2 && end != std::string::npos && output.compare(end, 2, "==") == 0)
      output.replace(at + 2, end - at - 2, "1");
  }
}

std::size_t shownLength(const char* text, std::size_t size) { return strnlen(text, size); }

void addLines(std::vector<std::string>& to, std::string_view text) {
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = std::min(text.find('\n', from), text.size());
    to.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
}

}  // namespace

fs::path ProcessRunner::folderOf(unsigned worker) const { return folder_.path() / fmt::format("w{}", worker); }

Result<std::unique_ptr<ProcessRunner>> ProcessRunner::start(const RecoveryProgram& program, const Baseline& baseline,
                                                            unsigned workers, const RunLimits& limits,
                                                            const Baseline* beside) {
  if (baseline.tracked().operations() > BLACKOUT_MAX_OPERATIONS)
    return fail(fmt::format("more than {} operations are marked; mark fewer", BLACKOUT_MAX_OPERATIONS));
  auto folder = PrivateFolder::make(PrivateFolder::InMemory);
  if (!folder) return tl::unexpected(folder.error());
  auto plan = PlanFile::make(folder->path() / "plan", baseline.index(), baseline.tracked());
  if (!plan) return tl::unexpected(plan.error());
  std::unique_ptr<ProcessRunner> runner(new ProcessRunner(std::move(*folder), std::move(*plan)));
  runner->limits_ = limits;
  workers = std::clamp(workers, 1U, kMaxWorkers - 1);
  runner->besideAt_ = workers;
  if (beside != nullptr) ++workers;
  for (unsigned w = 0; w < workers; ++w) {
    const Baseline& of = w < runner->besideAt_ ? baseline : *beside;
    auto image = WorkerImage::make(runner->folderOf(w), of);
    if (!image) return tl::unexpected(image.error());
    runner->workers_.push_back({&of, std::move(*image)});
  }
  if (auto ok = runner->launch(program); !ok) return tl::unexpected(ok.error());
  for (unsigned w = 0; w < workers; ++w)
    if (auto ok = runner->addWorker(w); !ok) return tl::unexpected(ok.error());
  runner->findModules();
  return runner;
}

// A restart's own descriptors begin where those of most programs don't reach, so there must be as many.
static Result<void> enoughDescriptors() {
  constexpr rlim_t kNeeded = 1000;
  struct rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kNeeded) return {};
  return fail(
      fmt::format("restarts need {} file descriptors, and only {} may be opened here; allow more with ulimit -n",
                  kNeeded, limit.rlim_cur),
      ExitCode::Inconclusive);
}

Result<void> ProcessRunner::launch(const RecoveryProgram& program) {
  if (auto ok = enoughDescriptors(); !ok) return ok;
  auto launcher = Launcher::find(program.command);
  if (!launcher) return tl::unexpected(launcher.error());
  std::vector<int> theirs;
  auto pair = [&](int& ours) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    ours = ends[0];
    theirs.push_back(ends[1]);
    return true;
  };
  bool made = pair(zygoteSocket_);
  for (Worker& w : workers_) made = made && pair(w.socket);
  if (!made) return internal("no sockets");

  RuntimeOptions options;
  options.set("sockets", kFirstSocket).set("workers", workers_.size()).set("zygote", folder_.path().string());
  if (!program.input.empty()) options.set("input", fs::absolute(program.input).string());
  if (!program.before.empty()) options.set("before", program.before);
  options.pools(program.patterns).append(program.options);
  auto launched = launcher->start(Role::Recovery, options, [&] {
    // Away from the numbers they are to get, then there.
    for (int& fd : theirs) fd = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(kFirstSocket + theirs.size()));
    for (std::size_t i = 0; i < theirs.size(); ++i) dup2(theirs[i], static_cast<int>(kFirstSocket + i));
    struct sigaction plain{};
    plain.sa_handler = SIG_DFL;
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) sigaction(s, &plain, nullptr);
    if (program.randomAddresses) allowRandomAddresses();
  });
  for (int fd : theirs) ::close(fd);
  if (!launched) return tl::unexpected(launched.error());
  zygote_ = launched->pid;
  return {};
}

Result<void> ProcessRunner::addWorker(unsigned number) {
  Worker& w = workers_[number];
  fs::path path = folderOf(number) / "control";
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void* base = fd < 0 || ftruncate(fd, sizeof(blackout_worker)) != 0
                   ? MAP_FAILED
                   : mmap(nullptr, sizeof(blackout_worker), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) ::close(fd);
  if (base == MAP_FAILED) return internal("no memory");
  w.control = static_cast<blackout_worker*>(base);
  w.control->magic = BLACKOUT_WORKER_MAGIC;
  w.control->version = BLACKOUT_RECOVERY_VERSION;
  w.control->number = number;
  w.control->step_limit = UINT64_MAX;  // what the worker itself does before its first run is no run's
  auto byte = static_cast<unsigned char>(number);
  constexpr int kStartMilliseconds = 30'000;
  if (send(zygoteSocket_, &byte, 1, MSG_NOSIGNAL) != 1 ||
      !answered(zygoteSocket_, kStartMilliseconds, limits_.giveUp)) {
    if (limits_.giveUp && limits_.giveUp()) return givenUp();
    return fail("the command that is started after a crash ended before its first instruction; try it by hand",
                ExitCode::Inconclusive);
  }
  return {};
}

// The program files of the zygote, and so of every run: trapped code is named by them.
void ProcessRunner::findModules() {
  std::ifstream maps(fmt::format("/proc/{}/maps", zygote_));
  for (std::string line; std::getline(maps, line);) {
    std::size_t slash = line.find('/');
    if (slash == std::string::npos || line.size() < 40 || line.find('x', line.find(' ')) > slash) continue;
    addModule(line.substr(slash));
  }
}

void ProcessRunner::addModule(const std::string& path) {
  sites_.addModule(path);
  trapped_ |= path.find("libZydis") != std::string::npos;
}

ProcessRunner::~ProcessRunner() {
  // Closed sockets end everybody; the zygote is ours to wait for.
  for (Worker& w : workers_) {
    if (w.socket >= 0) ::close(w.socket);
    if (w.control != nullptr) munmap(w.control, sizeof(blackout_worker));
  }
  if (zygoteSocket_ >= 0) ::close(zygoteSocket_);
  if (zygote_ > 0) {
    kill(zygote_, SIGKILL);
    waitpid(zygote_, nullptr, 0);
  }
}

Result<void> ProcessRunner::begin(unsigned number, const Run& request) { return beginAt(number, request); }

Result<void> ProcessRunner::beginAt(unsigned number, const Run& request) {
  Worker& w = workers_[number];
  if (auto ok = w.image.become(request); !ok) return ok;
  w.traced = request.traced;
  w.control->traced = request.everyRead ? BLACKOUT_TRACED_READS : request.traced ? 1 : 0;
  w.control->hangs = request.hangs ? 1 : 0;
  w.control->timeout_ms = limits_.seconds * 1000;
  w.control->step_limit = limits_.steps;
  w.control->memory_limit = std::min<std::uint64_t>(limits_.mebibytes, UINT64_MAX >> 24) << 20;
  ++w.control->run;
  for (OperationNo i : idRange<OperationNo>(w.baseline->tracked().operations()))
    w.control->operations[i.value()] = static_cast<std::uint8_t>(w.baseline->opState(request.pointNo, i));
  if (request.traced) {
    std::string bytes = w.image.traceBeginning();
    fs::path path = folderOf(number) / "trace";
    int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    if (fd >= 0) ::close(fd);
    if (!ok) return internal("no room for a trace");
  }
  unsigned char go = 1;
  if (send(w.socket, &go, 1, MSG_NOSIGNAL) != 1) return internal("a worker is gone");
  w.busy = true;
  return {};
}

Result<std::pair<unsigned, RunEnd>> ProcessRunner::wait() { return waitFor(0, besideAt_); }

Result<std::pair<unsigned, RunEnd>> ProcessRunner::waitFor(unsigned begin, unsigned end) {
  for (;;) {
    std::vector<pollfd> polled;
    std::vector<unsigned> numbers;
    for (unsigned i = begin; i < end; ++i) {
      if (!workers_[i].busy) continue;
      polled.push_back({workers_[i].socket, POLLIN, 0});
      numbers.push_back(i);
    }
    if (polled.empty()) return fail("recovery runs: nothing was begun", ExitCode::Internal);
    if (limits_.giveUp && limits_.giveUp()) return givenUp();
    int r = poll(polled.data(), polled.size(), limits_.giveUp ? kLook : -1);
    if (r == 0 || (r < 0 && errno == EINTR)) continue;
    if (r < 0) return internal("poll");
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      unsigned char b;
      if (read(polled[i].fd, &b, 1) != 1)
        return fail("a worker that makes the restarts ended unexpectedly; was it killed, or is memory short?",
                    ExitCode::Inconclusive);
      workers_[numbers[i]].busy = false;
      return std::pair(numbers[i], resultOf(numbers[i]));
    }
  }
}

RunEnd ProcessRunner::resultOf(unsigned number) {
  Worker& w = workers_[number];
  const blackout_worker& c = *w.control;
  RunEnd result;
  Outcome& o = result.outcome;
  switch (c.ended) {
    case BLACKOUT_ENDED_HUNG:
      o.ending = Ending::Hung;
      break;
    case BLACKOUT_ENDED_EXPECTATION:
      o.ending = Ending::Expectation;
      break;
    case BLACKOUT_ENDED_TIMEOUT:
      o.ending = Ending::TimedOut;
      break;
    case BLACKOUT_ENDED_BROKEN:
      o.ending = Ending::Broken;
      break;
    case BLACKOUT_ENDED_BOUND:
      o.ending = Ending::Bound;
      break;
    default:
      o.ending = WIFSIGNALED(c.wait_status) ? Ending::Signalled : Ending::Exited;
      o.code = WIFSIGNALED(c.wait_status) ? WTERMSIG(c.wait_status) : WEXITSTATUS(c.wait_status);
  }
  // A run that is over by its steps says so itself (oracle.cpp); the worker says of one that waits or loops.
  if (c.ended != 0 && (c.ended != BLACKOUT_ENDED_HUNG || c.steps <= limits_.steps))
    o.text.assign(c.text, shownLength(c.text, sizeof c.text));
  o.output.assign(c.output, std::min<std::uint64_t>(c.output_size, BLACKOUT_MAX_OUTPUT));
  maskProcessNumbers(o.output);
  o.outputCut = c.output_size > BLACKOUT_MAX_OUTPUT;
  auto history =
      decodeHistory({reinterpret_cast<const char*>(c.history),
                     static_cast<std::size_t>(std::min<std::uint64_t>(c.history_size, BLACKOUT_MAX_HISTORY))});
  if (history && o.ending != Ending::Broken) {
    o.history = std::move(*history);
    // What blackout_recovered() says is no answer: it says how the crash found the program.
    std::erase_if(o.history, [](const HistoryOperation& operation) { return operation.name == kRecoveredMark; });
  } else if (o.ending != Ending::Broken) {
    o.ending = Ending::Broken;
    o.text = "the operations that a restart recorded are damaged: it wrote where it must not";
  }
  o.faultAddress = c.fault_address;
  o.frames.assign(c.frames, c.frames + std::min<std::uint32_t>(c.frame_count, BLACKOUT_MAX_RUN_FRAMES));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(c.waiting_count, BLACKOUT_MAX_WAITING); ++i) {
    const blackout_waiting& t = c.waiting[i];
    result.waiting.push_back({std::string(t.what, shownLength(t.what, sizeof t.what)),
                              {t.frames, t.frames + std::min<std::uint64_t>(t.frame_count, BLACKOUT_MAX_RUN_FRAMES)}});
  }
  // Where it is when it is found to take too much is chance, and what differs between two runs is taken for more.
  if (o.ending == Ending::Bound && !w.traced) o.frames.clear();
  if (c.instrumented == 0 && o.ending != Ending::Broken) {
    // Nobody saw what it read, so it may have read everything.
    result.notes.emplace_back(
        "The command that is started after a crash isn't instrumented: it is assumed to read everything, so that every "
        "combination of what a crash may leave is tried.");
    const TrackedBytes& tracked = w.baseline->tracked();
    for (TrackedNo i : idRange<TrackedNo>(tracked.count()))
      result.queries.push_back({.kind = QueryKind::Bytes, .subject = i.value(), .mask = tracked.mask(i)});
  }
  if (c.instrumented != 0 && !trapped_)
    result.unseen.emplace_back(
        "Restarts ran without traps (--trap never): what libc and other code that is not instrumented read of PM was "
        "not seen; leave that option out.");
  // What its processes executed.
  if (std::string_view names(c.modules, shownLength(c.modules, sizeof c.modules)); names.size() > w.modulesKnown) {
    std::vector<std::string> fresh;
    addLines(fresh, names.substr(w.modulesKnown));
    for (const std::string& path : fresh) addModule(path);
    w.modulesKnown = names.size();
  }
  // Ids of trapped code become those of their places, in the run's own trace too.
  auto siteOf = [&](std::uint64_t id) {
    const Site* site = trapped_ && id != 0 ? sites_.at(id) : nullptr;
    return site == nullptr ? id : site->id;
  };
  std::uint64_t count = std::min<std::uint64_t>(c.query_count, BLACKOUT_MAX_QUERIES);
  result.queries.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const blackout_query& q = c.queries[i];
    result.queries.push_back({static_cast<QueryKind>(q.kind), q.subject, q.mask, siteOf(q.site), q.group,
                              StackId(q.where), EventNo(q.event), static_cast<std::uint8_t>(q.flags)});
  }
  result.steps = c.steps;
  result.used = c.used;
  result.executing = c.exec_time;
  addLines(result.notes, {c.notes, shownLength(c.notes, sizeof c.notes)});
  addLines(result.unseen, {c.unseen, shownLength(c.unseen, sizeof c.unseen)});
  if (w.traced) result.tracePath = (folderOf(number) / "trace").string();
  if (w.traced && trapped_) {
    auto trace = Trace::open(result.tracePath);
    auto ok = trace ? sites_.nameSites(*trace) : tl::unexpected(trace.error());
    if (!ok) result.notes.push_back(ok.error().sentence);
  }
  return result;
}

}  // namespace blackout
