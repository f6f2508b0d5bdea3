#include "judge/program_guardians.h"

#include "events/site_table.h"
#include "infer/access_id.h"
#include "infer/analysis.h"

namespace blackout {

namespace {

// A comparison is often only a search for a key, and a pointer that is followed says nothing about what it leads to.
bool decides(Shape shape) { return shape != Shape::Comparison && shape != Shape::Chase; }

// Values that are set to make other data valid. A null check is a pointer that publishes.
bool commits(Shape shape) { return decides(shape) && shape != Shape::NullCheck; }

const std::map<FieldKey, std::string> kNoFields;
const FieldKey kNoField;

}  // namespace

void ProgramGuardians::analyse() {
  if (analysed_) return;
  analysed_ = true;
  ProgramBitcode bitcode;
  for (const std::string& program : programs_) (void)addBitcode(bitcode, program);  // what has none is passed over
  if (bitcode.units.empty()) return;
  Guardians guardians = inferGuardians(bitcode);
  if (guardians.guardians.empty() && !guardians.incomplete.empty()) return;
  known_ = true;
  std::map<std::uint64_t, FieldKey> tests;                           // by access
  std::map<std::uint64_t, std::map<FieldKey, std::string>> guarded;  // by access
  for (const Guardian& g : guardians.guardians)
    for (const Guarded& data : g.guarded)
      for (const Guard& guard : data.guards) {
        if (!decides(guard.shape)) continue;
        tests.try_emplace(accessId(guard.test), g.field);
        if (!commits(guard.shape)) continue;
        table_.commitVariables.insert(g.field);
        guarded[accessId(guard.read)].try_emplace(g.field, reasonOf(g, data, guard));
      }
  for (const std::string& program : programs_) {
    auto sites = readSiteTable(program);
    if (!sites) continue;
    for (const Site& site : *sites)
      for (const Source& source : site.sources) {
        std::uint64_t access = accessId(source);
        if (auto t = tests.find(access); t != tests.end()) table_.tests.try_emplace(site.id, t->second);
        if (auto g = guarded.find(access); g != guarded.end())
          table_.guarded[site.id].insert(g->second.begin(), g->second.end());
      }
  }
}

bool ProgramGuardians::known() {
  analyse();
  return known_;
}

bool ProgramGuardians::tests(std::uint64_t site) {
  analyse();
  return table_.tests.contains(site);
}

bool ProgramGuardians::isCommitVariable(const FieldKey& field) {
  analyse();
  return table_.commitVariables.contains(field);
}

const std::map<FieldKey, std::string>& ProgramGuardians::guardsOf(std::uint64_t site) {
  analyse();
  auto g = table_.guarded.find(site);
  return g == table_.guarded.end() ? kNoFields : g->second;
}

const FieldKey& ProgramGuardians::testedBy(std::uint64_t site) {
  analyse();
  auto t = table_.tests.find(site);
  return t == table_.tests.end() ? kNoField : t->second;
}

}  // namespace blackout
