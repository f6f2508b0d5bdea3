// Reports of several recordings of one program become one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "findings/numbers.h"
#include "findings/report.h"

namespace blackout {

namespace {

template <class T>
void unite(std::vector<T>& into, const std::vector<T>& more) {
  for (const T& one : more)
    if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
}

// What another recording showed of the same cause. The worse of the two is told, with the other one's counts.
void join(Finding& into, Finding more) {
  if (more.severity < into.severity) std::swap(into, more);
  into.counts.times += more.counts.times;
  into.counts.of += more.counts.of;
  if (into.cost && more.cost) {
    into.cost->amount += more.cost->amount;
    into.cost->of += more.cost->of;
  }
  for (const AffectedBytes& example : more.examples)
    if (into.examples.size() < kMaxExamples) unite(into.examples, {example});
  if (into.shownBy && more.shownBy) {
    into.shownBy->states += more.shownBy->states;
    into.shownBy->points += more.shownBy->points;
  }
}

void addRun(RunSummary& into, const RunSummary& more) {
  into.events += more.events;
  into.stores += more.stores;
  into.loads += more.loads;
  into.flushes += more.flushes;
  into.fences += more.fences;
  into.operations += more.operations;
  into.recordings += more.recordings;
  into.threads = std::max(into.threads, more.threads);
  into.lines += more.lines;
  into.points += more.points;
  if (into.log10States && more.log10States) {
    double high = std::max(*into.log10States, *more.log10States), low = std::min(*into.log10States, *more.log10States);
    into.log10States = high + std::log10(1 + std::pow(10, low - high));
  } else {
    into.log10States.reset();
  }
  if (into.model.empty()) into.model = more.model;
  // One that failed is what a reader wants to know of.
  if (!into.waitStatus || *into.waitStatus == 0) into.waitStatus = more.waitStatus;
}

// Of recordings by one description: the same mechanisms in the same order.
void addMechanisms(CheckedMechanisms& into, const CheckedMechanisms& more) {
  for (std::size_t i = 0; i < std::min(into.mechanisms.size(), more.mechanisms.size()); ++i) {
    into.mechanisms[i].objects += more.mechanisms[i].objects;
    into.mechanisms[i].transactions += more.mechanisms[i].transactions;
    into.mechanisms[i].broken += more.mechanisms[i].broken;
  }
  into.stores += more.stores;
  into.unprotected += more.unprotected;
  into.untyped += more.untyped;
  into.plans += more.plans;
  into.plansForAll += more.plansForAll;
  auto add = [](auto& all, const auto& rows) {
    std::map<std::uint64_t, std::uint64_t> sum(all.begin(), all.end());
    for (const auto& [stores, points] : rows) sum[stores] += points;
    all.assign(sum.begin(), sum.end());
  };
  add(into.inFlight, more.inFlight);
  add(into.inFlightUnprotected, more.inFlightUnprotected);
}

void addLikely(TestedPoints& into, const TestedPoints& more) {
  into.guardians &= more.guardians;
  into.stores += more.stores;
  into.byGuardians += more.byGuardians;
  into.byPublication += more.byPublication;
  into.inferred += more.inferred;
  into.marked += more.marked;
  into.missed += more.missed;
  into.incompleteTests += more.incompleteTests;
  into.unrecoveredTests += more.unrecoveredTests;
  for (const LikelyPointLine& line : more.lines) {
    auto same = std::find_if(into.lines.begin(), into.lines.end(), [&](const LikelyPointLine& l) {
      return l.place == line.place && l.reason == line.reason;
    });
    if (same == into.lines.end()) {
      into.lines.push_back(line);
      continue;
    }
    same->times += line.times;
    same->marked += line.marked;
    same->inferred += line.inferred;
  }
}

// What each recording left out is one sentence; the figures in it are of one of them, so they are left away where
// others have other ones.
void addNotExplored(std::vector<std::string>& into, const std::vector<std::string>& more) {
  auto begin = [](const std::string& s) { return s.substr(0, s.find(": it tried ")); };
  for (const std::string& s : more) {
    auto same = std::find_if(into.begin(), into.end(), [&](const std::string& known) {
      return known == s ||
             (s.starts_with("States that the strategy ") && (known == begin(s) + '.' || begin(known) == begin(s)));
    });
    if (same == into.end())
      into.push_back(s);
    else if (*same != s)
      *same = begin(s) + '.';
  }
}

// Sentences about records for which nobody answers have figures of one recording. The sum has its own.
void leaveUnansweredOut(Report& report) {
  if (!report.exploration) return;
  for (const AssumedRecord& a : report.exploration->assumptions) {
    if (a.known()) continue;
    const std::string sentence = unansweredText(a);
    std::erase(report.incomplete, sentence);
    std::erase(report.exploration->notExplored, sentence);
  }
}
void tellUnanswered(Report& report) {
  for (const AssumedRecord& a : report.exploration->assumptions) {
    if (a.known()) continue;
    unite(report.incomplete, {unansweredText(a)});
    unite(report.exploration->notExplored, {unansweredText(a)});
  }
}

// One that is read at the same place is the same record, with the crash that left most of it. So are those whose place
// nobody knows: a sentence for each recording would say no more.
void addAssumptions(std::vector<AssumedRecord>& into, const std::vector<AssumedRecord>& more) {
  for (const AssumedRecord& a : more) {
    auto same = std::find_if(into.begin(), into.end(), [&](const AssumedRecord& known) {
      return known.place == a.place && known.declared == a.declared && known.allowed == a.allowed &&
             known.refuted == a.refuted && known.pmdk == a.pmdk && known.summed == a.summed;
    });
    if (same == into.end()) {
      into.push_back(a);
      continue;
    }
    std::uint64_t points = same->points + a.points;
    if (a.log10States > same->log10States) *same = a;
    same->points = points;
  }
}

void addExploration(ExploredCrashes& into, const ExploredCrashes& more) {
  into.crashesInARow = std::max(into.crashesInARow, more.crashesInARow);
  into.points += more.points;
  into.completePoints += more.completePoints;
  into.runs += more.runs;
  into.states += more.states;
  into.failing += more.failing;
  into.unjudged += more.unjudged;
  into.exitCodes = std::max(into.exitCodes, more.exitCodes);
  into.storedBytes += more.storedBytes;
  into.readBytes += more.readBytes;
  into.races += more.races;
  into.benignRaces += more.benignRaces;
  into.uncomparedRaces += more.uncomparedRaces;
  if (into.likely && more.likely) addLikely(*into.likely, *more.likely);
  addAssumptions(into.assumptions, more.assumptions);
  addNotExplored(into.notExplored, more.notExplored);
  std::map<std::string, std::size_t> known;
  for (const LoadSources& l : into.loads) known.emplace(l.load, known.size());
  for (const LoadSources& l : more.loads) {
    auto [at, isNew] = known.emplace(l.load, into.loads.size());
    if (isNew) {
      into.loads.push_back(l);
      continue;
    }
    LoadSources& same = into.loads[at->second];
    unite(same.stores, l.stores);
    std::sort(same.stores.begin(), same.stores.end());
    same.states += l.states;
  }
}

}  // namespace

std::string unansweredText(const AssumedRecord& record) {
  return fmt::format(
      "{} may be checksummed, and only {} of {} combinations of its lines were tried. If it is, say so with --assume "
      "checksums or blackout_checksum().",
      record.place.empty() ? std::string("A record that is read at an unknown place") : "The record at " + record.place,
      grouped(record.tried), countOfLog10(record.log10States));
}

void dropUnusedTraces(Report& report) {
  std::vector<std::uint32_t> now(report.traces.size());  // by its number so far, without the first
  for (const Finding& f : report.findings)
    if (f.trace != 0) now[f.trace - 1] = 1;
  std::vector<SeenTrace> kept;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == 0) continue;
    kept.push_back(std::move(report.traces[i]));
    now[i] = static_cast<std::uint32_t>(kept.size());
  }
  for (Finding& f : report.findings)
    if (f.trace != 0) f.trace = now[f.trace - 1];
  report.traces = std::move(kept);
}

Report& operator+=(Report& into, const Report& given) {
  if (into == Report()) return into = given;
  if (given == Report()) return into;
  Report more = given;
  leaveUnansweredOut(into);
  leaveUnansweredOut(more);
  std::map<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < into.findings.size(); ++i) known.emplace(fingerprint(into.findings[i]), i);
  for (Finding f : more.findings) {
    if (f.trace != 0) f.trace += static_cast<std::uint32_t>(into.traces.size());
    auto [at, isNew] = known.emplace(fingerprint(f), into.findings.size());
    if (isNew)
      into.findings.push_back(std::move(f));
    else
      join(into.findings[at->second], std::move(f));
  }
  into.traces.insert(into.traces.end(), more.traces.begin(), more.traces.end());
  dropUnusedTraces(into);
  sortFindings(into.findings);
  for (const PoolSummary& pool : more.pools)
    if (std::none_of(into.pools.begin(), into.pools.end(), [&](const auto& p) { return p.path == pool.path; }))
      into.pools.push_back(pool);
  // A detector that one recording could not be judged by has not judged the sum.
  std::erase_if(into.detectors, [&](const std::string& name) {
    return std::find(more.detectors.begin(), more.detectors.end(), name) == more.detectors.end();
  });
  unite(into.notes, more.notes);
  unite(into.incomplete, more.incomplete);
  into.hiddenByOnly += more.hiddenByOnly;
  into.hiddenAsKnown += more.hiddenAsKnown;
  for (const SuppressionUse& use : more.suppressions) {
    auto same = std::find_if(into.suppressions.begin(), into.suppressions.end(),
                             [&](const SuppressionUse& s) { return s.file == use.file && s.line == use.line; });
    if (same == into.suppressions.end())
      into.suppressions.push_back(use);
    else
      same->findings += use.findings;
  }
  unite(into.readySuppressions, more.readySuppressions);
  unite(into.trusted, more.trusted);
  into.trapped |= more.trapped;
  addRun(into.run, more.run);
  // What was explored of one recording only was not explored of the sum.
  if (into.exploration && more.exploration)
    addExploration(*into.exploration, *more.exploration);
  else if (into.exploration.has_value() != more.exploration.has_value())
    into.incomplete.emplace_back("Crashes were explored of some of the recordings only.");
  if (!into.exploration) into.exploration = more.exploration;
  if (into.exploration) tellUnanswered(into);
  if (into.mechanisms && more.mechanisms)
    addMechanisms(*into.mechanisms, *more.mechanisms);
  else if (!into.mechanisms)
    into.mechanisms = more.mechanisms;
  return into;
}

}  // namespace blackout
