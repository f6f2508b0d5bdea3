#include "infer/analysis.h"

#include <algorithm>
#include <map>

#include "infer/correlated_fields.h"
#include "infer/counting_analysis.h"
#include "infer/counting_cache.h"
#include "infer/guards.h"
#include "infer/link_units.h"
#include "infer/pairs.h"
#include "infer/straighten.h"
#include "llvm/IR/LLVMContext.h"

namespace blackout {

namespace {

std::vector<Source> inOrder(std::vector<AccessSite> sites, const AccessSites& table) {
  std::sort(sites.begin(), sites.end());
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  std::vector<Source> sources;
  for (AccessSite s : sites) sources.push_back(table.source(s));
  std::sort(sources.begin(), sources.end(), placedBefore);
  return sources;
}

void putGuardians(Guardians& result, const ProgramCode& code, const ProgramFacts& facts, const PersistentTypes& types,
                  const GuardSearch& search) {
  std::map<KeyNo, std::vector<AccessSite>> reads, writes;
  for (ReadNo r = 0; r < facts.reads.endId(); ++r)
    if (search.deciding()[r]) reads[facts.reads.at(r).key].push_back(facts.reads.at(r).site);
  for (const CodeAccess& a : code.accesses())
    if (a.written != nullptr && !a.writesLocal)
      for (KeyNo key : a.writtenKeys)
        if (types.isPersistent(key)) writes[key].push_back(a.site);

  std::map<KeyNo, Guardian> guardians;
  for (const auto& [key, example] : search.guards()) {
    Guardian& guardian = guardians[key.guardian];
    // The list is in order of guardian, then of guarded field.
    if (guardian.guarded.empty() || guardian.guarded.back().field != code.fields.key(key.guarded))
      guardian.guarded.push_back({code.fields.key(key.guarded), {}});
    guardian.guarded.back().guards.push_back(
        {example.shape, code.sites.source(facts.reads.at(example.test).site), code.sites.source(key.read)});
  }
  std::vector<AccessSite> all, setting;
  for (const auto& [key, sites] : writes) all.insert(all.end(), sites.begin(), sites.end());
  for (auto& [key, guardian] : guardians) {
    guardian.field = code.fields.key(key);
    guardian.reads = inOrder(reads[key], code.sites);
    // A write of the whole struct sets its fields too.
    std::vector<AccessSite> own = writes[key];
    if (KeyNo owner = code.fields.structOf(key); owner != key)
      own.insert(own.end(), writes[owner].begin(), writes[owner].end());
    setting.insert(setting.end(), own.begin(), own.end());
    guardian.writes = inOrder(std::move(own), code.sites);
    for (Guarded& g : guardian.guarded)
      std::sort(g.guards.begin(), g.guards.end(),
                [](const Guard& a, const Guard& b) { return placedBefore(a.read, b.read); });
    std::sort(guardian.guarded.begin(), guardian.guarded.end(),
              [](const Guarded& a, const Guarded& b) { return a.field < b.field; });
    result.guardians.push_back(std::move(guardian));
  }
  std::sort(result.guardians.begin(), result.guardians.end(),
            [](const Guardian& a, const Guardian& b) { return a.field < b.field; });
  result.writes = inOrder(std::move(all), code.sites).size();
  result.guardianWrites = inOrder(std::move(setting), code.sites).size();
}

void putPairs(Guardians& result, const ProgramCode& code, const ProgramFacts& facts, const PairFindings& findings) {
  for (const PairFinding& f : findings.pairs) {
    GuardianPair pair{f.rule,
                      code.fields.key(f.first),
                      code.fields.key(f.second),
                      f.rule == GuardianPair::Rule::EachOther ? "" : code.fields.key(f.guarded),
                      code.sites.source(facts.reads.at(f.firstTest).site),
                      code.sites.source(facts.reads.at(f.secondTest).site)};
    if (pair.second < pair.first) {
      std::swap(pair.first, pair.second);
      std::swap(pair.firstTest, pair.secondTest);
    }
    result.pairs.push_back(std::move(pair));
  }
  std::sort(result.pairs.begin(), result.pairs.end(), [](const GuardianPair& a, const GuardianPair& b) {
    return std::tie(a.rule, a.first, a.second, a.guarded) < std::tie(b.rule, b.first, b.second, b.guarded);
  });
}

}  // namespace

static Guardians guardiansIn(const llvm::Module& module, const InferOptions& options, std::vector<std::string> notes) {
  Guardians result;
  result.notes = std::move(notes);
  ProgramCode code(module);
  PersistentTypes types(code, options.all);
  ProgramFacts facts = sliceProgram(code, types, options.steps);
  Resolver resolver(code, facts);
  GuardSearch search(code, facts, resolver);
  PairFindings pairs = findPairs(code, facts, search);

  putGuardians(result, code, facts, types, search);
  putPairs(result, code, facts, pairs);
  if (options.correlations) result.correlated = correlatedFields(code, types);
  result.volatileFields = search.volatileFields();
  if (!code.functions.empty() && code.fields.size() == 0)
    result.incomplete.push_back(
        "no access to a struct's field is known: compile with debug information (not with -g0, -g1 or "
        "-gline-tables-only)");
  else if (!code.functions.empty() && !types.anyFlush() && !options.all)
    result.notes.push_back(
        "no flush of a known type was found: all structs are taken for "
        "persistent; if the flushes are in "
        "code that was left out, compile it with the wrappers too");
  if (std::size_t calls = code.indirectCalls(); calls > 0)
    result.notes.push_back(std::to_string(calls) + (calls == 1 ? " call" : " calls") +
                           " through a pointer or of a virtual function can't be followed");
  if (facts.sets.exhausted()) {
    result.cut = true;
    result.incomplete.push_back(
        "the code is too large or too entangled to be analysed as a whole: guardians and what they guard are missing; "
        "give fewer files");
  }
  if (facts.sets.thinnedOut() > 0)
    result.notes.push_back("some values depend on very many reads: not every place that reads a guardian is listed");
  if (resolver.cutOff() > 0)
    result.notes.push_back(std::to_string(resolver.cutOff()) +
                           " arguments and variables depend on too many reads; "
                           "they are not followed");
  if (pairs.gaveUp > 0)
    result.notes.push_back(std::to_string(pairs.gaveUp) + (pairs.gaveUp == 1 ? " function is" : " functions are") +
                           " too entangled: pairs in them are not all listed");
  if (pairs.cutOff > 0)
    result.notes.push_back(std::to_string(pairs.cutOff) +
                           (pairs.cutOff == 1 ? " condition tests" : " conditions test") +
                           " too many fields; pairs of them are not all listed");
  return result;
}

Guardians inferGuardians(const ProgramBitcode& program, const InferOptions& options) {
  std::vector<std::string> notes = program.notes;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = linkUnits(program, context, notes);
  straighten(*module);
  return guardiansIn(*module, options, std::move(notes));
}

// Rewrites the module, if it is not known what comes out.
static CountingProperties countingIn(llvm::Module& module, const ProgramBitcode& program, const InferOptions& options) {
  if (options.seconds <= 0) return {};
  const std::optional<CountingCache> cache = CountingCache::ofUser();
  const std::string key = cache ? cacheKey(program, options.all) : std::string();
  if (cache)
    if (auto known = cache->find(key)) return std::move(*known);
  CountingProperties counting = inferCounting(module, {.all = options.all, .seconds = options.seconds});
  if (cache) cache->keep(key, counting);
  return counting;
}

InferredProperties inferProperties(const ProgramBitcode& program, const InferOptions& options) {
  std::vector<std::string> notes = program.notes;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = linkUnits(program, context, notes);
  straighten(*module);
  InferredProperties result{guardiansIn(*module, options, std::move(notes)), {}};
  result.counting = countingIn(*module, program, options);
  return result;
}

CountingProperties inferCounting(const ProgramBitcode& program, const InferOptions& options) {
  std::vector<std::string> notes;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = linkUnits(program, context, notes);
  straighten(*module);
  return countingIn(*module, program, options);
}

}  // namespace blackout
