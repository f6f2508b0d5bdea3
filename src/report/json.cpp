#include "report/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "findings/ending.h"
#include "report/caveats.h"

namespace blackout {

namespace {

// Keys stay in the order in which they are written here.
using Json = nlohmann::ordered_json;

Json frameJson(const Frame& f) {
  Json j;
  j["function"] = f.function;
  j["file"] = f.file;
  j["line"] = f.line;
  j["column"] = f.column;
  j["module"] = f.module;
  j["inlined"] = f.inlined;
  return j;
}

Json framesJson(const std::vector<Frame>& frames) {
  Json j = Json::array();
  for (const Frame& f : frames) j.push_back(frameJson(f));
  return j;
}

Json placeJson(std::size_t number, const NumberedPlace& p) {
  Json j;
  j["number"] = number;
  j["label"] = p.label;
  // 64-bit ids are text: many readers of JSON keep numbers as doubles.
  j["site"] = p.siteId != 0 ? Json(fmt::format("{:016x}", p.siteId)) : Json(nullptr);
  j["access"] = p.access;
  j["size"] = p.size;
  j["type"] = p.type;
  j["incidental"] = p.incidental;
  j["stack"] = framesJson(p.stack);
  j["also_from"] = Json::array();
  for (const std::vector<Frame>& other : p.alsoFrom) j["also_from"].push_back(framesJson(other));
  return j;
}

Json crashJson(const CrashState& state) {
  Json levels = Json::array();
  for (const CrashLevel& level : state) {
    Json j;
    j["at"] = level.at;
    j["unnamed"] = level.unnamed == UnnamedLines::Newest ? "newest" : "least";
    j["persisted"] = Json::array();
    for (const auto& [line, version] : level.persisted) {
      Json row;
      row["line"] = line;
      row["prefix"] = version.prefix;
      row["extra"] = version.extra;
      j["persisted"].push_back(std::move(row));
    }
    levels.push_back(std::move(j));
  }
  return levels;
}

Json shownByJson(const ShownBy& s) {
  Json j;
  j["symptom"] = s.symptom;
  j["crash"] = s.crash;
  j["states"] = s.states;
  j["points"] = s.points;
  j["output"] = s.output;
  return j;
}

Json explorationJson(const ExploredCrashes& e) {
  Json j;
  j["strategy"] = e.strategy;
  j["command"] = e.command;
  j["failures"] = e.crashesInARow;
  j["points"] = e.points;
  j["complete_points"] = e.completePoints;
  j["runs"] = e.runs;
  j["states"] = e.states;
  j["failing"] = e.failing;
  j["races"] = {{"pairs", e.races}, {"benign", e.benignRaces}};
  j["assumptions"] = e.assumptions;
  j["not_explored"] = e.notExplored;
  j["loads"] = Json::array();
  for (const LoadSources& l : e.loads)
    j["loads"].push_back(Json{{"load", l.load}, {"stores", l.stores}, {"states", l.states}});
  return j;
}

Json findingJson(const Finding& f) {
  const FindingKindRow& row = rowOf(f.kind);
  Json j;
  j["fingerprint"] = fingerprintText(f);
  j["kind"] = row.name;
  j["severity"] = nameOf(f.severity);
  j["class"] = f.bugClass == BugClass::None ? Json(nullptr) : Json(nameOf(f.bugClass));
  j["title"] = row.title;
  j["verdict"] = f.verdict;
  j["meaning"] = row.meaning;
  j["hint"] = row.hint;
  j["places"] = Json::array();
  for (std::size_t i = 0; i < f.places.size(); ++i) j["places"].push_back(placeJson(i + 1, f.places[i]));
  j["times"] = f.counts.times;
  j["executions"] = f.counts.of;
  j["cost"] = f.cost ? Json{{"amount", f.cost->amount}, {"of", f.cost->of}, {"unit", f.cost->unit}} : Json(nullptr);
  j["evidence"] = f.evidence;
  j["bytes"] = Json::array();
  for (const AffectedBytes& b : f.examples) {
    Json bytes;
    bytes["file"] = b.file;
    bytes["offset"] = b.offset;
    bytes["size"] = b.size;
    bytes["type"] = b.type;
    j["bytes"].push_back(std::move(bytes));
  }
  j["operation"] = f.operation.empty() ? Json(nullptr) : Json(f.operation);
  j["shown_by"] = f.shownBy ? shownByJson(*f.shownBy) : Json(nullptr);
  j["crash_state"] = f.crashState ? crashJson(*f.crashState) : Json(nullptr);
  j["replay"] = f.replay ? Json(*f.replay) : Json(nullptr);
  return j;
}

Json runJson(const RunSummary& run) {
  Json j;
  j["model"] = run.model;
  j["events"] = run.events;
  j["stores"] = run.stores;
  j["loads"] = run.loads;
  j["flushes"] = run.flushes;
  j["fences"] = run.fences;
  j["operations"] = run.operations;
  j["threads"] = run.threads;
  j["lines"] = run.lines;
  j["points"] = run.points;
  // Three digits say all there is to say, and read the same everywhere.
  j["log10_states"] = run.log10States ? Json(std::round(*run.log10States * 1000) / 1000) : Json(nullptr);
  j["wait_status"] = run.waitStatus ? Json(*run.waitStatus) : Json(nullptr);
  j["ending"] = run.waitStatus ? Json(endingText(*run.waitStatus)) : Json(nullptr);
  return j;
}

// A path need not be UTF-8, JSON must be.
std::string textOf(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string renderJson(const Report& report, FailOn failOn) {
  Json j;
  j["schema"] = kReportSchema;
  j["tool"] = {{"name", "blackout"}, {"version", BLACKOUT_VERSION}};
  j["command"] = report.command;
  j["fail_on"] = nameOf(failOn);
  j["exit_code"] = static_cast<int>(exitCodeOf(report, failOn));
  j["complete"] = report.complete();
  j["incomplete"] = report.incomplete;
  std::array<std::uint64_t, 3> counts = countBySeverity(report);
  for (Severity s : {Severity::Shown, Severity::Suspected, Severity::Performance})
    j["counts"][std::string(nameOf(s))] = counts[static_cast<std::size_t>(s)];
  j["counts"]["hidden_by_only"] = report.hiddenByOnly;
  j["counts"]["suppressed"] = report.suppressed();
  j["run"] = runJson(report.run);
  j["exploration"] = report.exploration ? explorationJson(*report.exploration) : Json(nullptr);
  j["detectors"] = report.detectors;
  j["pools"] = Json::array();
  for (const PoolSummary& p : report.pools) {
    Json pool;
    pool["path"] = p.path;
    pool["size"] = p.size;
    pool["created"] = p.created;
    pool["removed"] = p.removed;
    j["pools"].push_back(std::move(pool));
  }
  j["findings"] = Json::array();
  for (const Finding& f : report.findings) j["findings"].push_back(findingJson(f));
  j["suppressions"] = Json::array();
  for (const SuppressionUse& s : report.suppressions)
    j["suppressions"].push_back(Json{{"file", s.file}, {"line", s.line}, {"text", s.text}, {"findings", s.findings}});
  j["trusted"] = report.trusted;
  j["notes"] = report.notes;
  j["caveats"] = caveatsOf(report);
  return textOf(j);
}

std::string renderJson(const Finding& finding) { return textOf(findingJson(finding)); }

}  // namespace blackout
