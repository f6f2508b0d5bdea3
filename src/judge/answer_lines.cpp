#include "judge/answer_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>

namespace blackout {

namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// How often each line is there.
using Count = std::map<std::string_view, std::size_t>;
Count countOf(const std::vector<std::string_view>& lines) {
  Count count;
  for (std::string_view line : lines) ++count[line];
  return count;
}

bool isSubsequence(const std::vector<std::string_view>& part, const std::vector<std::string_view>& of) {
  auto at = of.begin();
  for (std::string_view line : part) {
    at = std::find(at, of.end(), line);
    if (at == of.end()) return false;
    ++at;
  }
  return true;
}

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    std::size_t from = line.find_first_not_of(" \t=:,()");
    if (from == std::string_view::npos) return words;
    line.remove_prefix(from);
    std::size_t end = std::min(line.find_first_of(" \t=:,()"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// Where the quoted text ends that begins here.
std::optional<std::size_t> quoteEnd(std::string_view line, std::size_t from) {
  char c = line[from];
  // An apostrophe inside a word quotes nothing.
  if (c != '"' && (c != '\'' || (from != 0 && isWord(line[from - 1])))) return std::nullopt;
  std::size_t end = line.find(c, from + 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(end);
}

std::vector<std::string_view> quotesIn(std::string_view line) {
  std::vector<std::string_view> quotes;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (auto end = quoteEnd(line, i)) {
      quotes.push_back(line.substr(i, *end + 1 - i));
      i = *end;
    }
  return quotes;
}

std::optional<std::uint64_t> numberIn(std::string_view word) {
  bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string formOf(std::string_view line) {
  std::string form;
  for (std::size_t i = 0; i < line.size();) {
    char c = line[i];
    if (auto end = quoteEnd(line, i)) {
      form += "\"\"";
      i = *end + 1;
      continue;
    }
    if (!isDigit(c)) {
      form += c;
      ++i;
      continue;
    }
    form += '#';
    while (i < line.size() && isWord(line[i])) ++i;
  }
  return form;
}

void AnswerLines::add(std::string_view output, Right right) {
  right_.emplace(output);
  if (right == Right::Settled) settled_.emplace(output);
  if (right == Right::Final) final_ = output;
  learned_ = false;
}

void AnswerLines::learn() const {
  if (learned_) return;
  learned_ = true;
  data_.clear(), messages_.clear();
  std::set<std::string_view> said;  // by settled answers
  for (const std::string& output : settled_)
    for (std::string_view line : linesOf(output)) said.insert(line);
  for (std::string_view line : linesOf(final_)) said.insert(line);
  for (const std::string& output : right_)
    for (std::string_view line : linesOf(output)) {
      if (messages_.contains(line) || said.contains(line) || formOf(line) != line) continue;
      std::string without;
      for (std::string_view other : linesOf(output))
        if (other != line) without += fmt::format("{}\n", other);
      if (right_.contains(without)) messages_.emplace(line);
    }
  // Where every restart had something to recover, what all right answers look like has to do.
  for (const std::string& output : settled_.empty() ? right_ : settled_)
    for (std::string_view line : linesOf(output)) data_.insert(formOf(line));
  for (std::string_view line : linesOf(final_)) data_.insert(formOf(line));
}

bool AnswerLines::isData(std::string_view line) const {
  learn();
  return data_.contains(formOf(line));
}

bool AnswerLines::isMessage(std::string_view line) const {
  learn();
  return messages_.contains(line);
}

std::vector<std::string_view> AnswerLines::withoutMessages(std::string_view text) const {
  std::vector<std::string_view> lines = linesOf(text);
  std::erase_if(lines, [this](std::string_view line) { return isMessage(line); });
  return lines;
}

bool AnswerLines::same(std::string_view answer, std::string_view right, bool ownWords) const {
  if (answer == right) return true;
  std::vector<std::string_view> said = withoutMessages(answer), wanted = withoutMessages(right);
  if (!isSubsequence(wanted, said)) return false;
  // What is said besides is the same however the two are laid side by side.
  Count left = countOf(said);
  for (std::string_view line : wanted) --left[line];
  return std::all_of(left.begin(), left.end(),
                     [&](const auto& row) { return row.second == 0 || (ownWords && !isData(row.first)); });
}

bool AnswerLines::mixes(std::string_view answer, std::string_view before, std::string_view after, bool ownWords) const {
  Count said = countOf(withoutMessages(answer));
  Count first = countOf(withoutMessages(before)), second = countOf(withoutMessages(after));
  for (const auto& [line, count] : first)
    if (said[line] < std::min(count, second[line])) return false;
  return std::all_of(said.begin(), said.end(), [&](const auto& row) {
    return row.second <= std::max(first[row.first], second[row.first]) || (ownWords && !isData(row.first));
  });
}

std::vector<WrongLine> AnswerLines::wrong(std::string_view answer, std::string_view before,
                                          std::string_view after) const {
  constexpr std::size_t kMost = 3, kText = 200;
  std::vector<std::string_view> said = linesOf(answer), first = linesOf(before), second = linesOf(after);
  if (std::max({said.size(), first.size(), second.size()}) < 2) return {};
  Count saidOf = countOf(said), firstOf = countOf(first), secondOf = countOf(second);
  std::map<WrongLine::Is, std::vector<WrongLine>> found;
  auto add = [&](WrongLine::Is is, std::size_t number, std::string_view text) {
    if (found[is].size() < kMost) found[is].push_back({is, number + 1, std::string(text.substr(0, kText))});
  };
  Count seen;
  for (std::size_t i = 0; i < said.size(); ++i) {
    std::size_t n = ++seen[said[i]];
    bool inFirst = n <= firstOf[said[i]], inSecond = n <= secondOf[said[i]];
    if (inFirst != inSecond)
      add(inFirst ? WrongLine::Before : WrongLine::After, i, said[i]);
    else if (!inFirst && !isMessage(said[i]) && isData(said[i]))
      add(WrongLine::Neither, i, said[i]);
  }
  seen.clear();
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::size_t n = ++seen[first[i]];
    if (n > saidOf[first[i]] && n <= secondOf[first[i]] && !isMessage(first[i])) add(WrongLine::Missing, i, first[i]);
  }
  // Lines of the one and of the other are worth a word only beside each other.
  std::vector<WrongLine> out = std::move(found[WrongLine::Neither]);
  std::move(found[WrongLine::Missing].begin(), found[WrongLine::Missing].end(), std::back_inserter(out));
  if (out.empty() && !found[WrongLine::Before].empty() && !found[WrongLine::After].empty())
    out = {found[WrongLine::Before].front(), found[WrongLine::After].front()};
  return out;
}

Variation variationOf(std::string_view answer, std::string_view other) {
  Variation most = Variation::None;
  std::vector<std::string_view> ours = linesOf(answer), theirs = linesOf(other);
  Count said = countOf(ours), otherSaid = countOf(theirs);
  for (const auto& [line, count] : said) {
    if (otherSaid.contains(line)) continue;
    std::string form = formOf(line);
    for (const auto& [instead, n] : otherSaid)
      if (!said.contains(instead) && formOf(instead) == form)
        most = std::max(most, quotesIn(line) != quotesIn(instead) ? Variation::Quotes : Variation::Numbers);
  }
  return most;
}

bool differOnlyByValue(std::string_view answer, std::uint64_t value, std::string_view right, std::uint64_t rightValue) {
  std::vector<std::string_view> said = linesOf(answer), wanted = linesOf(right);
  if (said.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i] == wanted[i]) continue;
    std::vector<std::string_view> ours = wordsOf(said[i]), theirs = wordsOf(wanted[i]);
    if (ours.size() != theirs.size()) return false;
    std::size_t differ = 0;
    for (std::size_t w = 0; w < ours.size(); ++w) {
      if (ours[w] == theirs[w]) continue;
      ++differ;
      auto a = numberIn(ours[w]), b = numberIn(theirs[w]);
      bool words = formOf(said[i]) == said[i] && formOf(wanted[i]) == wanted[i];
      if (!words && !(a == value && b == rightValue)) return false;
    }
    // What the words before and behind say is what makes it the same statement.
    if (differ != 1 || ours.size() < 2) return false;
  }
  return true;
}

}  // namespace blackout
