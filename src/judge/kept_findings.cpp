#include "judge/kept_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "binary/user_frame.h"
#include "events/trace.h"
#include "model/crash_trace.h"

namespace blackout {

namespace {

// A restart that failed was seen, whatever it does the next time.
bool unrepeated(const Finding& f) {
  if (f.kind == FindingKind::CrossFailureRace || !f.shownBy) return false;
  return std::any_of(f.evidence.begin(), f.evidence.end(),
                     [](const Fact& fact) { return std::holds_alternative<NotRepeated>(fact); });
}

}  // namespace

KeptFindings::KeptFindings(const Index& index, const CrashOptions& options, const OracleRules& rules, std::string input,
                           Stacks& stacks, CrashCheck& out)
    : index_(index), o_(options), rules_(rules), input_(std::move(input)), stacks_(stacks), out_(out) {}

Result<void> KeptFindings::findCreations() {
  auto pmdk = Trusted::pmdk(index_.trace());
  if (!pmdk) return tl::unexpected(pmdk.error());
  pmdk_ = std::move(*pmdk);
  if (pmdk_) creations_ = poolCreations(index_, *pmdk_);
  interrupted_.resize(creations_.size());
  return {};
}

Result<void> KeptFindings::add(ShownFinding shown) {
  if (unrepeated(shown.finding))
    out_.incomplete.push_back(
        fmt::format("A restart failed ({}), and run once more on the same crash state it did not fail in that way.",
                    shown.finding.shownBy->symptom));
  if (std::size_t i = creationOf(shown.finding); i != creations_.size()) {
    interrupted_[i].push_back(std::move(shown));
    return {};
  }
  if (joined(shown.finding)) return {};
  return keep(std::move(shown));
}

Result<void> KeptFindings::keep(ShownFinding shown) {
  auto trace = crashTrace(shown.state, shown.indexes, shown.replaced);
  if (!trace) return tl::unexpected(trace.error());
  ReplayFile replay;
  replay.command = o_.program.command;
  replay.folder = o_.folder;
  replay.pools = o_.program.patterns;
  replay.input = input_;
  replay.model = describe(index_.options());
  replay.trace = std::move(trace->bytes);
  replay.at = trace->at;
  replay.stepLimit = o_.limits.steps;
  replay.seconds = o_.limits.seconds;
  replay.runtimeOptions = o_.program.options.text();
  replay.exitCodeCounts = rules_.exitCodeCounts;
  replay.expected = std::move(shown.outcome);
  out_.findings.push_back({std::move(shown.finding), std::move(replay)});
  return {};
}

bool KeptFindings::joined(const Finding& next) {
  for (auto& [f, replay] : out_.findings) {
    if (f.kind != next.kind || f.severity > next.severity || !f.shownBy || !next.shownBy) continue;
    if (!placeless(f) || !placeless(next)) continue;
    f.shownBy->states += next.shownBy->states;
    auto symptomOf = [](const Finding& shown) {
      PlaceNo at = shown.shownBy->failsAt;
      if (at == 0) return OtherSymptom{shown.shownBy->symptom, Frame()};
      const std::vector<Frame>& stack = shown.place(at).stack;
      return OtherSymptom{shown.shownBy->symptom, stack[userFrame(stack)]};
    };
    OtherSymptom other = symptomOf(next);
    if (other != symptomOf(f) && std::find(f.evidence.begin(), f.evidence.end(), Fact(other)) == f.evidence.end())
      f.evidence.push_back(std::move(other));
    return true;
  }
  return false;
}

std::size_t KeptFindings::creationOf(const Finding& f) const {
  bool oneCrash = f.shownBy && f.shownBy->crashes.size() == 1;
  auto it = std::find_if(creations_.begin(), creations_.end(), [&](const PoolCreation& c) {
    return oneCrash && c.interruptedAt(f.shownBy->crashes.front().event);
  });
  return static_cast<std::size_t>(it - creations_.begin());
}

Result<void> KeptFindings::tellCreations(const Explorer& explorer, StateJudge& judge) {
  for (std::size_t i = 0; i < creations_.size(); ++i) {
    if (interrupted_[i].empty()) continue;
    if (o_.points.trusted != nullptr && o_.points.trusted->inside(creations_[i].last)) {
      out_.notes.emplace_back(
          "Restarts fail after a crash inside the call that makes a pool; that call is trusted, so it is no "
          "finding.");
      continue;
    }
    std::uint64_t states = 0, points = 0;
    for (SpaceNo space : idRange<SpaceNo>(explorer.spaceCount())) {
      const SpaceInfo& info = explorer.space(space);
      if (info.level > 1 || !creations_[i].interruptedAt(info.at)) continue;
      auto fails = [&](RecoveryNo r) { return judge.verdict(space, r).judgement == Judgement::Failed; };
      auto failing = std::count_if(info.recoveries.begin(), info.recoveries.end(), fails);
      states += static_cast<std::uint64_t>(failing);
      points += failing != 0 ? 1 : 0;
    }
    auto ok = keep(interruptedCreation(creations_[i], *pmdk_, std::move(interrupted_[i]), states, points,
                                       stacks_.at(index_.trace(), creations_[i].where)));
    if (!ok) return ok;
  }
  return {};
}

}  // namespace blackout
