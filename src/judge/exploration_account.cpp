#include "judge/exploration_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "binary/user_frame.h"
#include "detect/by_site.h"
#include "events/recovery_contract.h"
#include "events/trace.h"
#include "events/trapped_id.h"
#include "explore/novelty.h"
#include "findings/numbers.h"
#include "judge/state_probe.h"

namespace blackout {

namespace {

// What is known to differ between its runs; that it is the reason is not known.
std::string cureOf(std::uint32_t used) {
  std::string text;
  auto add = [&](std::uint32_t bit, std::string_view why) {
    if ((used & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : "; ", why);
  };
  add(kUsedThreads, "it has threads, whose order is not fixed (run it with one)");
  add(kUsedTime, "it asks for the time, which --no-pin leaves real (leave that option out)");
  add(kUsedRandom, "it asks for random numbers, which --no-pin leaves real (leave that option out)");
  add(kUsedProcesses, "it starts other processes (let the restart do its work itself)");
  return fmt::format(
      "{}{}it may use addresses, uninitialised memory, or the processor's own clock and random numbers (rdtsc, rdrand) "
      "as values",
      text, text.empty() ? "" : "; or ");
}

std::string nextText(const std::optional<Query>& q, const TrackedBytes& tracked) {
  if (!q) return "ended";
  switch (q->kind) {
    case QueryKind::Path:
      return fmt::format("looked for {}", tracked.paths()[q->subject]);
    case QueryKind::Op:
      return fmt::format("asked for operation {}", q->subject);
    case QueryKind::Bytes:
      break;
  }
  PmAddr addr = addressOf(tracked.line(q->line())) + static_cast<unsigned>(std::countr_zero(q->mask));
  return fmt::format("read {} at offset {:#x} of pool {}",
                     counted(static_cast<std::uint64_t>(std::popcount(q->mask)), "byte"), offsetOf(addr),
                     fileOf(addr).value());
}

}  // namespace

std::string divergenceText(const Divergence& d, const TrackedBytes& tracked) {
  return fmt::format("The restarted program is not deterministic: after {} equal reads one run {} and another {}; {}.",
                     grouped(d.at), d.outcome ? "ended in one way" : nextText(d.before, tracked),
                     d.outcome ? "in another" : nextText(d.now, tracked), cureOf(d.usedBefore | d.usedNow));
}

ExplorationAccount::ExplorationAccount(const Explorer& explorer, const CrashRunners& runners,
                                       const CrashOptions& options, Stacks& stacks, std::vector<std::string> programs,
                                       CrashCheck& out)
    : explorer_(explorer),
      r_(runners),
      o_(options),
      stacks_(stacks),
      index_(runners.baseline.index()),
      programs_(std::move(programs)),
      out_(out) {}

std::string ExplorationAccount::placeAt(std::uint64_t site) {
  if (const Site* trapped = r_.runs.trappedSite(site)) return shortPlace(*trapped);
  if (!sites_) sites_.emplace(programs_);
  return sites_->at(site);
}

void ExplorationAccount::summarise(StateJudge& judge, ChecksummedRecords& checksummed) {
  const ExplorationSummary& s = explorer_.summary();
  ExploredCrashes& e = out_.exploration;
  e.strategy = nameOf(o_.strategy.kind);
  e.command = o_.program.command;
  e.crashesInARow = o_.crashesInARow;
  e.points = s.points;
  e.completePoints = s.completePoints;
  e.runs = s.runs;
  e.states = s.runsPerSpaceAlone;
  std::map<std::string, std::uint64_t> unknown;
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount()))
    for (RecoveryNo recovery : explorer_.space(space).recoveries) {
      const Verdict& v = judge.verdict(space, recovery);
      if (v.judgement == Judgement::Failed) ++e.failing;
      if (v.judgement == Judgement::Unknown) ++unknown[v.symptom];
    }
  for (const auto& [why, count] : unknown) e.unjudged += count;
  for (const auto& [why, count] : unknown)
    out_.incomplete.push_back(fmt::format("{} could not be judged: {}.", counted(count, "crash state"), why));
  tellBuffers();
  assumptions(s, checksummed);
  restrictions(s);
  bounds(s);
  out_.notes.insert(out_.notes.end(), s.notes.begin(), s.notes.end());
  out_.incomplete.insert(out_.incomplete.end(), s.unseen.begin(), s.unseen.end());
  e.notExplored.insert(e.notExplored.end(), out_.incomplete.begin(), out_.incomplete.end());
}

// Restarts have no store buffers. Where one thread runs at a time they would make no difference (decision 0029).
void ExplorationAccount::tellBuffers() {
  if (!index_.options().tso) return;
  std::set<RecoveryNo> beside;
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount()))
    for (RecoveryNo recovery : explorer_.space(space).recoveries) {
      std::uint32_t used = explorer_.used(recovery);
      // Threads that are not under control run at the same time.
      if ((used & BLACKOUT_USED_BESIDE) != 0 || (used & (kUsedThreads | kStored)) == (kUsedThreads | kStored))
        beside.insert(recovery);
    }
  if (!beside.empty())
    out_.incomplete.push_back(
        fmt::format("Restarts have no store buffers (tso=on), and in {} of them a thread stored to persistent memory "
                    "while another one could go on: what that one misses while the store waits was not tried.",
                    grouped(beside.size())));
}

void ExplorationAccount::countRaces(ExpectedAnswers* expected, const std::vector<Cause>& causes) {
  std::set<SiteKey> harmful;
  for (const Cause& c : causes) harmful.insert(c.lostSites.begin(), c.lostSites.end());
  std::map<std::pair<SiteKey, std::uint64_t>, bool> pairs;  // whether answers were compared
  for (const RacedRead& r : explorer_.summary().races) {
    const SpaceInfo& info = explorer_.space(r.space);
    LineId id = info.level == 1 ? index_.lineId(r_.tracked.line(r.line)) : kNoLine;
    if (id == kNoLine) continue;
    bool compared = expected != nullptr && expected->compared(r.space);
    for (const LineStore& s : index_.openStores(id, info.at, 0, index_.historyLength(id, info.at)))
      if ((maskOf(index_, s.store) & r.mask) != 0) {
        auto [pair, fresh] =
            pairs.try_emplace({siteKey(index_.trace(), index_.trace()[index_.stores()[s.store].event]), r.site}, true);
        pair->second &= compared;
      }
  }
  std::uint64_t told = 0;
  for (const ReplayableFinding& f : out_.findings) told += f.finding.bugClass == BugClass::Race ? 1 : 0;
  ExploredCrashes& e = out_.exploration;
  e.races = pairs.size();
  std::uint64_t benign = 0;
  for (const auto& [pair, compared] : pairs) {
    e.uncomparedRaces += compared ? 0 : 1;
    benign += compared && !harmful.contains(pair.first) ? 1 : 0;
  }
  std::uint64_t compared = e.races - e.uncomparedRaces;
  e.benignRaces = std::min(benign, compared - std::min(compared, told));
}

void ExplorationAccount::assumptions(const ExplorationSummary& s, ChecksummedRecords& checksummed) {
  for (const ChecksumAssumption& a : s.assumptions) {
    const Site* trapped = r_.runs.trappedSite(a.record.site);
    AssumedRecord record;
    record.place = a.record.site == 0 ? std::string() : placeAt(a.record.site);
    if (record.place.empty() && trapped != nullptr && !trapped->module.empty())
      record.place = fmt::format("{}+{:#x}", std::filesystem::path(trapped->module).filename().string(),
                                 blackout_trapped_offset(a.record.site));
    record.declared = a.record.reader == RecordReader::Declared;
    record.allowed = o_.assumeChecksums;
    record.refuted = a.refuted;
    record.pmdk = a.record.reader == RecordReader::Summing || (trapped != nullptr && isPmdkLibrary(trapped->module));
    record.summed = !record.known() && trapped == nullptr && checksummed.onlySummed(a);
    record.lines = a.lines;
    record.log10States = std::log10(a.states);
    record.tried = a.tried;
    record.points = a.spaces;
    if (!record.known()) out_.incomplete.push_back(unansweredText(record));
    out_.exploration.assumptions.push_back(std::move(record));
  }
}

void ExplorationAccount::restrictions(const ExplorationSummary& s) {
  auto& list = out_.exploration.notExplored;
  if (o_.points.neighbouring() && o_.points.trusted != nullptr) {
    list.emplace_back("Crashes inside calls of what is trusted.");
  } else if (!o_.points.whole()) {
    std::size_t enough = index_.points(PointsMode::Enough).size();
    list.push_back(fmt::format("Crashes at other points than the {} chosen; {} would be enough.", grouped(s.points),
                               grouped(enough)));
  }
  if (s.statesTried != 0)
    list.push_back(fmt::format("States that the strategy {} does not choose: it tried {} of {}.",
                               nameOf(o_.strategy.kind), grouped(s.statesTried), countOfLog10(s.log10States)));
}

void ExplorationAccount::bounds(const ExplorationSummary& s) {
  auto& list = out_.incomplete;
  if (s.stop != Stop::Finished) {
    std::string by = s.stop == Stop::MaxRuns ? "--max-runs" : s.stop == Stop::Seconds ? "--time" : "an interrupt";
    std::string text = fmt::format("The exploration was ended by {}: {} of {} are complete.", by,
                                   grouped(s.completePoints), counted(s.points, "point"));
    if (!o_.saveTo.empty()) {
      std::error_code error;
      std::filesystem::create_directories(std::filesystem::path(o_.saveTo).parent_path(), error);
      auto saved = explorer_.save(o_.saveTo);
      text += saved ? fmt::format(" The same command with --resume {} goes on from there.", o_.saveTo)
                    : fmt::format(" It could not be saved: {}.", saved.error().sentence);
    }
    Ways ways = waysOf(r_.baseline, [&](PointNo p) { return explorer_.space(SpaceNo(p.value())).complete; });
    if (ways.all != 0)
      text += fmt::format(
          " Of {} to a store or fence (a place with its callers) {} followed by a crash that was explored completely.",
          counted(ways.all, "way"), ways.crashed == 1 ? std::string("1 is") : grouped(ways.crashed) + " are");
    list.push_back(std::move(text));
  }
  if (s.overBudget != 0) {
    std::string text = fmt::format("At {} restarts differ in so many ways that only some of them were explored",
                                   counted(s.overBudget, "point"));
    if (const auto& most = s.explosion) {
      std::string place = most->site == 0 ? std::string() : placeAt(most->site);
      text += fmt::format(": at event {}, {} that may be lost {} read{}, and {} were tried",
                          explorer_.space(most->space).at.value(), counted(most->lines, "line"),
                          most->lines == 1 ? "is" : "are", place.empty() ? std::string() : " at " + place,
                          counted(most->tried, "state"));
    }
    list.push_back(text + ".");
  }
  if (s.cutLines != 0)
    list.push_back(fmt::format("{} had more versions than are enumerated.", counted(s.cutLines, "line")));
  if (s.fileChangePoints != 0)
    list.push_back(fmt::format("{} in a restart that had changed a pool's size or name before were not explored.",
                               counted(s.fileChangePoints, "crash point")));
  if (s.diverged != 0 && s.divergence) list.push_back(divergenceText(*s.divergence, r_.tracked));
}

void ExplorationAccount::tellLikelyPoints(const LikelyPoints& l) {
  TestedPoints& out = out_.exploration.likely.emplace();
  out.guardians = l.guardians;
  out.stores = l.stores.size();
  out.byGuardians = l.byGuardians.size();
  out.byPublication = l.byPublication.size();
  out.inferred = l.inferred;
  out.marked = l.marked;
  out.missed = l.missed;
  out.incompleteTests = explorer_.summary().incompleteTests;
  out.unrecoveredTests = explorer_.summary().unrecoveredTests;
  if (!o_.showPoints) return;
  std::map<std::pair<std::string, std::string>, LikelyPointLine> lines;
  for (const LikelyPoint& p : l.points) {
    std::vector<Frame> stack = stacks_.at(index_.trace(), stackOf(index_.trace()[p.store]));
    std::string place;
    if (!stack.empty())
      if (const Frame& at = stack[userFrame(stack)]; !at.file.empty())
        place = fmt::format("{}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
    LikelyPointLine& line = lines[{place, p.reason}];
    line.place = place;
    line.reason = p.reason;
    ++line.times;
    line.marked += p.marked ? 1 : 0;
    line.inferred += p.inferred ? 1 : 0;
  }
  for (auto& [key, line] : lines) out.lines.push_back(std::move(line));
}

void ExplorationAccount::listLoads() {
  struct Row {
    std::set<std::string> stores;
    std::uint64_t states = 0;
  };
  std::map<std::string, Row> loads;
  CrashTraces traces(explorer_, index_);
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount())) {
    auto indexes = traces.of(space);
    if (!indexes) continue;
    for (RecoveryNo recovery : explorer_.space(space).recoveries) {
      RecoveryDetail detail = explorer_.detail(space, recovery);
      for (std::size_t i = 0; i < detail.observations.size(); ++i) {
        if (detail.observations[i].classes < 2) continue;
        std::string load = placeAt(detail.observations[i].query.site);
        Row& row = loads[load.empty() ? "a system call or a place without debug information" : load];
        ++row.states;
        for (const StoreRef& ref : explorer_.mayReadFrom(space, recovery, i)) {
          std::string place = "before the recording";
          if (ref.store != kNoStore) {
            const Index& index = *(*indexes)[ref.level - 1];
            place = shortPlace(index.trace(), stackOf(index.trace()[index.stores()[ref.store].event]));
          }
          row.stores.insert(place.empty() ? "a place without debug information" : place);
        }
      }
    }
  }
  for (auto& [load, row] : loads)
    out_.exploration.loads.push_back({load, {row.stores.begin(), row.stores.end()}, row.states});
}

}  // namespace blackout
