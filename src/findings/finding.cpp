#include "findings/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

#include "events/trace.h"

namespace blackout {

namespace {

// FNV-1a: the fingerprint is kept in users' suppression files, so it is a function that anyone
// can compute again, over fields that are written down here.
class Hash {
 public:
  void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3ull; }
  void number(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(v >> (8 * i)));
  }
  void text(std::string_view s) {
    for (char c : s) byte(static_cast<unsigned char>(c));
    byte(0);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

// What orders findings that are equally bad: the source where it is known, then the fingerprint.
auto placeKey(const Finding& f) {
  const Frame* frame = f.places.empty() || f.places.front().stack.empty() ? nullptr : &f.places.front().stack.front();
  return std::tuple(frame != nullptr ? frame->file : std::string(), frame != nullptr ? frame->line : 0,
                    frame != nullptr ? frame->column : 0, fingerprint(f));
}

}  // namespace

Finding::Finding() = default;
Finding::Finding(const Finding&) = default;
Finding::Finding(Finding&&) noexcept = default;
Finding& Finding::operator=(const Finding&) = default;
Finding& Finding::operator=(Finding&&) noexcept = default;
Finding::~Finding() = default;
bool Finding::operator==(const Finding&) const = default;

const std::vector<FindingKindRow>& findingKinds() {
  static const std::vector<FindingKindRow> rows = {
#define BLACKOUT_FINDING(Name, text, severity, title, meaning, hint) \
  {FindingKind::Name, text, Severity::severity, title, meaning, hint},
#include "findings/finding_kinds.def"
#undef BLACKOUT_FINDING
  };
  return rows;
}

const FindingKindRow& rowOf(FindingKind kind) {
  auto index = static_cast<std::size_t>(kind);
  assert(index < findingKinds().size());
  return findingKinds()[index];
}

std::string_view nameOf(FindingKind kind) { return rowOf(kind).name; }

std::string_view nameOf(Severity severity) {
  switch (severity) {
    case Severity::Shown:
      return "shown";
    case Severity::Suspected:
      return "suspected";
    case Severity::Performance:
      return "performance";
  }
  return {};
}

std::string_view nameOf(BugClass bugClass) {
  switch (bugClass) {
    case BugClass::None:
      return {};
    case BugClass::Race:
      return "race";
    case BugClass::Semantic:
      return "semantic";
    case BugClass::Performance:
      return "performance";
  }
  return {};
}

std::string_view nameOf(FirstStore first) {
  switch (first) {
    case FirstStore::Lost:
      return "lost";
    case FirstStore::Late:
      return "late";
    case FirstStore::Begins:
      return "begins";
    case FirstStore::Written:
      return "written";
  }
  return {};
}

std::string_view nameOf(CureKind cure) {
  switch (cure) {
    case CureKind::Flush:
      return "flush";
    case CureKind::Fence:
      return "fence";
    case CureKind::Earlier:
      return "earlier";
    case CureKind::Order:
      return "order";
    case CureKind::Atomic:
      return "atomic";
    case CureKind::Add:
      return "add";
    case CureKind::Rename:
      return "rename";
  }
  return {};
}

std::string_view nameOf(NotDurable::When when) {
  switch (when) {
    case NotDurable::When::OperationEnded:
      return "operation-ended";
    case NotDurable::When::Unmapped:
      return "unmapped";
    case NotDurable::When::ProgramEnded:
      return "program-ended";
  }
  return {};
}

std::optional<FindingKind> findingKindNamed(std::string_view name) {
  for (const FindingKindRow& row : findingKinds())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

Finding makeFinding(FindingKind kind, Claim claim) {
  Finding f;
  f.kind = kind;
  f.severity = rowOf(kind).severity;
  f.bugClass = f.severity == Severity::Performance                                               ? BugClass::Performance
               : kind == FindingKind::CrossFailureRace || kind == FindingKind::UninitializedRead ? BugClass::Race
               : kind == FindingKind::UncommittedRead || kind == FindingKind::StaleRead          ? BugClass::Semantic
                                                                                                 : BugClass::None;
  f.claim = std::move(claim);
  return f;
}

NumberedPlace placeOf(const Trace& trace, std::string label, StackId where) {
  NumberedPlace place;
  place.label = std::move(label);
  place.where = where;
  const CallStack* w = trace.callStack(where);
  const Site* site = w == nullptr ? nullptr : trace.site(w->site);
  if (site == nullptr) return place;
  place.siteId = site->id;
  place.access = nameOf(site->kind);
  place.size = site->size;
  place.type = site->type;
  return place;
}

bool placeless(const Finding& finding) {
  return std::all_of(finding.places.begin(), finding.places.end(), [](const NumberedPlace& p) { return p.incidental; });
}

std::string_view nameOf(Fix::Where where) {
  switch (where) {
    case Fix::Where::AfterStore:
      return "after-store";
    case Fix::Where::Before:
      return "before";
    case Fix::Where::AfterFlush:
      return "after-flush";
    case Fix::Where::Log:
      return "log";
    case Fix::Where::Remove:
      return "remove";
  }
  return {};
}

std::uint64_t fingerprint(const Finding& finding) {
  Hash hash;
  hash.text(nameOf(finding.kind));
  if (finding.shownBy && placeless(finding)) {
    hash.text(finding.shownBy->symptom);
    PlaceNo at = finding.shownBy->failsAt;
    if (at != 0 && at.value() <= finding.places.size() && !finding.place(at).stack.empty())
      hash.text(finding.place(at).stack.front().function);
  }
  for (const NumberedPlace& place : finding.places) {
    if (place.incidental) continue;
    // A place without a site ("the program ends here") is told by its label.
    if (place.siteId != 0)
      hash.number(place.siteId);
    else
      hash.text(place.label);
    if (!place.caller.empty()) hash.text(place.caller);
  }
  return hash.value();
}

std::string fingerprintText(const Finding& finding) { return fmt::format("{:016x}", fingerprint(finding)); }

void sortFindings(std::vector<Finding>& findings) {
  // Keys are made once: a place's key has strings in it. The index keeps equals in their order.
  using Key = std::tuple<Severity, FindingKind, std::uint64_t, decltype(placeKey(findings.front())), std::size_t>;
  std::vector<Key> keys;
  keys.reserve(findings.size());
  for (const Finding& f : findings) keys.emplace_back(f.severity, f.kind, ~f.counts.times, placeKey(f), keys.size());
  std::sort(keys.begin(), keys.end());
  std::vector<Finding> sorted;
  sorted.reserve(findings.size());
  for (const Key& key : keys) sorted.push_back(std::move(findings[std::get<4>(key)]));
  findings = std::move(sorted);
}

}  // namespace blackout
