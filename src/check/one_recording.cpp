#include "check/one_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "binary/symbolizer.h"
#include "binary/uninstrumented.h"
#include "binary/user_frame.h"
#include "detect/trusted.h"
#include "events/trace.h"
#include "findings/ending.h"
#include "findings/numbers.h"
#include "findings/run_summary.h"
#include "judge/cured_too.h"
#include "judge/removals.h"
#include "mechanisms/invariants.h"
#include "mechanisms/mechanism_findings.h"
#include "mechanisms/plans.h"
#include "report/finding_files.h"
#include "report/known_findings.h"
#include "report/places.h"
#include "report/trace_windows.h"

namespace blackout {

namespace {

// What a trusted library does with its own data is not told; that it was not told is. A transaction that is left open
// is its caller's, though it begins in the library.
void leaveOutTrusted(Report& report, const Trusted& trusted) {
  std::size_t inside = std::erase_if(report.findings, [&](const Finding& f) {
    return f.kind != FindingKind::OpenTransaction && !f.places.empty() && trusted.insideAt(f.places.front().where);
  });
  if (inside != 0)
    report.notes.push_back(
        fmt::format("{} inside trusted code {} left out.", counted(inside, "finding"), inside == 1 ? "was" : "were"));
  report.trusted = trusted.objects();
}

// What a thread that waited when the recording ended was waiting at, in the program's own code.
std::string waitingPlace(Stacks& stacks, const Trace& trace, StackId where) {
  std::vector<Frame> calls = stacks.at(trace, where);
  auto own = std::find_if(calls.begin(), calls.end(), inProgram);
  if (own == calls.end()) return "at an unknown place";
  std::string text = "in ";
  for (auto f = own; f != calls.end() && inProgram(*f); ++f)
    text += fmt::format("{}{} ({}:{})", f == own ? "" : ", called by ", f->function,
                        std::filesystem::path(f->file).filename().string(), f->line);
  return text;
}

// Of a recording that ended because all threads waited for each other, or all that did not spin: where each of them
// was.
void tellDeadlock(const Trace& trace, Report& report) {
  if (trace.count(EventKind::Switch) == 0 || (trace.problems() & BLACKOUT_PROBLEM_STOPPED) == 0) return;
  struct Last {
    const Event* e;
    bool spins;
  };
  std::map<ThreadNo, Last> waiting;
  bool all = false, spin = false;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (groupOf(e) == EventGroup::Table || groupOf(e) == EventGroup::Load || kindOf(e) == EventKind::End) continue;
    constexpr unsigned kYields = 1, kWaits = 2;
    bool turns = kindOf(e) == EventKind::Switch;
    auto to = static_cast<std::uint32_t>(e.value);
    bool spins = turns && e.len == kYields && to == e.value >> 32;
    bool waits = turns && e.len == kWaits;
    // Whoever spins gives its turn away again and again.
    auto known = waiting.find(threadOf(e));
    if (turns && !waits && !spins && known != waiting.end() && known->second.spins) continue;
    if (known != waiting.end()) waiting.erase(known);
    if (!waits && !spins) continue;
    waiting.emplace(threadOf(e), Last{&e, spins});
    all = waits && to == 0;
  }
  for (const auto& [thread, last] : waiting) spin |= last.spins;
  if (!all && !spin) return;
  SymbolizedStacks stacks;
  std::string text = spin ? "The recorded run was ended because all threads that could go on spin: "
                          : "The recorded run ended in a deadlock: ";
  for (bool first = true; const auto& [thread, last] : waiting) {
    text += fmt::format("{}thread {} {} {}", first ? "" : "; ", last.e->value >> 32, last.spins ? "spins" : "waits",
                        waitingPlace(stacks, trace, stackOf(*last.e)));
    first = false;
  }
  report.incomplete.push_back(text + ".");
}

// Libraries that make threads and let them wait in ways of their own.
void tellForeignThreads(const Trace& trace, Report& report) {
  struct Library {
    std::string_view begins, name, cure;
  };
  constexpr Library kLibraries[] = {
      {"libgomp.so", "OpenMP", "OMP_NUM_THREADS=1 makes it use one thread"},
      {"libomp.so", "OpenMP", "OMP_NUM_THREADS=1 makes it use one thread"},
      {"libiomp5.so", "OpenMP", "OMP_NUM_THREADS=1 makes it use one thread"},
      {"libtbb.so", "TBB", "tbb::global_control with max_allowed_parallelism 1 makes it use one thread"}};
  if (report.run.threads < 2) return;
  for (const LoadedModule& m : trace.modules()) {
    std::string name = std::filesystem::path(m.path).filename().string();
    for (const Library& l : kLibraries)
      if (name.starts_with(l.begins))
        report.notes.push_back(fmt::format(
            "The program's threads are those of {} ({}), which lets them wait by spinning and by system calls of its "
            "own: these are no steps of a schedule, and control over the threads may end there. {}; --schedule system "
            "leaves its threads to the system.",
            l.name, name, l.cure));
  }
}

// Store buffers are those of compiled code. What other code stores to other memory is not seen, and could overtake what
// waits; the libraries of the languages are known to do so only where a lock or an atomic of the program orders it.
void tellBuffers(const Trace& trace, const CheckOptions& options, Report& report) {
  if (!options.model.tso || report.run.threads < 2) return;
  std::span<const LoadedModule> modules = trace.modules();
  if (std::none_of(modules.begin(), modules.end(), [](const LoadedModule& m) { return m.instrumented; })) {
    report.incomplete.emplace_back(
        "Nothing of the program was built with blackout-clang, so nothing waited in a store buffer (tso=on).");
    return;
  }
  if (std::vector<std::string> plain = uninstrumentedLibraries(modules); !plain.empty())
    report.incomplete.push_back(
        fmt::format("Store buffers (tso=on) are those of code that was built with blackout-clang: what {} stored to "
                    "memory that is not persistent did not empty them, and may have been seen too early.",
                    fmt::join(plain, " and ")));
}

// What the recorded run says by itself.
Report judgeTrace(const Index& index, const Recording& recording, const CheckOptions& options, const Trusted* trusted) {
  const Trace& trace = index.trace();
  Report report;
  report.notes = recording.notes;
  report.trapped =
      std::any_of(trace.modules().begin(), trace.modules().end(), [](const LoadedModule& m) { return m.trapped; });
  report.incomplete = recording.incomplete;
  bool blind = !recording.unseenReason.empty();
  if (blind) report.incomplete.push_back(recording.unseenReason);
  summarise(trace, report);
  // Whoever asked for a schedule did not get it; others have a recording with real threads, as good as any.
  if ((trace.problems() & BLACKOUT_PROBLEM_SCHEDULE) != 0)
    (options.record.pinTime ? report.incomplete : report.notes)
        .emplace_back(
            "Control over the program's threads was lost (one of them computed or waited without a step that is "
            "followed while others could go on), so from there on the system decided, and another run may differ.");
  tellDeadlock(trace, report);
  tellForeignThreads(trace, report);
  tellBuffers(trace, options, report);
  tellEnding(report, options.anyExit);
  report.run.model = describe(options.model);
  report.run.lines = index.lineCount();
  {
    // Not kept while the detectors run: a long trace has a point in every third or fourth event.
    std::vector<EventNo> points = index.points(PointsMode::Enough);
    report.run.points = points.size();
    report.run.log10States = log10StatesOverPoints(index, points);
  }

  DetectOptions detectors = options.detect;
  detectors.blind = blind;
  report.findings = detect(index, detectors);
  report.detectors = detectorNames(detectors, options.crash && !blind);
  if (trusted != nullptr) leaveOutTrusted(report, *trusted);
  return report;
}

// Pulls the plug, and adds what comes of it to the report.
Result<std::vector<ReplayableFinding>> exploreCrashes(const Index& index, const CrashOptions& options, Report& report,
                                                      LinesReached& reached) {
  SymbolizedStacks stacks;
  auto crash = checkCrashes(index, options, stacks);
  if (!crash && crash.error().exit == ExitCode::Usage) return tl::unexpected(crash.error());
  if (!crash) {
    // What the recorded run said by itself is still worth reading.
    report.incomplete.push_back(fmt::format("Crashes could not be explored: {}.", crash.error().sentence));
    return std::vector<ReplayableFinding>();
  }
  report.exploration = std::move(crash->exploration);
  reached = std::move(crash->reached);
  report.notes.insert(report.notes.end(), crash->notes.begin(), crash->notes.end());
  report.incomplete.insert(report.incomplete.end(), crash->incomplete.begin(), crash->incomplete.end());
  for (const ReplayableFinding& f : crash->findings) report.findings.push_back(f.finding);
  return std::move(crash->findings);
}

// The mechanisms that a description tells of, checked on the trace.
struct KnownMechanisms {
  Description description;
  StructLayouts layouts;
  Phases phases;
};
Result<std::unique_ptr<KnownMechanisms>> judgeMechanisms(const Index& index, const CheckOptions& options, bool blind,
                                                         Report& report) {
  auto known = std::make_unique<KnownMechanisms>();
  known->description = *options.mechanisms;
  known->layouts = StructLayouts::of(index.trace());
  auto phases = checkMechanisms(index, known->description, known->layouts);
  if (!phases) return fail("--mechanisms: " + phases.error().sentence, phases.error().exit);
  known->phases = std::move(*phases);
  // What nobody saw may have flushed.
  if (!blind)
    for (Finding& f : mechanismFindings(index, known->description, known->phases))
      report.findings.push_back(std::move(f));
  std::vector<EventNo> points = index.points(PointsMode::Enough);
  report.mechanisms = mechanismSummary(index, known->description, known->phases, points);
  for (std::string& s : mechanismNotes(known->description, known->phases)) report.incomplete.push_back(std::move(s));
  return known;
}

void tellPlans(const CrashPlans::Figures& figures, Report& report) {
  report.mechanisms->plans = figures.plans;
  report.mechanisms->plansForAll = figures.forAll;
  report.notes.push_back(
      fmt::format("Only crash plans were tried: what the mechanisms protect is taken for protected, and other crashes "
                  "were not looked at; --strategy lazy looks at all."));
}

// What the preset leaves out beyond what every trusted object does.
void sayLeftOutByPmdk(Report& report) {
  report.notes.emplace_back(
      "--pmdk takes PMDK's libraries for right: the power fails only before their calls, and nothing is said of what "
      "they store, flush and read for themselves. Without the option their insides are explored too.");
  for (const PoolSummary& pool : report.pools)
    if (pool.created)
      report.notes.push_back(
          fmt::format("{} is made in the recorded run, and crashes inside the call that makes it are left out by "
                      "--pmdk: make the pool beforehand, so that the run is about your own operations, and check its "
                      "creation by itself without the option.",
                      pool.path));
}

}  // namespace

Result<std::optional<Trusted>> trustedBy(const CheckOptions& options, const Trace& trace) {
  if (options.pmdk) {
    auto trusted = Trusted::pmdk(trace, options.trust);
    if (trusted && !*trusted)
      return fail(
          "--pmdk: the program loaded none of PMDK's libraries (libpmem, libpmemobj ...); leave the option out");
    return trusted;
  }
  if (options.trust.empty()) return std::optional<Trusted>();
  auto trusted = Trusted::of(trace, options.trust);
  if (!trusted) return tl::unexpected(trusted.error());
  return std::optional<Trusted>(std::move(*trusted));
}

Result<Judged> judgeRecording(Recording& recording, const CheckOptions& options) {
  std::shared_ptr<const Trace> trace = recording.trace;
  if (trace == nullptr) {
    auto opened = Trace::open(recording.tracePath);
    if (!opened) return tl::unexpected(opened.error());
    trace = std::make_shared<const Trace>(std::move(*opened));
  }
  // Who recorded has looked already.
  if (options.record.command.empty()) recording.unseenReason = unseenReason(*trace);
  auto index = Index::build(*trace, options.model);
  if (!index) return tl::unexpected(index.error());
  auto trusted = trustedBy(options, *trace);
  if (!trusted) return tl::unexpected(trusted.error());
  Report report = judgeTrace(*index, recording, options, trusted->has_value() ? &**trusted : nullptr);
  if (options.pmdk) sayLeftOutByPmdk(report);
  std::unique_ptr<KnownMechanisms> mechanisms;
  if (options.mechanisms) {
    auto known = judgeMechanisms(*index, options, !recording.unseenReason.empty(), report);
    if (!known) return tl::unexpected(known.error());
    mechanisms = std::move(*known);
  }
  std::vector<ReplayableFinding> replayable;
  LinesReached reached;
  if (options.crash && !recording.unseenReason.empty()) {
    report.notes.emplace_back("Crashes were not explored, because not all that touched persistent memory was seen.");
  } else if (options.crash && options.crash->interrupt != nullptr && options.crash->interrupt->load()) {
    report.incomplete.emplace_back("Crashes were not explored, because an interrupt ended the check before.");
  } else if (options.crash) {
    CrashOptions crash = *options.crash;
    crash.recordedStatus = report.run.waitStatus.value_or(0);
    crash.recordedInput = recording.readInput;
    crash.detect = options.detect;
    if (options.record.schedule.controlled()) crash.program.options.set("schedule", Schedule::usual().text());
    if (*trusted) crash.points.trusted = &**trusted;
    // The runtime kept there what other files were like.
    if (recording.folder) crash.program.before = (recording.folder->path() / "before").string();
    if (std::uint64_t top = heapTop(*trace); top != 0) crash.program.options.set("heaptop", top);
    std::shared_ptr<CrashPlans> plans;
    if (mechanisms && crash.strategy.kind == StrategyKind::Plans) {
      auto points = choosePoints(*index, crash.points);
      if (!points) return tl::unexpected(points.error());
      plans = std::make_shared<CrashPlans>(*index, mechanisms->phases, std::move(*points),
                                           PlanOptions{crash.strategy.pairs, crash.seed});
      crash.plans = plans;
    }
    auto shown = exploreCrashes(*index, crash, report, reached);
    if (plans) tellPlans(plans->figures(), report);
    if (!shown) return tl::unexpected(shown.error());
    replayable = std::move(*shown);
  }
  resolvePlaces(report, *trace);
  SymbolizedStacks stacks;
  findRemovals(report.findings, *index, stacks);
  joinUnlogged(report.findings);
  joinNotDurable(report.findings);
  joinCuredToo(report.findings, *index);
  applySuppressions(report, options.suppressions);
  applyOnly(report, options.only);
  sortFindings(report.findings);
  addTraceWindows(report, *index, options.events);
  report.command = options.record.command;
  return Judged{std::move(report), std::move(replayable), std::move(reached)};
}

Report finished(Judged judged, const CheckOptions& options) {
  leaveOutKnown(judged.report, options.known);
  dropUnusedTraces(judged.report);
  if (options.readySuppressions) judged.report.readySuppressions = suppressionsFor(judged.report.findings);
  saveReplays(judged.report, judged.replayable, options.findings, options.replays);
  return std::move(judged.report);
}

}  // namespace blackout
