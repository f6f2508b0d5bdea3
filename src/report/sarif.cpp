#include "report/sarif.h"

#include <fmt/format.h>

#include "findings/numbers.h"
#include "report/json_library.h"
#include "report/sentence_words.h"
#include "report/sentences.h"

namespace blackout {

namespace {

using Json = nlohmann::ordered_json;

// Code scanning refuses longer texts of rules, and shows no more steps.
constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kMostSteps = 100;

std::string_view levelOf(Severity severity) {
  switch (severity) {
    case Severity::Shown:
      return "error";
    case Severity::Suspected:
      return "warning";
    case Severity::Performance:
      return "note";
  }
  return {};
}

// In a plain text message "[text](target)" is a link: what comes from a program must not make one. Nor must a text be
// cut in the middle of a character.
std::string plain(std::string text) {
  for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;) text.insert(at + 1, " ");
  if (text.size() > kLongestText) {
    std::size_t end = kLongestText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + " ...";
  }
  return text;
}

Json message(std::string text) { return Json{{"text", plain(std::move(text))}}; }

// A path as a URI: what means something in one is escaped.
std::string uriOf(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    bool asIs = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                kPlain.find(c) != std::string_view::npos;
    out += asIs ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

class Sarif {
 public:
  Sarif(const Report& report, FailOn failOn, const std::string& root) : report_(report), failOn_(failOn), root_(root) {}

  Json log() const {
    Json j;
    j["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
    j["version"] = "2.1.0";
    j["runs"] = Json::array({run()});
    return j;
  }

 private:
  Json run() const {
    Json rules = Json::array();
    for (const FindingKindRow& row : findingKinds()) rules.push_back(rule(row));
    Json j;
    j["tool"]["driver"] = Json{{"name", "Blackout"}, {"version", BLACKOUT_VERSION}, {"rules", std::move(rules)}};
    j["invocations"] = Json::array({invocation()});
    j["columnKind"] = "unicodeCodePoints";
    j["results"] = Json::array();
    for (std::size_t i = 0; i < std::min(report_.findings.size(), kMostSarifResults); ++i)
      j["results"].push_back(result(report_.findings[i]));
    return j;
  }

  static Json rule(const FindingKindRow& row) {
    Json j;
    j["id"] = row.name;
    j["shortDescription"] = message(std::string(row.title));
    j["fullDescription"] = message(std::string(row.meaning));
    j["help"] = message(fmt::format("{} What to do: {}.", row.meaning, row.hint));
    j["defaultConfiguration"] = Json{{"level", levelOf(row.severity)}};
    j["properties"] = Json{{"tags", Json::array({"persistent-memory", "crash-consistency"})},
                           {"precision", row.severity == Severity::Shown ? "very-high" : "high"}};
    return j;
  }

  // What was not looked at is said with the results: no alert must not read as no bug.
  Json invocation() const {
    Json j;
    j["executionSuccessful"] = true;
    j["exitCode"] = static_cast<int>(exitCodeOf(report_, failOn_));
    Json notifications = Json::array();
    auto say = [&](std::string_view level, const std::string& text) {
      notifications.push_back(Json{{"level", level}, {"message", message(text)}});
    };
    for (const std::string& s : report_.incomplete) say("warning", "inconclusive: " + s);
    for (const std::string& s : report_.notes) say("note", s);
    if (report_.findings.size() > kMostSarifResults)
      say("warning",
          fmt::format("{} are left out here.", counted(report_.findings.size() - kMostSarifResults, "finding")));
    if (!notifications.empty()) j["toolExecutionNotifications"] = std::move(notifications);
    return j;
  }

  Json physical(const Frame& frame) const {
    std::string_view path = belowRoot(frame.file, root_);
    Json artifact{{"uri", uriOf(path)}};
    if (!path.starts_with('/')) artifact["uriBaseId"] = "%SRCROOT%";
    Json j{{"artifactLocation", std::move(artifact)}};
    if (frame.line != 0) {
      j["region"]["startLine"] = frame.line;
      if (frame.column != 0) j["region"]["startColumn"] = frame.column;
    }
    return j;
  }

  Json location(const Frame* frame, const std::string& text) const {
    Json j;
    if (frame != nullptr && !frame->file.empty()) j["physicalLocation"] = physical(*frame);
    if (frame != nullptr && !frame->function.empty())
      j["logicalLocations"] = Json::array({Json{{"fullyQualifiedName", frame->function}, {"kind", "function"}}});
    if (!text.empty()) j["message"] = message(text);
    return j;
  }

  // The places in their order are what happens: stored, lost or kept, the power fails, read.
  Json codeFlow(const Finding& f) const {
    Json steps = Json::array();
    for (std::size_t i = 0; i < std::min(f.places.size(), kMostSteps); ++i) {
      const NumberedPlace& place = f.places[i];
      Json step;
      step["location"] = location(ownFrame(place), fmt::format("({}) {}", i + 1, place.label));
      step["executionOrder"] = i + 1;
      if (!place.incidental) step["importance"] = "essential";
      steps.push_back(std::move(step));
    }
    return Json{{"threadFlows", Json::array({Json{{"locations", std::move(steps)}}})}};
  }

  Json result(const Finding& f) const {
    Json j;
    j["ruleId"] = nameOf(f.kind);
    j["ruleIndex"] = static_cast<int>(f.kind);
    j["level"] = levelOf(f.severity);
    j["message"] = message(verdictAlone(f));
    const Frame* frame = leadingFrame(f);
    if (frame != nullptr) j["locations"] = Json::array({location(frame, "")});
    Json related = Json::array();
    for (std::size_t i = 0; i < std::min(f.places.size(), kMostSteps); ++i)
      if (const Frame* at = ownFrame(f.places[i]); at != nullptr && at->line != 0) {
        Json other = location(at, fmt::format("({}) {}", i + 1, f.places[i].label));
        other["id"] = i + 1;
        related.push_back(std::move(other));
      }
    if (!related.empty()) j["relatedLocations"] = std::move(related);
    if (!f.places.empty()) j["codeFlows"] = Json::array({codeFlow(f)});
    j["partialFingerprints"]["blackoutFinding/v1"] = fingerprintText(f);
    j["properties"]["severity"] = nameOf(f.severity);
    if (std::string hint = hintOf(f); !hint.empty()) j["properties"]["hint"] = plain(hint);
    if (f.replay) j["properties"]["replay"] = *f.replay;
    return j;
  }

  const Report& report_;
  FailOn failOn_;
  const std::string& root_;
};

}  // namespace

std::string renderSarif(const Report& report, FailOn failOn, const std::string& root) {
  return Sarif(report, failOn, root).log().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace blackout
