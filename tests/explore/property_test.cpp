// Random programs with random recoveries: lazy exploration against exhaustive enumeration and against the brute-force
// machine of tests/model, which shares nothing with it; and that results depend neither on the tree, nor on the
// workers, nor on interrupts.
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "crashed_memories.h"
#include "events/trace_writer.h"
#include "explore/seeded.h"
#include "explore/space_memory.h"
#include "explored.h"
#include "model/image.h"
#include "random_program.h"

namespace blackout::test {
namespace {

const std::vector<StartFile> kPool = {{"/pool", 192}};

Index indexOf(const Trace& trace, const ModelOptions& options) {
  auto built = Index::build(trace, options);
  if (!built) throw std::runtime_error(built.error().sentence);
  return std::move(*built);
}

std::uint32_t operationsOf(const Trace& trace) {
  std::uint32_t n = 0;
  for (EventNo e = 0; e < trace.end(); e = trace.next(e)) n += kindOf(trace[e]) == EventKind::OpBegin ? 1 : 0;
  return n;
}

// A program that stores much and flushes little: values of all widths over each other, on three lines.
std::string storingProgram(const Genes& genes) {
  TraceWriter writer;
  FileNo f = writer.file("/pool", 192, true);
  std::map<LineNo, unsigned> stores;
  auto room = [&](PmAddr addr, std::uint64_t size) {
    for (LineNo l = lineOf(addr); l <= lineOf(addr + size - 1); ++l)
      if (stores[l] + (size + 14) / 8 > 6) return false;
    for (LineNo l = lineOf(addr); l <= lineOf(addr + size - 1); ++l) stores[l] += (size + 14) / 8;
    return true;
  };
  unsigned open = 0;
  for (std::uint32_t gene : genes) {
    std::uint64_t dice = gene + 1;
    auto roll = [&](std::uint64_t n) { return (dice = mix(dice)) % n; };
    auto thread = static_cast<ThreadNo>(1 + roll(2));
    std::uint64_t kind = roll(32);
    std::uint64_t in = roll(8);
    PmAddr addr = pmAddr(f, 64 * roll(3) + 8 * roll(4) + in);
    if (kind < 22) {
      auto size = static_cast<unsigned>(1 + roll(8 - in));
      std::uint64_t value = roll(4) * 0x0101010101010101ULL >> (64 - 8 * size);
      if (room(addr, 1)) writer.event(kind < 20 ? EventKind::Store : EventKind::StoreNt, thread, addr, value, size);
    } else if (kind < 25) {
      std::string bytes;
      for (std::uint64_t i = 9 + roll(32); i > 0; --i) bytes.push_back(static_cast<char>(roll(3)));
      if (offsetOf(addr) + bytes.size() <= 192 && room(addr, bytes.size()))
        writer.store(EventKind::Store, thread, addr, bytes);
    } else if (kind < 28) {
      writer.event(EventKind::Clwb, thread, addr);
    } else if (kind < 30) {
      writer.event(EventKind::Sfence, thread);
    } else if (kind < 31) {
      writer.blob(EventKind::OpBegin, 1, 0, "op");
      ++open;
    } else if (open > 0) {
      writer.event(EventKind::OpEnd, 1);
      --open;
    }
  }
  return writer.bytes();
}

struct Case {
  enum class Asks { Operations, NoOperations };
  Case(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene, Asks asks = Asks::Operations,
       bool sites = true)
      : bytes(optionGene % 2 == 0
                  ? RandomProgram(grown(genes, 1 + optionGene / 3 % 3), kPool, optionGene % 4 == 0).bytes
                  : storingProgram(grown(genes, 1 + optionGene / 3 % 3))),
        trace(traceOf(bytes)),
        options(randomOptions(optionGene)),
        index(indexOf(trace, options)),
        recovery(RecoveryProgram::random(
            grown(recoveryGenes, 1 + optionGene / 13 % 2), pathsOf(trace),
            {asks == Asks::Operations ? operationsOf(trace) : 0, optionGene / 17 % 3 == 0, sites})) {}
  static Trace traceOf(const std::string& bytes) {
    auto opened = Trace::fromBytes(std::as_bytes(std::span(bytes)));
    if (!opened) throw std::runtime_error(opened.error().sentence);
    return std::move(*opened);
  }
  std::string bytes;
  Trace trace;
  ModelOptions options;
  Index index;
  RecoveryProgram recovery;
};

constexpr std::size_t kMostStates = 2000;

// Lazy == exhaustive == the brute-force machine, at every single point.
void lazyEqualsBruteForce(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene);
  Wanted setup;
  setup.points = PointsMode::All;
  Explored lazy(c.index, c.recovery, setup);
  lazy.run();
  RC_ASSERT(lazy.explorer->summary().complete());
  RC_ASSERT(lazy.explorer->summary().assumptions.empty());
  RC_ASSERT(lazy.runner.repeated() == 0U);
  RC_ASSERT(lazy.runner.runs() == lazy.explorer->summary().runs);
  std::vector<BruteSnapshot> snapshots = bruteForce(c.trace, c.options);
  RC_ASSERT(snapshots.size() == lazy.baseline.count());
  std::size_t all = 0;
  for (std::uint32_t o = 0; o < snapshots.size(); ++o) {
    std::set<std::string> expected;
    std::vector<std::uint32_t> ops = opStates(c.trace, snapshots[o].at);
    std::size_t states = 0;
    bool done = product(snapshots[o], kMostStates, [&](const auto& lines) {
      ++states;
      BruteMemory memory(snapshots[o], lines, ops);
      expected.insert(wordOf(c.recovery.run(memory, kNothing, tableOf(snapshots[o])).outcome));
    });
    if (!done) {
      all = SIZE_MAX;
      continue;
    }
    if (all != SIZE_MAX) all += states;
    if (lazy.words(SpaceNo(o)) != expected) {
      RC_LOG() << describe(c.options) << " point " << o << ": " << lazy.words(SpaceNo(o)).size()
               << " outcomes, brute force has " << expected.size() << "\n"
               << lazy.everything();
      RC_FAIL("outcomes differ from brute force");
    }
  }
  RC_CLASSIFY(all == SIZE_MAX, "too many states somewhere");
  RC_CLASSIFY(lazy.explorer->summary().mostAtOneSpace > 4, "more than 4 recoveries at a point");
  RC_CLASSIFY(lazy.explorer->summary().mostAtOneSpace > 20, "more than 20 recoveries at a point");
  if (all > 20000) return;
  setup.strategy.kind = StrategyKind::Exhaustive;
  Explored exhaustive(c.index, c.recovery, setup);
  exhaustive.run();
  RC_ASSERT(exhaustive.explorer->summary().statesTried >= lazy.explorer->summary().runs);
  for (std::uint32_t o = 0; o < snapshots.size(); ++o)
    RC_ASSERT(exhaustive.words(SpaceNo(o)) == lazy.words(SpaceNo(o)));
}

// The points that are enough give all outcomes of all points, if nobody asks for operations.
void enoughPointsLoseNoOutcome(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene, Case::Asks::NoOperations);
  Wanted setup;
  Explored enough(c.index, c.recovery, setup);
  enough.run();
  setup.points = PointsMode::All;
  Explored all(c.index, c.recovery, setup);
  all.run();
  RC_ASSERT(enough.words() == all.words());
}

// A tree for each point alone gives the same, and the tree runs each recovery once.
void treeEqualsNoTree(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene, Case::Asks::Operations, optionGene % 3 != 1);
  Wanted setup;
  setup.points = optionGene % 3 == 0 ? PointsMode::All : PointsMode::Enough;
  Explored tree(c.index, c.recovery, setup);
  tree.run();
  setup.options.tree = false;
  Explored alone(c.index, c.recovery, setup);
  alone.run();
  for (SpaceNo s : idRange<SpaceNo>(tree.explorer->spaceCount())) {
    RC_ASSERT(tree.words(s) == alone.words(s));
    RC_ASSERT(tree.explorer->space(s).recoveries.size() == alone.explorer->space(s).recoveries.size());
  }
  RC_ASSERT(alone.runner.runs() == tree.explorer->summary().runsPerSpaceAlone);
  RC_ASSERT(tree.runner.repeated() == 0U);
}

void workersDoNotMatter(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene, Case::Asks::Operations, optionGene % 3 != 1);
  Wanted setup;
  setup.points = optionGene % 3 == 0 ? PointsMode::All : PointsMode::Enough;
  setup.options.tree = optionGene % 5 != 0;
  setup.options.crashesInARow = optionGene % 7 == 0 ? 2 : 1;
  if (optionGene % 4 == 0) setup.options.budget = 3;
  if (optionGene % 11 == 0) setup.options.maxRuns = 1 + optionGene % 9;
  Explored one(c.index, c.recovery, setup);
  one.run();
  setup.workers = 8;
  setup.order = optionGene;
  Explored eight(c.index, c.recovery, setup);
  eight.run();
  RC_ASSERT(one.everything() == eight.everything());
  // Past a budget or a bound a run may have been begun that turns out not to be needed.
  if (setup.options.maxRuns == 0) RC_ASSERT(one.runner.runs() == eight.runner.runs());
}

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("blackout-explore-{}.saved", getpid())).string();
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

// Interrupted, saved, loaded, gone on with, any number of times: as if nothing had happened.
void resumedEqualsUninterrupted(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene, Case::Asks::Operations, optionGene % 3 != 1);
  Wanted setup;
  setup.workers = 1 + optionGene % 3;
  setup.options.tree = optionGene % 5 != 0;
  setup.options.crashesInARow = optionGene % 7 == 0 ? 2 : 1;
  Explored whole(c.index, c.recovery, setup);
  whole.run();
  TemporaryFile file;
  setup.options.maxRuns = 1 + optionGene % 6 + whole.runner.runs() / 20;
  std::uint64_t runs = 0;
  bool first = true;
  for (unsigned round = 0;; ++round) {
    RC_ASSERT(round < 1000U);
    setup.order = optionGene + round;
    if (!first) setup.options.resume = file.path;
    first = false;
    Explored part(c.index, c.recovery, setup);
    part.run();
    runs += part.runner.runs();
    const ExplorationSummary& m = part.explorer->summary();
    RC_ASSERT(m.newRuns <= setup.options.maxRuns);
    if (m.stop == Stop::Finished) {
      RC_ASSERT(part.everything() == whole.everything());
      RC_ASSERT(runs == whole.runner.runs());
      return;
    }
    RC_ASSERT(m.stop == Stop::MaxRuns);
    RC_ASSERT(!m.complete());
    // What is complete is what it is.
    for (SpaceNo s : idRange<SpaceNo>(part.explorer->spaceCount()))
      if (part.explorer->space(s).complete) RC_ASSERT(part.words(s) == whole.words(s));
    RC_ASSERT(part.explorer->save(file.path).has_value());
  }
}

// The second crash by brute force: from each state that the first may leave the recovery runs, and every snapshot of
// its own trace is a memory on which it runs again.
void twoFailuresEqualBruteForce(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene);
  Wanted setup;
  setup.options.crashesInARow = 2;
  Explored lazy(c.index, c.recovery, setup);
  lazy.run();
  bool whole = lazy.explorer->summary().complete();
  RC_ASSERT(whole || lazy.explorer->summary().fileChangePoints > 0);
  RC_ASSERT(lazy.runner.repeated() == 0U);
  std::map<EventNo, BruteSnapshot> at;
  for (BruteSnapshot& s : bruteForce(c.trace, c.options)) at[s.at] = std::move(s);
  std::size_t spaces = 0;
  bool compared = false;
  for (std::uint32_t o = 0; o < lazy.baseline.count(); ++o) {
    const BruteSnapshot& first = at[lazy.baseline.point(PointNo(o))];
    std::vector<std::uint32_t> ops = opStates(c.trace, first.at);
    std::set<std::string> expected;
    bool done = true;
    done = done && product(first, 60, [&](const std::map<LineNo, LineContent>& lines) {
             if (!done) return;
             BruteMemory memory(first, lines, ops);
             RecoveryProgram::Did did = c.recovery.run(memory, kNothing, tableOf(first));
             expected.insert(wordOf(did.outcome));
             auto trace = Trace::fromBytes(std::as_bytes(std::span(did.trace)));
             RC_ASSERT(trace.has_value());
             for (BruteSnapshot& second : bruteForce(*trace, c.options, &lines)) {
               if (second.at < did.begin) continue;  // the table of files is no recovery
               done = done && product(second, 100, [&](const auto& again) {
                        ++spaces;
                        BruteMemory left(second, again, ops);
                        expected.insert(wordOf(c.recovery.run(left, kNothing, tableOf(second)).outcome));
                      });
             }
           });
    if (!done || spaces > 20000) continue;
    std::set<std::string> found = lazy.wordsAt(PointNo(o), 1);
    found.merge(lazy.wordsAt(PointNo(o), 2));
    compared = true;
    bool right =
        whole ? found == expected : std::includes(expected.begin(), expected.end(), found.begin(), found.end());
    if (!right) {
      RC_LOG() << describe(c.options) << " point " << o << ": " << found.size() << " outcomes, brute force has "
               << expected.size() << "\n"
               << lazy.everything();
      RC_FAIL("outcomes of two failures differ from brute force");
    }
  }
  RC_CLASSIFY(compared && lazy.explorer->summary().spaces > lazy.explorer->summary().points, "crashes in recovery");
  RC_CLASSIFY(!whole, "files that can't be told");
}

// Every recovery's example, as a crash state, gives by the index an image on which the recovery ends as its leaf says;
// and asking for that state finds the recovery.
void crashStatesLeadToTheirLeaves(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene);
  Wanted setup;
  setup.options.crashesInARow = 1 + optionGene % 3;
  Explored e(c.index, c.recovery, setup);
  e.run();
  std::uint64_t runs = e.runner.runs();
  std::size_t checked = 0;
  for (SpaceNo s = 0; s.value() < e.explorer->spaceCount() && checked < 300; ++s) {
    const SpaceInfo& info = e.explorer->space(s);
    std::vector<std::uint32_t> ops = opStates(c.trace, e.baseline.point(info.pointNo));
    // The traces of the recoveries on the way, last crash first.
    std::vector<std::string> bytes;
    std::vector<std::unique_ptr<Trace>> traces;
    std::vector<std::unique_ptr<Index>> further;
    std::vector<const Index*> indexes;
    for (SpaceNo at = s; e.explorer->space(at).level > 1; at = e.explorer->space(at).parent)
      bytes.push_back(*e.explorer->traceOf(e.explorer->space(at).through));
    for (std::string& b : bytes) {
      traces.push_back(std::make_unique<Trace>(std::move(*Trace::fromBytes(std::as_bytes(std::span(b))))));
      further.push_back(std::make_unique<Index>(indexOf(*traces.back(), c.options)));
      indexes.insert(indexes.begin(), further.back().get());
    }
    indexes.insert(indexes.begin(), &c.index);
    for (RecoveryNo l : info.recoveries) {
      ++checked;
      RecoveryDetail detail = e.explorer->detail(s, l);
      auto found = e.explorer->recoveryOf(s, detail.example);
      RC_ASSERT(found.has_value());
      RC_ASSERT(*found == l);
      CrashState state = e.explorer->crashState(s, detail.example);
      RC_ASSERT(state.size() == info.level);
      auto image = buildImage(state, indexes);
      if (!image) RC_FAIL(image.error().sentence);
      ImageMemory memory(*image, ops);
      RC_ASSERT(wordOf(c.recovery.run(memory, kNothing, memory.table()).outcome) ==
                wordOf(e.explorer->outcome(detail.outcome)));
      auto again = e.explorer->repeat(s, detail.example);
      RC_ASSERT(again.has_value());
      RC_ASSERT(!again->divergence.has_value());
      // Everything else persisted does not matter to what was read.
      ChosenVersions persisted(UnnamedLines::Newest, detail.example.versions);
      auto newest = e.explorer->recoveryOf(s, persisted);
      RC_ASSERT(newest.has_value());
      RC_ASSERT(*newest == l);
      auto stated = buildImage(e.explorer->crashState(s, persisted), indexes);
      if (!stated) RC_FAIL(stated.error().sentence);
      ImageMemory other(*stated, ops);
      RC_ASSERT(wordOf(c.recovery.run(other, kNothing, other.table()).outcome) ==
                wordOf(e.explorer->outcome(detail.outcome)));
    }
  }
  RC_ASSERT(e.runner.runs() == runs + checked);  // those of repeat
}

// The baseline has at every point what the index has.
void baselineEqualsIndex(const Genes& genes, std::uint32_t optionGene) {
  Case c(genes, {}, optionGene);
  TrackedBytes tracked = TrackedBytes::of(c.index);
  PointsMode mode = optionGene % 3 == 0 ? PointsMode::All : PointsMode::Enough;
  Baseline baseline(c.index, tracked, c.index.points(mode));
  FirstCrash first(baseline);
  SpaceMemory moving(first);
  for (std::uint32_t step = 0; step < 2 * baseline.count(); ++step) {
    // In order first, then to and fro.
    PointNo o(step < baseline.count() ? step : mix(step) % baseline.count());
    EventNo at = baseline.point(o);
    CrashSpace space(first, o);
    moving.enter(space);
    std::vector<TrackedNo> uncertain;
    for (TrackedNo w : idRange<TrackedNo>(tracked.count())) {
      LineVersions expected = c.index.versionsOf(tracked.line(w), at);
      RC_ASSERT(baseline.least(o, w) == expected.versions.front().bytes);
      RC_ASSERT(moving.least(w) == expected.versions.front().bytes);
      RC_ASSERT(moving.uncertain(w) == (expected.versions.size() > 1));
      const UncertainLine& line = space.line(w);
      RC_ASSERT(line.versions.size() == expected.versions.size());
      if (line.versions.size() == 1) continue;
      uncertain.push_back(w);
      for (std::size_t v = 0; v < line.versions.size(); ++v) {
        RC_ASSERT(line.versions[v].bytes == expected.versions[v].bytes);
        RC_ASSERT(line.versions[v].version == expected.versions[v].version);
      }
      std::uint32_t length = c.index.historyLength(c.index.lineId(tracked.line(w)), at);
      RC_ASSERT(line.versions[line.newest].bytes ==
                c.index.contentOf(c.index.lineId(tracked.line(w)), at, Version{length, {}}));
    }
    RC_ASSERT(baseline.uncertain(o) == uncertain);
    RC_ASSERT(space.uncertain() == uncertain);
    moving.leave();
    for (std::uint32_t p = 0; p < tracked.paths().size(); ++p)
      RC_ASSERT(baseline.pathState(o, p) == pathState(space.files().versions.front().files, tracked.paths()[p]));
    PointNo other(mix(step, 1) % baseline.count());
    std::vector<TrackedNo> changed = baseline.changed(o, other);
    RC_ASSERT(std::is_sorted(changed.begin(), changed.end()));
    for (TrackedNo w : idRange<TrackedNo>(tracked.count()))
      if (baseline.least(o, w) != baseline.least(other, w))
        RC_ASSERT(std::binary_search(changed.begin(), changed.end(), w));
  }
}

// Each of the other strategies finds a part of what lazy exploration finds.
void strategiesFindAPart(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  Case c(genes, recoveryGenes, optionGene);
  Wanted setup;
  Explored lazy(c.index, c.recovery, setup);
  lazy.run();
  for (StrategyKind kind : partStrategies()) {
    setup.strategy = {.kind = kind, .samples = 1 + optionGene % 7};
    Explored part(c.index, c.recovery, setup);
    part.run();
    for (SpaceNo s : idRange<SpaceNo>(lazy.explorer->spaceCount())) {
      std::set<std::string> some = part.words(s);
      std::set<std::string> all = lazy.words(s);
      RC_ASSERT(!some.empty());
      RC_ASSERT(std::includes(all.begin(), all.end(), some.begin(), some.end()));
    }
  }
}

}  // namespace
}  // namespace blackout::test

int main(int argc, char** argv) {
  using namespace blackout::test;
  // A fixed seed: the same programs every time. RC_PARAMS overrides all of it.
  bool full = argc > 1 && std::strcmp(argv[1], "full") == 0;
  setenv("RC_PARAMS", full ? "max_success=5000 max_size=45 seed=3" : "max_success=400 max_size=35 seed=3", 0);
  bool ok = rc::check("the baseline has what the index has", baselineEqualsIndex);
  ok &= rc::check("lazy == exhaustive == brute force at every point", lazyEqualsBruteForce);
  ok &= rc::check("the points that are enough lose no outcome", enoughPointsLoseNoOutcome);
  ok &= rc::check("tree == no tree", treeEqualsNoTree);
  ok &= rc::check("one worker == eight in any order", workersDoNotMatter);
  ok &= rc::check("resumed == uninterrupted", resumedEqualsUninterrupted);
  ok &= rc::check("two failures == brute force", twoFailuresEqualBruteForce);
  ok &= rc::check("a recovery's crash state leads to it", crashStatesLeadToTheirLeaves);
  ok &= rc::check("strategies find a part of what there is", strategiesFindAPart);
  return ok ? 0 : 1;
}
