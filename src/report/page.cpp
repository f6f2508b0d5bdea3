#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "binary/user_frame.h"
#include "report/excerpt.h"
#include "report/json_library.h"

// The bundle, as the build found it.
asm(".section .rodata\n"
    ".global blackout_page_begin, blackout_page_end\n"
    "blackout_page_begin:\n"
    ".incbin \"" BLACKOUT_PAGE
    "\"\n"
    "blackout_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char blackout_page_begin[], blackout_page_end[];

namespace blackout {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kContext = 3;
constexpr std::size_t kLongestLine = 400;

std::string textIn(const Json& j, const char* key) {
  auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::uint32_t numberIn(const Json& j, const char* key) {
  auto at = j.find(key);
  return at != j.end() && at->is_number_unsigned() ? static_cast<std::uint32_t>(at->get<std::uint64_t>()) : 0;
}

std::vector<Frame> framesIn(const Json& place) {
  std::vector<Frame> frames;
  auto stack = place.find("stack");
  if (stack == place.end() || !stack->is_array()) return frames;
  for (const Json& f : *stack)
    if (f.is_object())
      frames.push_back({textIn(f, "function"), textIn(f, "file"), numberIn(f, "line"), numberIn(f, "column"),
                        textIn(f, "module"), false});
  return frames;
}

// Which call of each place is the reader's own, and the source around it.
void addSource(const Json& finding, Json& page, SourceFiles& sources) {
  Json own = Json::array();
  auto places = finding.find("places");
  if (places != finding.end() && places->is_array())
    for (const Json& place : *places) {
      std::vector<Frame> frames = place.is_object() ? framesIn(place) : std::vector<Frame>();
      std::size_t at = frames.empty() ? 0 : userFrame(frames);
      own.push_back(at);
      if (frames.empty() || frames[at].line == 0) continue;
      const auto* lines = sources.linesOf(frames[at].file);
      std::uint32_t line = frames[at].line;
      if (lines == nullptr || line > lines->size()) continue;
      for (std::uint32_t n = line > kContext ? line - kContext : 1;
           n <= std::min<std::size_t>(line + kContext, lines->size()); ++n)
        page["lines"][frames[at].file][std::to_string(n)] = (*lines)[n - 1].substr(0, kLongestLine);
    }
  page["frames"].push_back(std::move(own));
}

// Within a script element nothing may look like its end.
std::string forScript(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (char c : json) switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  return out;
}

}  // namespace

Result<std::string> renderPage(std::string_view json, const std::string& name) {
  Json report = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  auto isReport = [&] {
    for (const char* key : {"counts", "run", "tool"})
      if (!report.contains(key) || !report[key].is_object()) return false;
    for (const char* key : {"findings", "incomplete", "notes", "caveats", "command"})
      if (!report.contains(key) || !report[key].is_array()) return false;
    return std::all_of(report["findings"].begin(), report["findings"].end(),
                       [](const Json& f) { return f.is_object(); });
  };
  if (!report.is_object() || !isReport())
    return fail(fmt::format("{}: is no report as JSON; name one that 'blackout check --json' wrote", name));
  Json page;
  std::string verdict = textIn(report, "verdict");
  page["verdict"] = verdict.empty() ? "Blackout report" : verdict;
  page["lines"] = Json::object();
  page["frames"] = Json::array();
  SourceFiles sources;
  for (const Json& finding : report["findings"]) addSource(finding, page, sources);
  report["page"] = std::move(page);
  std::string data = forScript(report.dump(-1, ' ', false, Json::error_handler_t::replace));
  constexpr std::string_view kMark = "@REPORT@";
  std::string text(blackout_page_begin, blackout_page_end);
  text.replace(text.find(kMark), kMark.size(), data);
  return text;
}

}  // namespace blackout
