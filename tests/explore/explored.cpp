#include "explored.h"

#include <fmt/format.h>

#include <stdexcept>

#include "events/id_text.h"

namespace blackout::test {

std::string wordOf(const Outcome& o) { return fmt::format("{}:{}:{}", static_cast<int>(o.ending), o.code, o.output); }

std::vector<StrategyKind> partStrategies() {
  std::vector<StrategyKind> kinds = strategyKinds();
  std::erase_if(kinds, [](StrategyKind kind) { return kind == StrategyKind::Exhaustive || !makeStrategy({kind}); });
  return kinds;
}

Explored::Explored(const Index& index, const RecoveryProgram& program, Wanted how)
    : setup(std::move(how)),
      tracked(TrackedBytes::of(index)),
      baseline(index, tracked, index.points(setup.points)),
      runner(program, baseline, setup.workers, setup.order) {
  auto strategy = makeStrategy(setup.strategy, {setup.seed, &setup.options.first, nullptr});
  if (!strategy) throw std::runtime_error(strategy.error().sentence);
  setup.options.strategy = std::move(*strategy);
  setup.options.trackedGrew = [this] { return runner.grew(); };
}

Result<void> Explored::explore() {
  auto explored = Explorer::explore(tracked, baseline, runner, setup.options);
  if (!explored) return tl::unexpected(explored.error());
  explorer = std::move(*explored);
  return {};
}

void Explored::run() {
  if (auto ok = explore(); !ok) throw std::runtime_error(ok.error().sentence);
  if (!runner.complaints().empty()) throw std::runtime_error(runner.complaints().front());
}

std::set<std::string> Explored::words(SpaceNo s) const {
  std::set<std::string> out;
  for (RecoveryNo l : explorer->space(s).recoveries) out.insert(wordOf(explorer->outcome(explorer->outcomeNo(l))));
  return out;
}

std::set<std::string> Explored::wordsAt(PointNo pointNo, unsigned level) const {
  std::set<std::string> out;
  for (SpaceNo s : idRange<SpaceNo>(explorer->spaceCount()))
    if (explorer->space(s).pointNo == pointNo && explorer->space(s).level == level) out.merge(words(s));
  return out;
}

std::set<std::string> Explored::words() const {
  std::set<std::string> out;
  for (SpaceNo s : idRange<SpaceNo>(explorer->spaceCount())) out.merge(words(s));
  return out;
}

std::string Explored::everything() const {
  const ExplorationSummary& m = explorer->summary();
  std::string out =
      fmt::format("stop {} levels {} spaces {}/{} points {}/{} runs {} alone {} most {} outcomes {} budget {}\n",
                  static_cast<int>(m.stop), m.levels, m.completeSpaces, m.spaces, m.completePoints, m.points, m.runs,
                  m.runsPerSpaceAlone, m.mostAtOneSpace, m.outcomes, m.overBudget);
  for (const ChecksumAssumption& a : m.assumptions)
    out += fmt::format("assumed {} {} {} {} {} {}\n", a.record.site, static_cast<int>(a.record.reader), a.lines,
                       a.spaces, a.states, a.tried);
  for (SpaceNo s : idRange<SpaceNo>(explorer->spaceCount())) {
    const SpaceInfo& info = explorer->space(s);
    out += fmt::format("space {} level {} pointNo {} at {} parent {} through {} {}\n", s, info.level, info.pointNo,
                       info.at, info.parent, info.through, info.complete ? "complete" : "");
    for (RecoveryNo l : info.recoveries) {
      RecoveryDetail d = explorer->detail(s, l);
      out += fmt::format("  recovery {} {}", l, wordOf(explorer->outcome(d.outcome)));
      for (const Observation& o : d.observations)
        out += fmt::format(" {}.{}.{:x}.{}={}/{}v{}", static_cast<int>(o.query.kind), o.query.subject, o.query.mask,
                           o.query.flags, o.taken, o.classes, o.version);
      for (const auto& [w, v] : d.example.versions) out += fmt::format(" [{}:{}]", w, v);
      if (d.example.files) out += fmt::format(" [files:{}]", *d.example.files);
      out += '\n';
    }
  }
  return out;
}

}  // namespace blackout::test
