#include "report/statement.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace blackout {

namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  return text;
}

// The code of a line, without its comments; what a comment that began earlier hides is not known here, and such lines
// are taken as they are.
std::string_view codeOf(std::string_view line) {
  for (std::string_view comment : {"//", "/*"})
    if (std::size_t at = line.find(comment); at != std::string_view::npos) line = line.substr(0, at);
  return trimmed(line);
}

// Nothing that does something by being evaluated again: calls, assignments, steps.
bool isPlain(std::string_view expression) {
  if (expression.empty()) return false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    char c = expression[i];
    char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if ((c == '+' || c == '-') && next == c) return false;
    if (c == '=' || c == ',' || c == ';' || c == '"' || c == '?' || c == '{') return false;
    if (c == '(' && i > 0 && (isWord(expression[i - 1]) || expression[i - 1] == ']')) return false;
  }
  return true;
}

// Where the operand begins that ends just before `end`: names, members, indices, and stars before them.
std::size_t operandBefore(std::string_view line, std::size_t end) {
  std::size_t i = end;
  int depth = 0;
  while (i > 0) {
    char c = line[i - 1];
    if (c == ']' || c == ')') {
      ++depth;
    } else if (c == '[' || c == '(') {
      if (depth == 0) break;
      --depth;
    } else if (depth == 0 && !isWord(c) && c != '.' && c != ':') {
      if (c == '>' && i > 1 && line[i - 2] == '-') {
        i -= 2;
        continue;
      }
      break;
    }
    --i;
  }
  // A star belongs to it unless something stands before that it could be multiplied with.
  while (i > 0 && line[i - 1] == '*' && trimmed(line.substr(0, i)).find_first_not_of('*') == std::string_view::npos)
    --i;
  return i;
}

// The end of what is in brackets from `open` on, behind the closing one; npos: not in this line.
std::size_t behindBracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ')' || text[i] == ']' || text[i] == '}') && --depth == 0) return i + 1;
    if (text[i] == '"' || text[i] == '\'') return std::string_view::npos;
  }
  return std::string_view::npos;
}

// The text between commas that are in no brackets.
std::vector<std::string> splitByCommas(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && i > 0 && text[i - 1] != '-')) --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    parts.emplace_back(trimmed(text.substr(from, i - from)));
    from = i + 1;
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

std::optional<StoredTo> plainly(std::string expression, bool pointer, std::string size, std::size_t from) {
  if (!isPlain(expression) || (!size.empty() && !isPlain(size) && size.find("sizeof") == std::string::npos))
    return std::nullopt;
  return StoredTo{std::move(expression), pointer, std::move(size), from};
}

std::optional<StoredTo> storedByCall(std::string_view line, std::size_t at, std::size_t open) {
  std::size_t behind = behindBracket(line, open);
  if (behind == std::string_view::npos) return std::nullopt;
  std::string name(line.substr(at, open - at));
  std::vector<std::string> arguments = splitByCommas(line.substr(open + 1, behind - open - 2));
  // x.store(v)
  bool member = at > 0 && (line[at - 1] == '.' || (at > 1 && line[at - 1] == '>' && line[at - 2] == '-'));
  if (member) {
    if (name != "store" && name != "exchange" && !name.starts_with("fetch_")) return std::nullopt;
    std::size_t end = line[at - 1] == '.' ? at - 1 : at - 2;
    std::size_t from = operandBefore(line, end);
    return plainly(std::string(line.substr(from, end - from)), false, {}, from);
  }
  if (arguments.empty()) return std::nullopt;
  bool copies = name.find("memcpy") != std::string::npos || name.find("memmove") != std::string::npos ||
                name.find("memset") != std::string::npos;
  if (copies) return arguments.size() >= 3 ? plainly(arguments[0], true, arguments[2], at) : std::nullopt;
  bool atomic = name.starts_with("__atomic_") || name.starts_with("atomic_") || name.starts_with("__sync_");
  // A macro that stores to what it is given, as macros are written.
  bool macro = std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (!atomic && !macro) return std::nullopt;
  std::string what = arguments[0];
  if (what.starts_with('&')) return plainly(std::string(trimmed(std::string_view(what).substr(1))), false, {}, at);
  return plainly(std::move(what), atomic, {}, at);
}

bool isPreprocessor(std::string_view code) { return code.starts_with('#'); }

}  // namespace

std::optional<StoredTo> storedTo(std::string_view line, std::uint32_t column) {
  if (column == 0 || column > line.size() || line.ends_with('\\')) return std::nullopt;
  std::size_t at = column - 1;
  std::string_view rest = line.substr(at);
  auto before = [&]() -> std::optional<StoredTo> {
    std::size_t end = at;
    while (end > 0 && isSpace(line[end - 1])) --end;
    std::size_t from = operandBefore(line, end);
    return plainly(std::string(line.substr(from, end - from)), false, {}, from);
  };
  constexpr std::array<std::string_view, 10> kAssignments = {
      "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  if (rest.starts_with('=') && !rest.starts_with("==")) return before();
  if (std::any_of(kAssignments.begin(), kAssignments.end(), [&](auto a) { return rest.starts_with(a); }))
    return before();
  if (rest.starts_with("++") || rest.starts_with("--")) {
    if (at > 0 && (isWord(line[at - 1]) || line[at - 1] == ']')) return before();
    std::size_t end = at + 2;
    while (end < line.size() && (isWord(line[end]) || line[end] == '.' || line[end] == '[' || line[end] == ']' ||
                                 line.substr(end).starts_with("->") || (line[end] == '>' && line[end - 1] == '-')))
      ++end;
    return plainly(std::string(line.substr(at + 2, end - at - 2)), false, {}, at);
  }
  std::size_t open = at;
  while (open < line.size() && isWord(line[open])) ++open;
  if (open == at || open >= line.size() || line[open] != '(') return std::nullopt;
  return storedByCall(line, at, open);
}

std::string pointerOf(std::string_view expression) {
  std::size_t arrow = expression.find("->");
  if (arrow == std::string_view::npos || arrow == 0) return {};
  std::string_view base = expression.substr(0, arrow);
  return std::all_of(base.begin(), base.end(), isWord) ? std::string(base) : std::string();
}

std::string arrayOf(std::string_view expression) {
  if (!expression.ends_with(']')) return {};
  int depth = 0;
  for (std::size_t i = expression.size(); i-- > 0;) {
    if (expression[i] == ']') ++depth;
    if (expression[i] == '[' && --depth == 0) return std::string(expression.substr(0, i));
  }
  return {};
}

bool beginsStatement(const SourceLines& lines, std::uint32_t line, std::size_t from) {
  if (line == 0 || line > lines.size()) return false;
  std::string_view head = trimmed(std::string_view(lines[line - 1]).substr(0, from));
  if (!head.empty()) return false;
  for (std::uint32_t n = line - 1; n > 0; --n) {
    std::string_view before = codeOf(lines[n - 1]);
    if (before.empty() || isPreprocessor(before) || before.starts_with('*')) continue;
    return before.ends_with(';') || before.ends_with('{') || before.ends_with('}') || before.ends_with(':');
  }
  return false;
}

std::optional<std::uint32_t> endOfStatement(const SourceLines& lines, std::uint32_t line, std::size_t from) {
  constexpr std::uint32_t kMost = 6;
  int depth = 0;
  for (std::uint32_t n = line; n < line + kMost && n <= lines.size(); ++n) {
    std::string_view text = lines[n - 1];
    if (text.ends_with('\\') || (n > line && isPreprocessor(trimmed(text)))) return std::nullopt;
    for (std::size_t i = n == line ? from : 0; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
      if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
      if (depth < 0) return std::nullopt;
      if (text[i] != ';' || depth != 0) continue;
      return codeOf(text.substr(i + 1)).empty() ? std::optional(n) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool inSameBlock(const SourceLines& lines, std::uint32_t from, std::uint32_t to) {
  int depth = 0;
  for (std::uint32_t n = from + 1; n < to && n <= lines.size(); ++n)
    for (char c : codeOf(lines[n - 1])) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth < 0) return false;
    }
  return depth == 0;
}

std::optional<std::vector<std::string>> parametersOf(const SourceLines& lines, std::uint32_t line,
                                                     const std::string& name) {
  constexpr std::uint32_t kMost = 80;
  for (std::uint32_t n = std::min<std::size_t>(line, lines.size()); n > 0 && n + kMost > line; --n) {
    std::string_view text = lines[n - 1];
    std::size_t at = text.find(name + "(");
    if (at == std::string_view::npos || (at > 0 && isWord(text[at - 1]))) continue;
    std::string head;
    for (std::uint32_t m = n; m < n + 4 && m <= lines.size(); ++m) {
      head += m == n ? text.substr(at + name.size()) : std::string_view(lines[m - 1]);
      std::size_t behind = behindBracket(head, 0);
      if (behind == std::string::npos) continue;
      std::string_view rest = trimmed(std::string_view(head).substr(behind));
      // A head is followed by a body, a call by something else.
      bool body = rest.starts_with('{') || rest.starts_with("const") || rest.starts_with("noexcept") ||
                  (rest.empty() && m < lines.size() && trimmed(lines[m]).starts_with('{'));
      if (!body) break;
      auto parameters = splitByCommas(head.substr(1, behind - 2));
      if (parameters.size() == 1 && parameters[0] == "void") parameters.clear();
      return parameters;
    }
  }
  return std::nullopt;
}

std::string pointeeOf(std::string_view parameter) {
  std::size_t star = parameter.find('*');
  if (star == std::string_view::npos || parameter.find('*', star + 1) != std::string_view::npos) return {};
  return std::string(trimmed(parameter.substr(0, star)));
}

bool hasCall(const SourceLines& lines, std::uint32_t upTo, const std::string& name) {
  for (std::uint32_t n = 1; n <= upTo && n <= lines.size(); ++n) {
    std::string_view text = codeOf(lines[n - 1]);
    for (std::size_t at = 0; (at = text.find(name + "(", at)) != std::string_view::npos; ++at)
      if (at == 0 || !isWord(text[at - 1])) return true;
  }
  return false;
}

}  // namespace blackout
