#include "judge/bad_reads.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "events/trace.h"
#include "judge/state_probe.h"
#include "model/versions.h"

namespace blackout {

BadReads::BadReads(Explorer& explorer, const Baseline& baseline, std::vector<CommitVariable> variables,
                   RacingReads& reads)
    : explorer_(explorer),
      baseline_(baseline),
      index_(baseline.index()),
      variables_(std::move(variables)),
      reads_(reads) {
  const Trace& trace = index_.trace();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) != EventKind::Discard || e.len == BLACKOUT_DISCARD_CLEAN) continue;
    PmRange range = PmRange::at(e.addr, e.value);
    for (LineNo line = lineOf(e.addr); addressOf(line) < range.end; ++line)
      if (baseline.tracked().find(line) != TrackedBytes::kNone)
        undefined_[line].push_back({n, maskIn(line, range), e.len == 0});
  }
}

bool BadReads::isCommit(StoreNo store) {
  const Trace& trace = index_.trace();
  const Event& e = trace[index_.stores()[store].event];
  PmRange bytes = PmRange::at(e.addr, bytesOf(e));
  const Site* site = trace.siteOf(e);
  return std::any_of(variables_.begin(), variables_.end(),
                     [&](const CommitVariable& v) { return v.variable.overlaps(bytes); }) ||
         (site != nullptr && reads_.guardians().isCommitVariable(site->type) && alternates(bytes));
}

std::vector<StoreNo> BadReads::writesOf(SpaceNo space, const RecoveryDetail& detail, LineNo line, std::uint64_t mask,
                                        std::size_t most) const {
  std::vector<StoreNo> found;
  LineId id = index_.lineId(line);
  TrackedNo w = baseline_.tracked().find(line);
  if (id == kNoLine || w == TrackedBytes::kNone) return found;
  std::uint32_t length = index_.historyLength(id, explorer_.space(space).at);
  // A line that the recovery did not read holds everything; nobody knows better.
  std::optional<Version> version;
  if (auto chosen = detail.example.versions.find(w); chosen != detail.example.versions.end())
    version = explorer_.crashSpace(space)->line(w).versions[chosen->second].version;
  for (std::uint32_t n = length; n-- > 0 && found.size() < most;) {
    if (version && !version->contains(n)) continue;
    StoreNo store = index_.history(id)[n];
    if ((maskOf(index_, store) & mask) != 0) found.push_back(store);
  }
  return found;
}

std::vector<StoreNo> BadReads::commitsOf(SpaceNo space, const RecoveryDetail& detail, const PmRange& variable) const {
  std::vector<StoreNo> all;
  for (LineNo line = lineOf(variable.begin); addressOf(line) < variable.end; ++line)
    for (StoreNo s : writesOf(space, detail, line, maskIn(line, variable), 2)) all.push_back(s);
  std::sort(all.rbegin(), all.rend());
  if (all.size() > 2) all.resize(2);
  return all;
}

bool BadReads::before(StoreNo a, StoreNo b) const {
  auto stores = index_.stores();
  if (a >= b) return false;
  if (stores[a].guaranteedAt <= stores[b].event) return true;
  if (stores[a].line != stores[b].line) return false;
  auto numbered = [&](StoreNo s) {
    auto history = index_.history(stores[s].line);
    return index_.lineStore(stores[s].line, static_cast<std::uint32_t>(
                                                std::lower_bound(history.begin(), history.end(), s) - history.begin()));
  };
  return ordered(numbered(a), numbered(b), index_.options());
}

// Whether the bytes are a flag: two values that follow one another.
bool BadReads::alternates(const PmRange& variable) const {
  LineNo line = lineOf(variable.begin);
  LineId id = index_.lineId(line);
  if (id == kNoLine || lineOf(variable.end - 1) != line) return false;
  std::uint64_t mask = maskIn(line, variable);
  LineBytes initial = index_.contentOf(id, 0, {});
  std::uint64_t before = 0;
  std::memcpy(&before, initial.data() + variable.begin % BLACKOUT_LINE,
              std::min<std::uint64_t>({variable.size(), 8, BLACKOUT_LINE - variable.begin % BLACKOUT_LINE}));
  std::set<std::uint64_t> values{before};
  std::uint32_t writes = 0;
  std::optional<std::uint64_t> last;
  for (std::uint32_t n = 0; n < index_.history(id).size(); ++n) {
    if ((maskOf(index_, index_.history(id)[n]) & mask) == 0) continue;
    LineStore s = index_.lineStore(id, n);
    if (last == s.value[0]) return false;
    last = s.value[0];
    values.insert(s.value[0]);
    ++writes;
  }
  return writes >= 2 && values.size() == 2;
}

// Equation 3: the data is from between the last two commits, and was durable before the last one. `strict`: only what
// is wrong in whatever order things became durable, for variables that nobody registered.
//
// That the data was not sure to be written after the last but one commit is no case of its own: the state in which that
// commit is lost is looked at too, and there the data is uncommitted.
std::optional<BadRead> BadReads::judge(SpaceNo space, const RecoveryDetail& detail, const Query& q,
                                       const PmRange& variable, std::uint64_t covered, bool strict) const {
  LineNo line = baseline_.tracked().line(q.line());
  std::vector<StoreNo> commits = commitsOf(space, detail, variable);
  for (std::uint64_t left = covered; left != 0; left &= left - 1) {
    std::vector<StoreNo> from = writesOf(space, detail, line, left & -left, 1);
    if (from.empty()) continue;
    BadRead bad;
    bad.space = space;
    bad.writer = from.front();
    if (!commits.empty()) bad.commit = commits[0];
    if (commits.size() > 1) bad.commitBefore = commits[1];
    if (commits.empty() ? !strict : strict ? bad.writer > bad.commit : !before(bad.writer, bad.commit))
      bad.kind = FindingKind::UncommittedRead;
    else if (commits.size() > 1 && bad.writer < bad.commitBefore)
      bad.kind = FindingKind::StaleRead;
    else
      continue;
    return bad;
  }
  return std::nullopt;
}

std::uint64_t BadReads::valueOf(SpaceNo space, const RecoveryDetail& detail, const Query& q) const {
  auto chosen = detail.example.versions.find(q.line());
  const LineBytes bytes = chosen != detail.example.versions.end()
                              ? explorer_.crashSpace(space)->line(q.line()).versions[chosen->second].bytes
                              : baseline_.least(explorer_.space(space).pointNo, q.line());
  std::uint64_t value = 0;
  unsigned at = 0;
  for (std::uint64_t left = q.mask; left != 0 && at < 8; left &= left - 1)
    value |= std::to_integer<std::uint64_t>(bytes[static_cast<unsigned>(std::countr_zero(left))]) << (8 * at++);
  return value;
}

// The analysis of the code counts more as guarded than what stands under a test: what recovery puts right under it,
// too. What was run tells the two apart.
void BadReads::findDependent() {
  found_.emplace();
  std::set<RecoveryNo> passed;
  for (SpaceNo s = 0; s.value() < explorer_.spaceCount() && explorer_.space(s).level == 1; ++s)
    for (RecoveryNo recovery : explorer_.space(s).recoveries) {
      if (!passed.insert(recovery).second) continue;
      RecoveryDetail detail = explorer_.detail(s, recovery);
      std::map<FieldKey, std::uint64_t> tested;
      for (const Observation& o : detail.observations) {
        if (o.query.kind != QueryKind::Bytes) continue;
        for (const auto& [field, why] : reads_.guardians().guardsOf(o.query.site))
          if (auto t = tested.find(field); t != tested.end()) (*found_)[{o.query.site, field}].insert(t->second);
        if (const FieldKey& field = reads_.guardians().testedBy(o.query.site); !field.empty())
          values_[field].insert(tested[field] = valueOf(s, detail, o.query));
      }
    }
}

bool BadReads::dependsOn(std::uint64_t site, const FieldKey& field, bool flag) {
  if (!reads_.guardians().guardsOf(site).contains(field)) return false;
  if (!found_) findDependent();
  auto values = found_->find({site, field});
  return values != found_->end() && values->second.size() < values_[field].size() &&
         (!flag || values->second.size() == 1);
}

std::vector<BadRead> BadReads::of(SpaceNo space, RecoveryNo recovery, bool inferred) {
  std::vector<BadRead> bad;
  if (explorer_.space(space).level != 1) return bad;
  RecoveryDetail detail = explorer_.detail(space, recovery);
  EventNo at = explorer_.space(space).at;
  const Trace& trace = index_.trace();
  // The field that a variable's writes have in the site table.
  auto fieldOf = [&](StoreNo s) {
    const Site* site = s == kNoStore ? nullptr : trace.siteOf(trace[index_.stores()[s].event]);
    return site == nullptr ? std::string() : site->type;
  };
  std::map<FieldKey, PmRange> tested;  // the bytes that a guardian's test has read last
  for (std::size_t i = 0; i < detail.observations.size(); ++i) {
    const Query& q = detail.observations[i].query;
    if (q.kind != QueryKind::Bytes || !reads_.judged(q)) continue;
    LineNo line = baseline_.tracked().line(q.line());
    auto add = [&](BadRead b) {
      if (b.writer != kNoStore && !reads_.judged(b.writer)) return;
      b.space = space;
      b.recovery = recovery;
      b.read = i;
      b.reader = q.site;
      bad.push_back(b);
    };
    bool registered = false;
    for (const CommitVariable& v : variables_) {
      std::uint64_t covered = v.covers(line) & q.mask;
      if (covered == 0 || at <= v.at) continue;
      registered = true;
      auto found = judge(space, detail, q, v.variable, covered, false);
      // What was stored before the variable was known is from before its time.
      if (!found || index_.stores()[found->writer].event < v.at) continue;
      // Set-up comes before the first commit, and what it writes is not meant unless it is named.
      if (found->commit == kNoStore && v.ranges.empty()) continue;
      // Without a range a variable covers everything. But what lasts from one commit to the next is no mistake unless
      // the restart trusts it because of that variable, so stale data counts only where that is known.
      if (found->kind == FindingKind::StaleRead && v.ranges.empty() &&
          !dependsOn(q.site, fieldOf(found->commit), false))
        continue;
      add(*found);
    }
    if (auto marks = undefined_.find(line); marks != undefined_.end()) {
      std::uint64_t open = 0;
      EventNo last = 0;
      for (const Undefined& u : marks->second) {
        if (u.at >= at) break;
        for (std::uint64_t left = u.mask & q.mask; left != 0; left &= left - 1) {
          std::uint64_t byte = left & -left;
          open &= ~byte;
          if (!u.undefined) continue;
          // A store that may be lost makes it a race.
          std::vector<StoreNo> from = writesOf(space, RecoveryDetail(), line, byte, 1);
          if (!from.empty() && index_.stores()[from.front()].event > u.at) continue;
          open |= byte;
          last = u.at;
        }
      }
      if (open != 0) {
        BadRead b;
        b.kind = FindingKind::UninitializedRead;
        b.allocated = last;
        add(b);
      }
    }
    if (!inferred) continue;
    if (!registered)
      for (const auto& [field, why] : reads_.guardians().guardsOf(q.site)) {
        auto variable = tested.find(field);
        if (variable == tested.end() || !alternates(variable->second) || !dependsOn(q.site, field, true)) continue;
        std::uint64_t covered = q.mask & ~maskIn(line, variable->second);
        auto found = judge(space, detail, q, variable->second, covered, true);
        if (!found) continue;
        found->because = why;
        add(*found);
        break;
      }
    if (const FieldKey& field = reads_.guardians().testedBy(q.site); !field.empty()) {
      auto from = static_cast<unsigned>(std::countr_zero(q.mask));
      auto to = 64 - static_cast<unsigned>(std::countl_zero(q.mask));
      tested[field] = {addressOf(line) + from, addressOf(line) + to};
    }
  }
  return bad;
}

}  // namespace blackout
