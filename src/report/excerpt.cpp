#include "report/excerpt.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "report/escape.h"

namespace blackout {

namespace {

constexpr std::uintmax_t kMaxFileSize = 16 << 20;  // larger than any source that a person reads
constexpr std::size_t kMaxLineLength = 160;
constexpr std::size_t kTab = 8;

struct Shown {
  std::string text;
  std::size_t column = 0;  // where the marked byte came to stand
};

// Tabs become spaces, so that the mark stands where it should; the rest is escaped.
Shown show(const std::string& line, std::size_t marked) {
  Shown shown;
  std::size_t width = 0;  // in characters, as a terminal counts plain text
  std::string run;
  auto flush = [&] {
    std::string text = escapeText(run);
    // Continuation bytes of UTF-8 take no column of their own.
    width += static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    shown.text += text;
    run.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i == marked) {
      flush();
      shown.column = width;
    }
    if (line[i] != '\t') {
      run += line[i];
      continue;
    }
    flush();
    std::size_t spaces = kTab - width % kTab;
    shown.text.append(spaces, ' ');
    width += spaces;
  }
  flush();
  if (marked >= line.size()) shown.column = width;
  return shown;
}

}  // namespace

const std::vector<std::string>* SourceFiles::linesOf(const std::string& path) {
  auto [at, isNew] = files_.try_emplace(path);
  std::optional<std::vector<std::string>>& lines = at->second;
  if (isNew) {
    std::error_code error;
    // Nothing but an ordinary file: a path from a trace could name a pipe that never ends.
    if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) <= kMaxFileSize &&
        !error) {
      std::ifstream in(path, std::ios::binary);
      if (in) {
        lines.emplace();
        for (std::string line; std::getline(in, line);) {
          if (!line.empty() && line.back() == '\r') line.pop_back();
          lines->push_back(std::move(line));
        }
      }
    }
  }
  return lines ? &*lines : nullptr;
}

std::vector<ExcerptLine> SourceFiles::excerpt(const std::string& path, std::uint32_t line, std::uint32_t column,
                                              std::uint32_t context) {
  std::vector<ExcerptLine> out;
  if (path.empty() || line == 0) return out;
  const std::vector<std::string>* lines = linesOf(path);
  if (lines == nullptr || line > lines->size()) return out;
  std::uint32_t from = line > context ? line - context : 1;
  auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{line} + context, lines->size()));
  for (std::uint32_t n = from; n <= to; ++n) {
    std::string text = (*lines)[n - 1];
    if (text.size() > kMaxLineLength) text = text.substr(0, kMaxLineLength);
    ExcerptLine shown{n, {}, {}};
    if (n != line) {
      shown.text = show(text, text.size()).text;
    } else {
      // Without a column the whole statement is marked.
      std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
      std::size_t marked = column > 0 ? column - 1 : first;
      Shown s = show(text, marked);
      shown.text = s.text;
      if (marked < text.size())
        shown.mark =
            std::string(s.column, ' ') +
            (column > 0 ? std::string("^") : std::string(s.text.size() - std::min(s.column, s.text.size()), '~'));
    }
    out.push_back(std::move(shown));
  }
  // Blank lines at the edges show nothing.
  auto blank = [](const ExcerptLine& l) { return l.text.find_first_not_of(' ') == std::string::npos; };
  while (!out.empty() && out.back().number != line && blank(out.back())) out.pop_back();
  while (!out.empty() && out.front().number != line && blank(out.front())) out.erase(out.begin());
  return out;
}

}  // namespace blackout
