#include "report/junit.h"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "report/escape.h"
#include "report/sentence_words.h"
#include "report/sentences.h"
#include "report/text.h"

namespace blackout {

namespace {

// What XML can't hold is shown as an escape, as in the text report.
void attribute(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(escapeText(value).c_str());
}
void body(pugi::xml_node node, const std::string& text) {
  node.append_child(pugi::node_pcdata).set_value(text.c_str());
}

// Places, evidence and what to do, line by line: what a reader of the test's log needs to go on.
std::string detailsOf(const Finding& f, const std::string& root) {
  std::string text = "\n" + escapeText(verdictOf(f)) + "\n";
  for (std::size_t i = 0; i < f.places.size(); ++i) {
    const NumberedPlace& p = f.places[i];
    const Frame* frame = ownFrame(p);
    text += fmt::format("({}) {}{}\n", i + 1, escapeText(p.label),
                        frame == nullptr || frame->file.empty() ? "" : ": " + positionText(*frame, root));
  }
  for (const std::string& s : evidenceOf(f)) text += "evidence: " + escapeText(s) + "\n";
  if (f.replay) text += "replay: blackout replay " + escapeText(*f.replay) + "\n";
  if (std::string hint = hintOf(f); !hint.empty()) text += "hint: " + escapeText(hint) + "\n";
  return text;
}

std::string commandText(const Report& report) {
  std::string text;
  for (const std::string& word : report.command) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "a trace" : text;
}

}  // namespace

std::string renderJunit(const Report& report, FailOn failOn, const std::string& root) {
  pugi::xml_document document;
  pugi::xml_node suite = document.append_child("testsuites").append_child("testsuite");
  attribute(suite, "name", "blackout");
  std::size_t failures = 0;
  std::vector<const Finding*> others;
  pugi::xml_node whole = suite.append_child("testcase");
  attribute(whole, "classname", "blackout");
  attribute(whole, "name", commandText(report));
  for (const Finding& f : report.findings) {
    if (!fails(f, failOn)) {
      others.push_back(&f);
      continue;
    }
    ++failures;
    pugi::xml_node test = suite.append_child("testcase");
    attribute(test, "classname", std::string("blackout.") + std::string(nameOf(f.kind)));
    const Frame* frame = leadingFrame(f);
    attribute(test, "name", frame == nullptr ? fingerprintText(f) : positionText(*frame, root));
    if (frame != nullptr) {
      attribute(test, "file", belowRoot(frame->file, root));
      attribute(test, "line", std::to_string(frame->line));
    }
    pugi::xml_node failure = test.append_child("failure");
    attribute(failure, "type", nameOf(f.kind));
    attribute(failure, "message", findingLine(f, root));
    body(failure, detailsOf(f, root));
  }
  if (!report.complete() && failures == 0) {
    pugi::xml_node error = whole.append_child("error");
    attribute(error, "type", "inconclusive");
    attribute(error, "message", report.incomplete.front());
    std::string text = "\n";
    for (const std::string& s : report.incomplete) text += escapeText(s) + "\n";
    body(error, text);
  }
  std::string log = "\n" + verdictLine(report) + "\n";
  for (const Finding* f : others) log += findingLine(*f, root) + "\n";
  body(whole.append_child("system-out"), log + summaryLine(report) + "\n");
  attribute(suite, "tests", std::to_string(failures + 1));
  attribute(suite, "failures", std::to_string(failures));
  attribute(suite, "errors", !report.complete() && failures == 0 ? "1" : "0");
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace blackout
