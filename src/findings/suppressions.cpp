#include "findings/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "findings/pattern.h"

namespace blackout {

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Names and paths may be in any encoding; control characters are in no text.
bool isControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

std::optional<BugClass> classNamed(std::string_view name) {
  for (BugClass c : {BugClass::Race, BugClass::Semantic, BugClass::Performance})
    if (nameOf(c) == name) return c;
  return std::nullopt;
}

std::string kindNames() {
  std::string names = "race, semantic, performance";
  for (const FindingKindRow& row : findingKinds()) names += fmt::format(", {}", row.name);
  return names;
}

// What may be anything in a message, in one line and not too long.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out(text.substr(0, kLongest));
  std::replace_if(out.begin(), out.end(), isControl, '?');
  return fmt::format("'{}{}'", out, text.size() > kLongest ? "..." : "");
}

Result<std::string> contentOf(const std::string& path) {
  auto refuse = [&](std::string_view why, std::string_view cure) {
    return fail(fmt::format("--suppressions {}: {}; {}", path, why, cure));
  };
  constexpr std::string_view kNameAFile = "name a file with one kind:pattern per line";
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> in(std::fopen(path.c_str(), "rbe"));
  if (in == nullptr) return refuse(fmt::format("it can't be read: {}", std::strerror(errno)), kNameAFile);
  std::string text(kMaxSuppressionFile + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), in.get()));
  if (std::ferror(in.get()) != 0) return refuse(fmt::format("it can't be read: {}", std::strerror(errno)), kNameAFile);
  if (text.size() > kMaxSuppressionFile)
    return refuse(fmt::format("it is larger than {} bytes", kMaxSuppressionFile), kNameAFile);
  return text;
}

bool matches(std::string_view pattern, const std::vector<Frame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [&](const Frame& f) {
    return matchesFunction(pattern, f.function) || matchesPath(pattern, f.file) || matchesPath(pattern, f.module);
  });
}

}  // namespace

bool matches(const Suppression& s, const Finding& finding) {
  if (s.kind ? finding.kind != *s.kind : finding.bugClass != s.bugClass) return false;
  // What is stored matters there, and not by whom.
  if (const auto* claim = std::get_if<OtherSide>(&finding.claim); claim != nullptr)
    if (!claim->store.bytes.type.empty() && matchesGlob(s.pattern, claim->store.bytes.type)) return true;
  return std::any_of(finding.places.begin(), finding.places.end(), [&](const NumberedPlace& p) {
    return matches(s.pattern, p.stack) || std::any_of(p.alsoFrom.begin(), p.alsoFrom.end(),
                                                      [&](const auto& frames) { return matches(s.pattern, frames); });
  });
}

Result<Suppressions> Suppressions::read(const std::vector<std::string>& files) {
  Suppressions all;
  for (const std::string& file : files) {
    auto text = contentOf(file);
    if (!text) return tl::unexpected(text.error());
    if (auto ok = all.parse(*text, file); !ok) return tl::unexpected(ok.error());
  }
  return all;
}

Result<void> Suppressions::parse(std::string_view text, const std::string& file) {
  std::uint32_t number = 0;
  if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark)) text.remove_prefix(mark.size());
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto wrong = [&](std::string_view what) {
      return fail(fmt::format("--suppressions {}:{}: {}", file, number, what));
    };
    line = trimmed(line);
    if (std::any_of(line.begin(), line.end(), isControl))
      return wrong("it is not a text file; name a file with one kind:pattern per line");
    if (std::size_t comment = line.find(" #"); comment != std::string_view::npos)
      line = trimmed(line.substr(0, comment));
    if (line.empty() || line.front() == '#') continue;
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      return wrong(fmt::format("{} has no colon; a suppression is kind:pattern, as idle-fence:drain*", quoted(line)));
    std::string_view name = trimmed(line.substr(0, colon));
    std::string_view pattern = trimmed(line.substr(colon + 1));
    Suppression s{file, number, std::string(line), findingKindNamed(name), {}, std::string(pattern)};
    if (!s.kind) {
      auto bugClass = classNamed(name);
      if (!bugClass) return wrong(fmt::format("no finding is called {}; it is one of: {}", quoted(name), kindNames()));
      s.bugClass = *bugClass;
    }
    if (pattern.empty())
      return wrong(fmt::format("{} has no pattern; put a function, a source file or an object after the colon, or *",
                               quoted(line)));
    rows_.push_back(std::move(s));
  }
  return {};
}

void applySuppressions(Report& report, const Suppressions& suppressions) {
  const std::vector<Suppression>& rows = suppressions.rows();
  std::vector<std::uint64_t> hidden(rows.size());
  std::erase_if(report.findings, [&](const Finding& f) {
    auto first = std::find_if(rows.begin(), rows.end(), [&](const Suppression& s) { return matches(s, f); });
    if (first == rows.end()) return false;
    ++hidden[static_cast<std::size_t>(first - rows.begin())];
    return true;
  });
  for (std::size_t i = 0; i < rows.size(); ++i)
    report.suppressions.push_back({rows[i].file, rows[i].line, rows[i].text, hidden[i]});
}

std::string suppressionFor(const Finding& finding) {
  std::string pattern;
  auto take = [&](std::string Frame::* what) {
    for (const NumberedPlace& p : finding.places)
      for (const Frame& f : p.stack)
        if (pattern.empty()) pattern = f.*what;
  };
  for (std::string Frame::* what : {&Frame::function, &Frame::file, &Frame::module}) take(what);
  if (pattern.empty()) return {};
  // What the file would not keep as it is: '?' matches it all the same.
  for (char& c : pattern)
    if (isControl(c)) c = '?';
  for (std::size_t at; (at = pattern.find(" #")) != std::string::npos;) pattern[at + 1] = '?';
  for (char* end : {&pattern.front(), &pattern.back()})
    if (kBlank.find(*end) != std::string_view::npos) *end = '?';
  return fmt::format("{}:{}", nameOf(finding.kind), pattern);
}

std::vector<std::string> suppressionsFor(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& f : findings)
    if (std::string line = suppressionFor(f);
        !line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  return lines;
}

}  // namespace blackout
