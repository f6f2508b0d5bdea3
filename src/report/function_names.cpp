#include "report/function_names.h"

#include <vector>

namespace blackout {

namespace {

constexpr std::size_t kLongName = 100;
constexpr std::size_t kLongInside = 20;  // "anonymous namespace" stays

// Operators with brackets in their names, the longer ones first.
constexpr std::string_view kOperators[] = {"<<=", "<=>", ">>=", "->*", "()", "<<", ">>", "->", "<=", ">=", "<", ">"};

// For each character whether it is a bracket, and not part of an arrow or of an operator's name.
std::vector<bool> bracketsOf(std::string_view name) {
  std::vector<bool> brackets(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(0, i).ends_with("operator")) {
      for (std::string_view symbol : kOperators)
        if (name.substr(i).starts_with(symbol)) {
          i += symbol.size();
          break;
        }
      if (i >= name.size()) break;
    }
    char c = name[i];
    brackets[i] = c == '(' || c == ')' || c == '<' || (c == '>' && (i == 0 || name[i - 1] != '-'));
  }
  return brackets;
}

}  // namespace

std::string readableName(std::string_view name) {
  if (name.size() <= kLongName) return std::string(name);
  std::vector<bool> brackets = bracketsOf(name);
  std::string text;
  std::size_t depth = 0, inside = 0;  // where the outermost open bracket's contents begin
  std::size_t path = 0;               // where the name begins behind its return type
  bool parameters = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    bool opens = brackets[i] && (name[i] == '(' || name[i] == '<'), closes = brackets[i] && !opens;
    if (closes && depth == 0) return std::string(name);  // nothing that is understood here
    if (closes && --depth == 0) {
      std::string_view contents = name.substr(inside, i - inside);
      parameters = parameters || (name[i] == ')' && contents != "anonymous namespace");
      text += contents.size() > kLongInside ? "..." : contents;
    }
    if (depth == 0) text += name[i];
    if (depth == 0 && !parameters && name[i] == ' ' && !text.ends_with("operator ")) path = text.size();
    if (opens && depth++ == 0) inside = i + 1;
  }
  return depth == 0 ? text.substr(path) : std::string(name);
}

}  // namespace blackout
