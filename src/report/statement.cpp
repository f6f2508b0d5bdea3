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

// Whether what is called there only follows a pointer, as libpmemobj's macros do.
bool followsPointer(std::string_view expression, std::size_t open) {
  std::size_t from = open;
  while (from > 0 && isWord(expression[from - 1])) --from;
  std::string_view name = expression.substr(from, open - from);
  return name == "D_RW" || name == "D_RO" || name == "pmemobj_direct";
}

// Nothing that does something by being evaluated again: calls, assignments, steps.
bool isPlain(std::string_view expression) {
  if (expression.empty()) return false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    char c = expression[i];
    char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if ((c == '+' || c == '-') && next == c) return false;
    if (c == '=' || c == ',' || c == ';' || c == '"' || c == '?' || c == '{') return false;
    if (c == '(' && i > 0 && (isWord(expression[i - 1]) || expression[i - 1] == ']') && !followsPointer(expression, i))
      return false;
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

namespace {

// "for (int i = 0; i < 4; ++i)", "} else": what follows is all that it has.
bool endsWithHeader(std::string_view code) {
  if (code.find_first_of("\"'") != std::string_view::npos) return false;
  auto endsWithWord = [](std::string_view text, std::string_view word) {
    return text.ends_with(word) && (text.size() == word.size() || !isWord(text[text.size() - word.size() - 1]));
  };
  if (endsWithWord(code, "else") || endsWithWord(code, "do")) return true;
  if (!code.ends_with(')')) return false;
  int depth = 0;
  std::size_t open = code.size();
  while (open-- > 0) {
    if (code[open] == ')') ++depth;
    if (code[open] == '(' && --depth == 0) break;
  }
  if (depth != 0 || open >= code.size()) return false;
  std::string_view before = trimmed(code.substr(0, open));
  return endsWithWord(before, "for") || endsWithWord(before, "while") || endsWithWord(before, "if");
}

bool balanced(std::string_view code) {
  return std::count(code.begin(), code.end(), '(') == std::count(code.begin(), code.end(), ')');
}

bool endsStatement(std::string_view code) { return code.ends_with(';') || code.ends_with('{') || code.ends_with('}'); }

}  // namespace

std::optional<StatementPlace> statementAt(const SourceLines& lines, std::uint32_t line, std::size_t from) {
  if (line == 0 || line > lines.size()) return std::nullopt;
  StatementPlace place;
  std::string_view head = trimmed(std::string_view(lines[line - 1]).substr(0, from));
  place.begins = head.empty();
  if (place.begins) {
    std::string_view before;
    for (std::uint32_t n = line - 1; n > 0 && before.empty(); --n) {
      before = codeOf(lines[n - 1]);
      if (isPreprocessor(before) || before.starts_with('*')) before = {};
    }
    place.body = endsWithHeader(before);
    if (!place.body && !endsStatement(before) && !before.ends_with(':')) return std::nullopt;
  } else {
    // A comment or a string before it may hide anything.
    if (head.find("//") != std::string_view::npos || head.find("/*") != std::string_view::npos ||
        head.find('"') != std::string_view::npos || !balanced(head))
      return std::nullopt;
    place.body = endsWithHeader(head);
    if (!place.body && !endsStatement(head)) return std::nullopt;
  }
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
      place.last = n;
      place.end = i + 1;
      place.ends = codeOf(text.substr(i + 1)).empty();
      return place;
    }
  }
  return std::nullopt;
}

std::vector<std::string> includesAbove(const SourceLines& lines, std::uint32_t line) {
  struct Include {
    std::string what;
    std::size_t depth;
  };
  std::vector<Include> all;
  std::vector<bool> open;  // conditional blocks; true: one that keeps a header from being read twice
  for (std::uint32_t n = 1; n < line && n <= lines.size(); ++n) {
    std::string_view code = codeOf(lines[n - 1]);
    if (!isPreprocessor(code)) continue;
    std::string_view directive = trimmed(code.substr(1));
    if (directive.starts_with("if")) {
      bool guard = open.empty() && directive.starts_with("ifndef") && n < lines.size() &&
                   codeOf(lines[n]).starts_with("#define");
      open.push_back(guard);
    } else if (directive.starts_with("el") || directive.starts_with("endif")) {
      // What was included there is not in what follows.
      std::erase_if(all, [&](const Include& i) { return !open.empty() && !open.back() && i.depth >= open.size(); });
      if (directive.starts_with("endif") && !open.empty()) open.pop_back();
    } else if (directive.starts_with("include")) {
      std::size_t from = directive.find_first_of("\"<");
      if (from == std::string_view::npos) continue;
      std::size_t to = directive.find_first_of("\">", from + 1);
      if (to != std::string_view::npos)
        all.push_back({std::string(directive.substr(from + 1, to - from - 1)), open.size()});
    }
  }
  std::vector<std::string> names;
  for (Include& i : all) names.push_back(std::move(i.what));
  return names;
}

std::optional<std::uint32_t> plainCallAt(const SourceLines& lines, std::uint32_t line) {
  if (line == 0 || line > lines.size()) return std::nullopt;
  std::size_t from = std::min(lines[line - 1].find_first_not_of(" \t"), lines[line - 1].size());
  auto place = statementAt(lines, line, from);
  if (!place || !place->alone()) return std::nullopt;
  std::string text;
  for (std::uint32_t n = line; n <= place->last; ++n) {
    std::size_t begin = n == line ? from : 0;
    std::string_view part = lines[n - 1];
    part = part.substr(begin, n == place->last ? place->end - begin : part.npos);
    if (part.find("//") != part.npos || part.find("/*") != part.npos) return std::nullopt;
    text += std::string(trimmed(part)) + " ";
  }
  std::string_view call = trimmed(text);
  std::size_t open = call.find('(');
  if (open == call.npos || open == 0) return std::nullopt;
  auto ofName = [](char c) { return isWord(c) || c == ':' || c == '.' || c == '-' || c == '>'; };
  std::string_view name = trimmed(call.substr(0, open));
  if (name.empty() || !std::all_of(name.begin(), name.end(), ofName)) return std::nullopt;
  for (std::string_view keyword : {"if", "for", "while", "switch", "return", "sizeof"})
    if (name == keyword) return std::nullopt;
  std::size_t behind = behindBracket(call, open);
  if (behind == call.npos || trimmed(call.substr(behind)) != ";") return std::nullopt;
  for (std::string argument : splitByCommas(call.substr(open + 1, behind - open - 2))) {
    constexpr std::string_view kSizeof = "sizeof(";
    for (std::size_t at; (at = argument.find(kSizeof)) != argument.npos;) argument.replace(at, kSizeof.size(), "(");
    if (!isPlain(argument)) return std::nullopt;
  }
  return place->last;
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
