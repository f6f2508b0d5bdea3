#include "report/json.h"

#include <fmt/format.h>

#include <cmath>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/ending.h"
#include "report/caveats.h"
#include "report/explanation.h"
#include "report/json_library.h"
#include "report/patch.h"
#include "report/sentences.h"
#include "report/text.h"

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
  j["caller"] = p.caller.empty() ? Json(nullptr) : Json(p.caller);
  j["incidental"] = p.incidental;
  // The reader's own line first; the calls inside headers of libraries that it made on their own.
  auto own = p.stack.begin() + static_cast<std::ptrdiff_t>(userFrame(p.stack));
  j["within"] = framesJson({p.stack.begin(), own});
  j["stack"] = framesJson({own, p.stack.end()});
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
    j["files"] = level.files ? Json{{"prefix", level.files->prefix}, {"extra", level.files->extra}} : Json(nullptr);
    levels.push_back(std::move(j));
  }
  return levels;
}

Json placeNoJson(PlaceNo place) { return place != 0 ? Json(place) : Json(nullptr); }

template <class T>
Json orNull(const std::optional<T>& value, Json (*json)(const T&)) {
  return value ? json(*value) : Json(nullptr);
}

std::string hexOf(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Json valueJson(const ByteValue& value) {
  if (value.empty()) return nullptr;
  std::string_view bytes(reinterpret_cast<const char*>(value.data()), value.size());
  return Json{{"bytes", hexOf(bytes)}, {"text", valueText(value)}};
}

// Where the bytes are and what they are called.
Json bytesJson(const std::string& file, std::uint64_t offset, std::uint64_t size, const std::string& type) {
  FieldName name = fieldName(type);
  return Json{{"file", file},
              {"offset", offset},
              {"size", size},
              {"type", type},
              {"struct", name.structName.empty() ? Json(nullptr) : Json(name.structName)},
              {"field", name.field.empty() ? Json(nullptr) : Json(name.field)},
              {"array_element", name.element}};
}
Json bytesJson(const NamedBytes& b) { return bytesJson(b.file, b.offset, b.size, b.type); }

Json lineJson(const Frame& f) { return f.file.empty() ? Json(nullptr) : frameJson(f); }

Json storeJson(const SeenStore& s) {
  return Json{{"level", s.level},
              {"event", s.event},
              {"bytes", bytesJson(s.bytes)},
              {"before", valueJson(s.bytes.before)},
              {"after", valueJson(s.bytes.after)},
              {"at", lineJson(s.at)},
              {"place", placeNoJson(s.place)}};
}

Json flushJson(const SeenFlush& f) {
  return Json{{"level", f.level},
              {"event", f.event},
              {"access", f.access},
              {"bytes", f.bytes.size != 0 ? bytesJson(f.bytes) : Json(nullptr)},
              {"at", lineJson(f.at)}};
}

Json readJson(const SeenRead& r) {
  Json j{{"bytes", bytesJson(r.bytes)},
         {"value", valueJson(r.value)},
         {"if_persisted", valueJson(r.bytes.after)},
         {"place", placeNoJson(r.place)},
         {"sources", Json::array()}};
  for (const std::optional<SeenStore>& store : r.sources) j["sources"].push_back(orNull(store, storeJson));
  return j;
}

Json promisedJson(const PromisedEnd& p) { return Json{{"event", p.event}, {"place", placeNoJson(p.place)}}; }

Json crashesJson(const std::vector<SeenCrash>& crashes) {
  Json list = Json::array();
  for (const SeenCrash& c : crashes) {
    Json j{{"level", c.level}, {"event", c.event}, {"after", placeNoJson(c.after)}, {"lost", Json::array()}};
    for (const SeenStore& store : c.lost) j["lost"].push_back(storeJson(store));
    list.push_back(std::move(j));
  }
  return list;
}

Json shownByJson(const Finding& f, const ShownBy& s) {
  Json j;
  j["symptom"] = symptomOf(f, s);
  j["crash"] = crashText(s);
  j["oracle"] = s.symptom;
  j["fails_at"] = placeNoJson(s.failsAt);
  j["crashes"] = crashesJson(s.crashes);
  j["states"] = s.states;
  j["points"] = s.points;
  j["output"] = s.output;
  return j;
}

// Arguments and results of an operation. Numbers are text: many readers keep them as doubles.
Json operandsJson(const Values& values) {
  Json list = Json::array();
  for (const Value& v : values) switch (v.kind) {
      case ValueKind::Unsigned:
        list.push_back(Json{{"kind", "unsigned"}, {"value", std::to_string(v.number)}});
        break;
      case ValueKind::Signed:
        list.push_back(Json{{"kind", "signed"}, {"value", std::to_string(static_cast<std::int64_t>(v.number))}});
        break;
      case ValueKind::Bytes:
        list.push_back(Json{{"kind", "bytes"}, {"value", hexOf(v.bytes)}});
        break;
      case ValueKind::Text:
        list.push_back(Json{{"kind", "text"}, {"value", v.bytes}});
        break;
    }
  return list;
}

Json wrongLinesJson(const std::vector<WrongLine>& lines) {
  constexpr std::string_view kNames[] = {"in-neither", "missing", "only-before", "only-after"};
  Json list = Json::array();
  for (const WrongLine& line : lines)
    list.push_back(Json{{"is", kNames[line.is]}, {"number", line.number}, {"text", line.text}});
  return list;
}

Json saidJson(const Said& s) {
  Json j{{"output", s.output}, {"cut", s.cut}, {"exit_code", s.exitCode}, {"history", Json::array()}};
  for (const HistoryOperation& o : s.history)
    j["history"].push_back(Json{{"thread", o.thread},
                                {"name", o.name},
                                {"arguments", operandsJson(o.arguments)},
                                {"results", operandsJson(o.results)},
                                {"began", o.began},
                                {"ended", o.finished() ? Json(o.ended) : Json(nullptr)}});
  return j;
}

// The members of a claim or a fact, without its name.
struct Members {
  Json operator()(const PlainClaim&) const { return Json::object(); }
  Json operator()(const CrashCause& c) const {
    Json j;
    j["cause"] = nameOf(c.kind);
    j["first_is"] = c.first ? Json(nameOf(c.firstIs)) : Json(nullptr);
    j["first"] = orNull(c.first, storeJson);
    j["second"] = orNull(c.second, storeJson);
    j["promised"] = orNull(c.promised, promisedJson);
    j["flush"] = orNull(c.flush, flushJson);
    j["read"] = orNull(c.read, readJson);
    j["tested"] = c.tested;
    j["either_way"] = c.eitherWay;
    j["others"] = Json::array();
    for (const SeenStore& store : c.others) j["others"].push_back(storeJson(store));
    j["lines"] = c.lines != 0 ? Json(c.lines) : Json(nullptr);
    j["creation"] = c.creation;
    j["same_bytes"] = c.sameBytes;
    j["ever_flushed"] = c.everFlushed;
    j["ever_fenced"] = c.everFenced;
    j["examined"] = c.examined;
    return j;
  }
  Json operator()(const BadReadClaim& c) const {
    return Json{{"writer", orNull(c.writer, storeJson)},
                {"allocated", c.allocated ? Json(*c.allocated) : Json(nullptr)},
                {"allocated_at", placeNoJson(c.allocatedAt)},
                {"commit", orNull(c.commit, storeJson)},
                {"commit_before", orNull(c.commitBefore, storeJson)},
                {"read", readJson(c.read)}};
  }
  Json operator()(const NotDurable& c) const {
    return Json{{"when", nameOf(c.when)},
                {"store", storeJson(c.store)},
                {"bytes", c.bytes},
                {"non_temporal", c.nonTemporal},
                {"flushed", c.flushed}};
  }
  Json operator()(const Replaced& c) const { return Json{{"store", storeJson(c.store)}, {"by", storeJson(c.by)}}; }
  Json operator()(const StoredPastTheEnd& c) const { return Json{{"bytes", c.bytes}}; }
  Json operator()(const LoggedBefore& c) const { return Json{{"bytes", c.bytes}}; }
  Json operator()(const LoggedInVain& c) const { return Json{{"transactions", c.transactions}, {"always", c.always}}; }
  Json operator()(const NotLogged& c) const {
    return Json{{"store", storeJson(c.store)}, {"bytes", c.bytes}, {"added", placeNoJson(c.added)}};
  }
  Json operator()(const BrokenMechanism& c) const {
    return Json{{"mechanism", c.mechanism},
                {"rule", nameOf(c.rule)},
                {"first_phase", nameOf(c.firstPhase)},
                {"second_phase", c.second ? Json(nameOf(c.secondPhase)) : Json(nullptr)},
                {"first", storeJson(c.first)},
                {"second", c.second ? storeJson(*c.second) : Json(nullptr)},
                {"transactions", c.transactions}};
  }
  Json operator()(const OtherSide& c) const {
    return Json{{"store", storeJson(c.store)},
                {"operation", c.operation},
                {"side", c.after ? "after" : "before"},
                {"held", valueJson(c.held)}};
  }
  Json operator()(const InterruptedCreation& c) const { return Json{{"file", c.file}, {"call", placeNoJson(c.call)}}; }

  Json operator()(const OldValueRead& e) const { return Json{{"value", valueJson(e.value)}}; }
  Json operator()(const FineIfPersisted& e) const { return Json{{"store", placeNoJson(e.store)}}; }
  Json operator()(const NeverFlushed& e) const { return Json{{"store", placeNoJson(e.store)}, {"later", e.later}}; }
  Json operator()(const TriedCure& e) const {
    return Json{{"cure", nameOf(e.cure)},
                {"first", placeNoJson(e.first)},
                {"second", placeNoJson(e.second)},
                {"one_line", e.oneLine},
                {"gone", e.gone},
                {"states", e.states},
                {"put_back", e.putBack}};
  }
  Json operator()(const FlushUnderWay&) const { return Json::object(); }
  Json operator()(const FlushedLater&) const { return Json::object(); }
  Json operator()(const LockedCompleted&) const { return Json::object(); }
  Json operator()(const FineWithout& e) const { return Json{{"store", placeNoJson(e.store)}}; }
  Json operator()(const CanWait& e) const {
    return Json{{"first", placeNoJson(e.first)}, {"second", placeNoJson(e.second)}};
  }
  Json operator()(const BothFail&) const { return Json::object(); }
  Json operator()(const NotExamined&) const { return Json::object(); }
  Json operator()(const MaySeeSeveral&) const { return Json::object(); }
  Json operator()(const WrongAnswer& e) const {
    return Json{{"basis", e.ended       ? "ended"
                          : e.operation ? "operation"
                                        : "stretch"},
                {"operation", e.name.empty() ? Json(nullptr) : Json(e.name)},
                {"said", saidJson(e.said)},
                {"before", saidJson(e.before)},
                {"after", saidJson(e.after)},
                {"lines", wrongLinesJson(e.lines)}};
  }
  Json operator()(const NoOrder& e) const {
    Json j{{"structure", e.structure}, {"criterion", e.criterion}, {"operations", Json::array()}};
    for (const ToldOperation& o : e.operations) {
      j["operations"].push_back(Json{{"run", o.run},
                                     {"name", o.operation.name},
                                     {"arguments", operandsJson(o.operation.arguments)},
                                     {"results", operandsJson(o.operation.results)},
                                     {"ended", o.operation.finished()},
                                     {"explained", o.explained}});
      if (o.thread != 0) j["operations"].back()["thread"] = o.thread;
    }
    if (!e.witnesses.empty()) j["witnesses"] = e.witnesses;
    j["contradiction"] = e.contradiction;
    j["possible"] = Json::array();
    for (const Values& values : e.possible) j["possible"].push_back(operandsJson(values));
    return j;
  }
  Json operator()(const FoundAt& e) const { return Json{{"stage", nameOf(e.stage)}}; }
  Json operator()(const CountedTogether& e) const {
    return Json{{"array", e.array},      {"counter", e.counter},          {"bound", e.bound},
                {"strict", e.strict},    {"counter_lost", e.counterLost}, {"lost", e.lost.value()},
                {"kept", e.kept.value()}};
  }
  Json operator()(const TrustedTooSoon& e) const {
    return Json{{"stale", e.stale},
                {"writer", storeJson(e.writer)},
                {"commit", orNull(e.commit, storeJson)},
                {"commit_before", orNull(e.commitBefore, storeJson)}};
  }
  Json operator()(const NotRepeated& e) const {
    return Json{{"symptom", e.symptom.empty() ? Json(nullptr) : Json(e.symptom)}};
  }
  Json operator()(const NotRunAgain&) const { return Json::object(); }
  Json operator()(const EmptyFile& e) const { return Json{{"file", e.file}}; }
  Json operator()(const NotInTransaction& e) const {
    return Json{{"store", placeNoJson(e.store)}, {"added", e.added ? frameJson(*e.added) : Json(nullptr)}};
  }
  Json operator()(const CutThereToo& e) const {
    return Json{{"first", placeNoJson(e.first)}, {"second", placeNoJson(e.second)}};
  }
  Json operator()(const OtherSymptom& e) const {
    return Json{{"symptom", e.symptom}, {"at", e.at == Frame() ? Json(nullptr) : frameJson(e.at)}};
  }
  Json operator()(const ThreadWaits& e) const {
    Json stack = Json::array();
    for (const Frame& f : e.stack) stack.push_back(frameJson(f));
    return Json{{"thread", e.thread}, {"what", e.what}, {"stack", std::move(stack)}};
  }
  Json operator()(const ReadAfterCrash& e) const {
    return Json{{"place", placeNoJson(e.place)}, {"event", e.event}, {"points", e.points}, {"states", e.states}};
  }
  Json operator()(const InferredCommit& e) const { return Json{{"because", e.because}}; }
  Json operator()(const OtherBytesMatter&) const { return Json::object(); }
  Json operator()(const LockLeft&) const { return Json::object(); }
  Json operator()(const OtherAddresses& e) const { return Json{{"store", placeNoJson(e.store)}}; }
  Json operator()(const NotDurableEither& e) const {
    return Json{{"store", placeNoJson(e.store)}, {"when", nameOf(e.when)}, {"times", e.times}, {"of", e.of}};
  }
  Json operator()(const NeverDurable&) const { return Json::object(); }
  Json operator()(const TriedDurable& e) const { return Json{{"cure", nameOf(e.cure)}}; }
  Json operator()(const DurableTooLate& e) const { return Json{{"event", e.event}}; }
  Json operator()(const DurableWithRmwFences&) const { return Json::object(); }
  Json operator()(const TransactionDidWork&) const { return Json::object(); }
  Json operator()(const MayBeRolledBack&) const { return Json::object(); }
  Json operator()(const OtherCallersWrite&) const { return Json::object(); }
};

template <class... T>
Json namedJson(const std::variant<T...>& value) {
  Json j;
  j["is"] = std::visit([](const auto& v) { return v.kName; }, value);
  j.update(std::visit(Members(), value));
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
  j["unjudged"] = e.unjudged;
  j["exit_codes"] = e.exitCodes == ExitCodes::Judged    ? "judged"
                    : e.exitCodes == ExitCodes::Ignored ? "ignored"
                                                        : "unknown";
  j["stored_bytes"] = e.storedBytes;
  j["read_bytes"] = e.readBytes;
  j["races"] = {{"pairs", e.races}, {"benign", e.benignRaces}, {"not_compared", e.uncomparedRaces}};
  if (e.likely) {
    const TestedPoints& l = *e.likely;
    Json lines = Json::array();
    for (const LikelyPointLine& p : l.lines)
      lines.push_back(Json{{"place", p.place.empty() ? Json(nullptr) : Json(p.place)},
                           {"reason", p.reason},
                           {"times", p.times},
                           {"marked", p.marked},
                           {"inferred", p.inferred}});
    j["likely_points"] = Json{{"guardians_known", l.guardians},
                              {"stores", l.stores},
                              {"by_guardians", l.byGuardians},
                              {"by_publication", l.byPublication},
                              {"inferred", l.inferred},
                              {"marked", l.marked},
                              {"missed", l.missed},
                              {"incompletely_durable_tests", l.incompleteTests},
                              {"unrecovered_durable_tests", l.unrecoveredTests},
                              {"lines", std::move(lines)}};
  }
  j["assumptions"] = nlohmann::json::array();
  for (const AssumedRecord& a : e.assumptions) j["assumptions"].push_back(sentenceOf(a));
  j["not_explored"] = e.notExplored;
  j["loads"] = Json::array();
  for (const LoadSources& l : e.loads)
    j["loads"].push_back(Json{{"load", l.load}, {"stores", l.stores}, {"states", l.states}});
  return j;
}

Json mechanismsJson(const CheckedMechanisms& m) {
  Json j;
  j["mechanisms"] = Json::array();
  for (const MechanismSummary& one : m.mechanisms)
    j["mechanisms"].push_back(Json{{"name", one.name},
                                   {"kind", one.kind},
                                   {"objects", one.objects},
                                   {"transactions", one.transactions},
                                   {"broken", one.broken}});
  j["stores"] = m.stores;
  j["unprotected"] = m.unprotected;
  j["untyped"] = m.untyped;
  j["plans"] = m.plans;
  j["plans_for_all"] = m.plansForAll;
  auto distribution = [](const auto& pairs) {
    Json list = Json::array();
    for (const auto& [stores, points] : pairs) list.push_back(Json{{"stores", stores}, {"points", points}});
    return list;
  };
  j["in_flight"] = distribution(m.inFlight);
  j["in_flight_unprotected"] = distribution(m.inFlightUnprotected);
  return j;
}

// The fix that can be written as a diff, or else the cheapest.
Json fixJson(const Finding& f) {
  if (f.fixes.empty()) return nullptr;
  SourceFiles sources;
  std::error_code error;
  std::optional<Patch> patch = patchOf(f, sources, std::filesystem::current_path(error).string());
  const Fix& fix = patch ? *patch->fix : f.fixes.front();
  Json j;
  j["where"] = nameOf(fix.where);
  j["at"] = Json::array();
  for (const Frame& at : fix.at) j["at"].push_back(frameJson(at));
  j["flushes"] = fix.flushes;
  j["fences"] = fix.fences;
  j["ranges"] = fix.ranges;
  j["states"] = fix.states;
  j["tried"] = triedText(fix);
  j["diff"] = patch ? Json(patch->diff) : Json(nullptr);
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
  j["verdict"] = verdictOf(f);
  j["message"] = verdictAlone(f);
  std::string told = explanationOf(f);
  j["explanation"] = told.empty() ? Json(nullptr) : Json(told);
  j["meaning"] = row.meaning;
  j["hint"] = hintOf(f);
  j["places"] = Json::array();
  for (std::size_t i = 0; i < f.places.size(); ++i) j["places"].push_back(placeJson(i + 1, f.places[i]));
  j["times"] = f.counts.times;
  j["executions"] = f.counts.of;
  j["cost"] = f.cost ? Json{{"amount", f.cost->amount}, {"of", f.cost->of}, {"unit", f.cost->unit}} : Json(nullptr);
  j["evidence"] = evidenceOf(f);
  j["claim"] = namedJson(f.claim);
  j["facts"] = Json::array();
  for (const Fact& fact : f.evidence) j["facts"].push_back(namedJson(fact));
  j["bytes"] = Json::array();
  for (const AffectedBytes& b : f.examples) j["bytes"].push_back(bytesJson(b.file, b.offset, b.size, b.type));
  j["operation"] = f.operation.empty() ? Json(nullptr) : Json{{"name", f.operation}};
  j["shown_by"] = f.shownBy ? shownByJson(f, *f.shownBy) : Json(nullptr);
  j["crash_state"] = f.crashState ? crashJson(*f.crashState) : Json(nullptr);
  if (!f.schedule.empty()) j["schedule"] = f.schedule;
  if (!f.operationsFile.empty()) j["operations_file"] = f.operationsFile;
  j["replay"] = f.replay ? Json(*f.replay) : Json(nullptr);
  j["trace"] = f.trace != 0 ? Json(f.trace) : Json(nullptr);
  j["fix"] = fixJson(f);
  return j;
}

// Three digits say all there is to say, and read the same everywhere.
double rounded(double log10) { return std::round(log10 * 1000) / 1000; }

Json linesOfPoint(const std::vector<SeenLine>& lines) {
  Json list = Json::array();
  for (const SeenLine& l : lines)
    list.push_back(Json{{"file", l.file},
                        {"offset", l.offset},
                        {"stores", l.stores},
                        {"guaranteed", l.guaranteed},
                        {"open", l.open},
                        {"sets", l.sets},
                        {"all", l.all}});
  return list;
}

// Up to a million the number of sets is exact.
Json traceJson(const SeenTrace& t) {
  Json j;
  j["total"] = t.total;
  j["events"] = Json::array();
  for (const SeenEvent& e : t.events) {
    Json row{{"event", e.event}, {"thread", e.thread}, {"kind", e.kind}, {"what", e.what}};
    row["at"] = e.at != 0 ? Json(e.at) : Json(nullptr);
    if (e.skipped != 0) row["skipped"] = e.skipped;
    j["events"].push_back(std::move(row));
  }
  j["places"] = framesJson(t.places);
  j["operations"] = Json::array();
  for (const SeenOperation& o : t.operations)
    j["operations"].push_back(Json{{"thread", o.thread},
                                   {"name", o.name},
                                   {"arguments", operandsJson(o.arguments)},
                                   {"results", o.results ? operandsJson(*o.results) : Json(nullptr)},
                                   {"begin", o.begin},
                                   {"end", o.end ? Json(*o.end) : Json(nullptr)},
                                   {"depth", o.depth}});
  j["points"] = Json::array();
  for (const SeenPoint& p : t.points)
    j["points"].push_back(
        Json{{"event", p.event},
             {"uncertain", p.uncertain},
             {"sets", p.log10Sets < 6 ? Json(std::llround(std::pow(10, p.log10Sets))) : Json(nullptr)},
             {"log10_sets", rounded(p.log10Sets)},
             {"lines", linesOfPoint(p.lines)}});
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
  j["recordings"] = run.recordings;
  j["lines"] = run.lines;
  j["points"] = run.points;
  j["log10_states"] = run.log10States ? Json(rounded(*run.log10States)) : Json(nullptr);
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
  j["verdict"] = verdictLine(report);
  j["complete"] = report.complete();
  j["incomplete"] = report.incomplete;
  std::array<std::uint64_t, 3> counts = countBySeverity(report);
  for (Severity s : {Severity::Shown, Severity::Suspected, Severity::Performance})
    j["counts"][std::string(nameOf(s))] = counts[static_cast<std::size_t>(s)];
  j["counts"]["hidden_by_only"] = report.hiddenByOnly;
  j["counts"]["suppressed"] = report.suppressed();
  j["counts"]["in_baseline"] = report.hiddenAsKnown;
  j["run"] = runJson(report.run);
  j["exploration"] = report.exploration ? explorationJson(*report.exploration) : Json(nullptr);
  if (report.mechanisms) j["mechanisms"] = mechanismsJson(*report.mechanisms);
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
  j["traces"] = Json::array();
  for (const SeenTrace& t : report.traces) j["traces"].push_back(traceJson(t));
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
