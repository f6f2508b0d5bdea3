#include "judge/program_guardians.h"

#include <fmt/format.h>

#include <charconv>

#include "events/site_table.h"
#include "infer/access_id.h"
#include "infer/in_child.h"

namespace blackout {

namespace {

// A comparison is often only a search for a key, and a pointer that is followed says nothing about what it leads to.
bool decides(Shape shape) { return shape != Shape::Comparison && shape != Shape::Chase; }

// Values that are set to make other data valid. A null check is a pointer that publishes.
bool commits(Shape shape) { return decides(shape) && shape != Shape::NullCheck; }

const std::map<FieldKey, std::string> kNoFields;
const FieldKey kNoField;

}  // namespace

namespace {

// A table as text, on its way from a process to another: words, each with its length before it.
void put(std::string& to, std::string_view word) { to += fmt::format("{} {}", word.size(), word); }

std::string packed(const ProgramGuardians::Table& table, const std::vector<GuardianAccesses>& accesses) {
  std::string text;
  for (const GuardianAccesses& g : accesses) {
    put(text, "a");
    put(text, g.field);
    put(text, g.why);
    for (std::uint64_t id : g.reads) put(text, fmt::format("r{}", id));
    for (std::uint64_t id : g.writes) put(text, fmt::format("w{}", id));
  }
  for (const auto& [site, field] : table.tests) {
    put(text, fmt::format("t{}", site));
    put(text, field);
  }
  for (const auto& [site, fields] : table.guarded)
    for (const auto& [field, why] : fields) {
      put(text, fmt::format("g{}", site));
      put(text, field);
      put(text, why);
    }
  for (const FieldKey& field : table.commitVariables) {
    put(text, "c");
    put(text, field);
  }
  return text;
}

void unpack(std::string_view text, ProgramGuardians::Analysis& to) {
  auto take = [&] {
    std::size_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    std::string word(text.substr(0, size));
    text.remove_prefix(size);
    return word;
  };
  while (!text.empty()) {
    std::string head = take();
    std::uint64_t id = 0;
    std::from_chars(head.data() + 1, head.data() + head.size(), id);
    if (head[0] == 'r') to.accesses.back().reads.push_back(id);
    if (head[0] == 'w') to.accesses.back().writes.push_back(id);
    if (head[0] == 'r' || head[0] == 'w') continue;
    std::string field = take();
    if (head[0] == 'a') to.accesses.push_back({field, {}, {}, take()});
    if (head[0] == 't') to.table.tests.emplace(id, field);
    if (head[0] == 'g') to.table.guarded[id].emplace(field, take());
    if (head[0] == 'c') to.table.commitVariables.insert(field);
  }
}

}  // namespace

// In a process of its own, which can be ended at any time.
std::shared_ptr<const ProgramGuardians::Analysis> ProgramGuardians::analyse() const {
  constexpr std::string_view kNone = "none", kCut = "cut", kKnown = "known";
  auto answer = inChild(
      [&]() -> std::string {
        ProgramBitcode bitcode;
        for (const std::string& program : programs_)
          (void)addBitcode(bitcode, program);  // what has none is passed over
        if (bitcode.units.empty()) return std::string(kNone);
        Guardians guardians = inferGuardians(bitcode, infer_);
        if (guardians.cut) return std::string(kCut);
        if (guardians.guardians.empty() && !guardians.incomplete.empty()) return std::string(kNone);
        return std::string(kKnown) + packed(tableOf(guardians), accessesOf(guardians));
      },
      {.seconds = 0, .giveUp = [this] { return patience_.over(); }});
  auto found = std::make_shared<Analysis>();
  // What nobody knows to be a test may be taken for data: part of the guardians is worse than none.
  if (!answer || *answer == kCut) {
    found->leftOut = fmt::format(
        "The analysis of the program's code {}, so which reads are tests is known by experiment only, and nothing that "
        "they guard.",
        !answer ? "did not come to an end" : "was given up, because the code is too large or too entangled");
  } else if (*answer != kNone) {
    found->known = true;
    unpack(std::string_view(*answer).substr(kKnown.size()), *found);
  }
  // Who is impatient learns nothing that is true of the program.
  if (answer && made_) (*made_)[programs_] = found;
  return found;
}

const ProgramGuardians::Analysis& ProgramGuardians::analysis() {
  if (analysis_ == nullptr && made_)
    if (auto known = made_->find(programs_); known != made_->end()) analysis_ = known->second;
  if (analysis_ == nullptr) analysis_ = analyse();
  return *analysis_;
}

const ProgramGuardians::Table& ProgramGuardians::table() {
  asked_ = true;
  return analysis().table;
}

const std::string& ProgramGuardians::leftOut() const {
  static const std::string kNothing;
  return asked_ ? analysis_->leftOut : kNothing;
}

ProgramGuardians::Table ProgramGuardians::tableOf(const Guardians& guardians) const {
  Table table;
  std::map<std::uint64_t, FieldKey> tests;                           // by access
  std::map<std::uint64_t, std::map<FieldKey, std::string>> guarded;  // by access
  for (const Guardian& g : guardians.guardians)
    for (const Guarded& data : g.guarded)
      for (const Guard& guard : data.guards) {
        if (!decides(guard.shape)) continue;
        tests.try_emplace(accessId(guard.test), g.field);
        if (!commits(guard.shape)) continue;
        table.commitVariables.insert(g.field);
        guarded[accessId(guard.read)].try_emplace(g.field, reasonOf(g, data, guard));
      }
  for (const std::string& program : programs_) {
    auto sites = readSiteTable(program);
    if (!sites) continue;
    for (const Site& site : *sites)
      for (const Source& source : site.sources) {
        std::uint64_t access = accessId(source);
        if (auto t = tests.find(access); t != tests.end()) table.tests.try_emplace(site.id, t->second);
        if (auto g = guarded.find(access); g != guarded.end())
          table.guarded[site.id].insert(g->second.begin(), g->second.end());
      }
  }
  return table;
}

bool ProgramGuardians::known() {
  asked_ = true;
  return analysis().known;
}

bool ProgramGuardians::tests(std::uint64_t site) { return table().tests.contains(site); }

bool ProgramGuardians::isCommitVariable(const FieldKey& field) { return table().commitVariables.contains(field); }

const std::map<FieldKey, std::string>& ProgramGuardians::guardsOf(std::uint64_t site) {
  auto g = table().guarded.find(site);
  return g == table().guarded.end() ? kNoFields : g->second;
}

const FieldKey& ProgramGuardians::testedBy(std::uint64_t site) {
  auto t = table().tests.find(site);
  return t == table().tests.end() ? kNoField : t->second;
}

}  // namespace blackout
