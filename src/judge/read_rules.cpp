#include "judge/read_rules.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "detect/by_site.h"
#include "events/trace.h"

namespace blackout {

namespace {

class ReadRules {
 public:
  ReadRules(const ShowContext& context, AnswerJudge& doubt, const DetectOptions& options)
      : context_(context),
        doubt_(doubt),
        explorer_(context.explorer),
        index_(context.baseline.index()),
        trace_(index_.trace()),
        options_(options) {}

  Result<std::vector<ShownFinding>> run(const std::vector<Cause>& shown) {
    for (const Cause& c : shown)
      for (const auto& ref : {c.first, c.second})
        if (ref && ref->level == 1) blamed_.insert(siteKey(trace_, eventOf(ref->store)));
    // If whatever happens all restarts say the same, then nothing hangs on what guardians guard.
    bool inferred = !context_.expected.oneAnswer() && context_.reads.guardians().known();
    if (!context_.bad.anyRule() && !inferred) return std::vector<ShownFinding>();
    for (SpaceNo s = 0; s.value() < explorer_.spaceCount() && explorer_.space(s).level == 1; ++s)
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
    LineBytes& line = lineIn(request, context_.baseline, q.line());
    constexpr std::byte kOther{0xa5};
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
      if ((q.mask >> i & 1) != 0) line[i] ^= kOther;
    auto ended = context_.runner.run(request);
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
    f = makeFinding(b.kind);
    auto place = [&](std::string label, EventNo n, bool incidental = false) {
      f.places.push_back(placeOfEvent(trace_, std::move(label), n));
      f.places.back().incidental = incidental;
      return static_cast<PlaceNo>(f.places.size());
    };
    auto store = [&](StoreNo s, std::string label, bool incidental = false) -> std::optional<SeenStore> {
      if (s == kNoStore) return std::nullopt;
      return seenStore(index_, s, 1, place(std::move(label), index_.stores()[s].event, incidental));
    };
    BadReadClaim claim;
    claim.allocated = b.allocated;
    if (b.allocated) claim.allocatedAt = place("allocated or discarded here", *b.allocated);
    claim.writer = store(b.writer, "written here");
    claim.commit = store(b.commit, "committed last here");
    claim.commitBefore = store(b.commitBefore, "the commit before that", b.kind != FindingKind::StaleRead);
    EventNo at = explorer_.space(b.space).at;
    PlaceNo crash = 0;
    if (auto last = lastPlaceBefore(trace_, at)) crash = place("the power fails after this", *last, true);
    const Query& q = detail.observations[b.read].query;
    auto chosen = detail.example.versions.find(q.line());
    claim.read = seenRead(ByteNames(index_), context_.baseline.tracked().line(q.line()), q.mask, at,
                          chosen != detail.example.versions.end()
                              ? explorer_.crashSpace(b.space)->line(q.line()).versions[chosen->second].bytes
                              : context_.baseline.least(explorer_.space(b.space).pointNo, q.line()));
    if (b.read < run.queries.size() && run.queries[b.read].where != 0 && !run.tracePath.empty())
      if (auto trace = Trace::open(run.tracePath)) {
        NumberedPlace p = placeOf(*trace, "the restart reads it here", run.queries[b.read].where);
        p.stack = context_.stacks.at(*trace, p.where);
        p.where = 0;
        if (!p.type.empty()) claim.read.bytes.type = p.type;
        f.places.push_back(std::move(p));
        claim.read.place = static_cast<PlaceNo>(f.places.size());
      }
    f.claim = std::move(claim);
    if (crash != 0) f.evidence.push_back(ReadAfterCrash{crash, at, group.points.size(), group.states});
    if (b.inferred()) f.evidence.push_back(InferredCommit{b.because});
    if (b.allocated) f.evidence.push_back(OtherBytesMatter{});
    f.crashState = out.state;
    return out;
  }

  static constexpr unsigned kTries = 8;  // crash states in which other bytes are tried

  const ShowContext& context_;
  AnswerJudge& doubt_;
  Explorer& explorer_;
  const Index& index_;
  const Trace& trace_;
  const DetectOptions& options_;
  std::set<SiteKey> blamed_;
  std::map<Key, Group> groups_;
  std::map<Key, unsigned> tried_;
  std::set<Key> harmless_;
};

}  // namespace

Result<std::vector<ShownFinding>> judgeReads(const ShowContext& context, AnswerJudge& doubt,
                                             const std::vector<Cause>& shown, const DetectOptions& options) {
  return ReadRules(context, doubt, options).run(shown);
}

}  // namespace blackout
