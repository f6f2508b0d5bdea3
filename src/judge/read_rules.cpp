#include "judge/read_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "detect/by_site.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

class ReadRules {
 public:
  ReadRules(const ShowContext& context, AnswerJudge& doubt, Runner& runner, const DetectOptions& options)
      : context_(context),
        doubt_(doubt),
        explorer_(context.explorer),
        index_(context.baseline.index()),
        trace_(index_.trace()),
        runner_(runner),
        options_(options) {}

  Result<std::vector<ShownFinding>> run(const std::vector<Cause>& shown) {
    for (const Cause& c : shown)
      for (const auto& ref : {c.first, c.second})
        if (ref && ref->level == 1) blamed_.insert(siteKey(trace_, eventOf(ref->store)));
    // If whatever happens all restarts say the same, then nothing hangs on what guardians guard.
    bool inferred = !context_.expected.oneAnswer() && context_.reads.guardians().known();
    if (!context_.bad.anyRule() && !inferred) return std::vector<ShownFinding>();
    for (SpaceNo s = 0; s < explorer_.spaceCount() && explorer_.space(s).level == 1; ++s)
      for (RecoveryNo recovery : explorer_.space(s).recoveries) {
        if (context_.judge.verdict(s, recovery).judgement != Judgement::Fine) continue;
        bool doubtful = inferred && doubt_.verdict(s, recovery).judgement != Judgement::Fine;
        for (BadRead& b : context_.bad.of(s, recovery, doubtful))
          if (auto ok = take(b); !ok) return tl::unexpected(ok.error());
      }
    std::vector<ShownFinding> out;
    for (auto& [key, group] : groups_) {
      auto told = tell(group);
      if (!told) return tl::unexpected(told.error());
      out.push_back(std::move(*told));
    }
    return out;
  }

 private:
  struct Group {
    BadRead example;
    std::uint64_t states = 0;
    std::set<SpaceNo> points;
  };
  // One mistake writes several fields that are read one after the other: what counts is the rule, the function that
  // wrote (for memory that was never written: the reader) and the variable.
  using Key = std::tuple<FindingKind, std::string, std::uint64_t, PmAddr>;

  const Event& eventOf(StoreNo s) const { return trace_[index_.stores()[s].event]; }
  SiteKey siteOf(StoreNo s) const { return s == kNoStore ? SiteKey() : siteKey(trace_, eventOf(s)); }

  Result<void> take(const BadRead& b) {
    if (!wants(options_, b.kind)) return {};
    if (b.writer != kNoStore && blamed_.contains(siteOf(b.writer))) return {};
    Key key{b.kind, b.allocated ? std::string() : functionOf(trace_, eventOf(b.writer)), b.allocated ? b.reader : 0,
            b.commit == kNoStore ? 0 : eventOf(b.commit).addr};
    if (harmless_.contains(key)) return {};
    auto at = groups_.find(key);
    if (at == groups_.end()) {
      if (b.kind == FindingKind::UninitializedRead) {
        auto matters = contentMatters(b);
        if (!matters) return tl::unexpected(matters.error());
        // Elsewhere the same read may matter.
        if (!*matters) {
          if (++tried_[key] >= kTries) harmless_.insert(key);
          return {};
        }
      }
      at = groups_.emplace(key, Group{b, 0, {}}).first;
    }
    ++at->second.states;
    at->second.points.insert(b.space);
    return {};
  }

  // Whether a restart says something else if other bytes are where nothing was written.
  Result<bool> contentMatters(const BadRead& b) {
    RecoveryDetail detail = explorer_.detail(b.space, b.recovery);
    Run request = explorer_.request(b.space, detail.example);
    const Query& q = detail.observations[b.read].query;
    auto at = std::lower_bound(request.lines.begin(), request.lines.end(), q.subject,
                               [](const auto& line, TrackedNo w) { return line.first < w; });
    if (at == request.lines.end() || at->first != q.subject)
      at = request.lines.insert(at, {q.subject, context_.baseline.least(request.pointNo, q.subject)});
    constexpr std::byte kOther{0xa5};
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
      if ((q.mask >> i & 1) != 0) at->second[i] ^= kOther;
    auto ended = runner_.run(request);
    if (!ended) return tl::unexpected(ended.error());
    return !sameAnswer(ended->outcome, explorer_.outcome(detail.outcome));
  }

  Result<ShownFinding> tell(const Group& group) {
    const BadRead& b = group.example;
    RecoveryDetail detail = explorer_.detail(b.space, b.recovery);
    auto repeated = explorer_.repeat(b.space, detail.example, true);
    if (!repeated) return tl::unexpected(repeated.error());
    const RunEnd& run = repeated->result;

    ShownFinding out;
    out.state = explorer_.crashState(b.space, detail.example);
    out.indexes = {&index_};
    out.outcome = run.outcome;
    Finding& f = out.finding;
    f = makeFinding(b.kind, {});
    auto place = [&](std::string label, EventNo n, bool incidental = false) {
      f.places.push_back(placeOfEvent(trace_, std::move(label), n));
      f.places.back().incidental = incidental;
      return f.places.size();
    };
    std::size_t written = 0, commit = 0, before = 0, crash = 0, read = 0;
    if (b.allocated) written = place("allocated or discarded here", *b.allocated);
    if (b.writer != kNoStore) written = place("written here", index_.stores()[b.writer].event);
    if (b.commit != kNoStore) commit = place("committed last here", index_.stores()[b.commit].event);
    if (b.commitBefore != kNoStore)
      before = place("the commit before that", index_.stores()[b.commitBefore].event, b.kind != FindingKind::StaleRead);
    if (auto last = lastPlaceBefore(trace_, explorer_.space(b.space).at))
      crash = place("the power fails after this", *last, true);
    if (b.read < run.queries.size() && run.queries[b.read].where != 0 && !run.tracePath.empty())
      if (auto trace = Trace::open(run.tracePath)) {
        NumberedPlace p = placeOf(*trace, "the restart reads it here", run.queries[b.read].where);
        p.stack = context_.stacks.at(*trace, p.where);
        p.where = 0;
        f.places.push_back(std::move(p));
        read = f.places.size();
      }
    f.verdict = verdict(b, written, commit, before, read);
    if (crash != 0)
      f.evidence.push_back(fmt::format(
          "This happens if the power fails after ({}) (event {}), among others: at {}, in {}.", crash,
          explorer_.space(b.space).at, counted(group.points.size(), "point"), counted(group.states, "crash state")));
    if (b.inferred()) f.evidence.push_back(fmt::format("The restart trusts it because of that: {}.", b.because));
    if (b.allocated) f.evidence.emplace_back("With other bytes in that place the restart says something else.");
    f.crashState = out.state;
    return out;
  }

  static std::string verdict(const BadRead& b, std::size_t written, std::size_t commit, std::size_t before,
                             std::size_t read) {
    std::string reads = read != 0 ? fmt::format("The restart reads at ({})", read) : std::string("The restart reads");
    if (b.kind == FindingKind::UninitializedRead)
      return fmt::format("{} memory that was allocated or discarded at ({}) and that nothing had written since.", reads,
                         written);
    if (b.kind == FindingKind::StaleRead)
      return fmt::format(
          "{} what was written at ({}), before the last two commits ({}) and ({}): it belongs to an older version.",
          reads, written, before, commit);
    if (commit == 0)
      return fmt::format("{} what was written at ({}), though nothing had been committed by then.", reads, written);
    return fmt::format(
        "{} what was written at ({}), though it was not guaranteed to be durable at the last commit, ({}).", reads,
        written, commit);
  }

  static constexpr unsigned kTries = 8;  // crash states in which other bytes are tried

  const ShowContext& context_;
  AnswerJudge& doubt_;
  Explorer& explorer_;
  const Index& index_;
  const Trace& trace_;
  Runner& runner_;
  const DetectOptions& options_;
  std::set<SiteKey> blamed_;
  std::map<Key, Group> groups_;
  std::map<Key, unsigned> tried_;
  std::set<Key> harmless_;
};

}  // namespace

Result<std::vector<ShownFinding>> judgeReads(const ShowContext& context, AnswerJudge& doubt, Runner& runner,
                                             const std::vector<Cause>& shown, const DetectOptions& options) {
  return ReadRules(context, doubt, runner, options).run(shown);
}

}  // namespace blackout
