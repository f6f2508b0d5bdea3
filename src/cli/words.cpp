#include "cli/words.h"

#include <fmt/format.h>

namespace blackout::cli {

Result<std::vector<std::string>> splitWords(std::string_view text, std::string_view option) {
  constexpr std::string_view shellOnly = "|&;<>()$`*?[#~";
  constexpr std::string_view escapable = "\"\\$`";  // inside double quotes
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool last = i + 1 == text.size();
    if (quote == '\'') {
      if (c == '\'')
        quote = 0;
      else
        word += c;
    } else if (quote == '"') {
      if (c == '"')
        quote = 0;
      else if (c == '\\' && !last && escapable.find(text[i + 1]) != std::string_view::npos)
        word += text[++i];
      else if (c == '$' || c == '`')
        return fail(
            fmt::format("{} {}: no shell is run, so '{}' has no meaning; write the value itself, or put "
                        "single quotes around it",
                        option, text, c));
      else
        word += c;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inWord) words.push_back(std::move(word));
      word.clear();
      inWord = false;
    } else if (c == '\'' || c == '"') {
      quote = c;
      inWord = true;
    } else if (c == '\\') {
      if (last) return fail(fmt::format("{} {}: ends in a backslash; write two if one is meant", option, text));
      word += text[++i];
      inWord = true;
    } else if (shellOnly.find(c) != std::string_view::npos && ((c != '#' && c != '~') || !inWord)) {
      return fail(
          fmt::format("{} {}: no shell is run, so '{}' has no meaning; quote it, or run sh -c '...'", option, text, c));
    } else {
      word += c;
      inWord = true;
    }
  }
  if (quote != 0) return fail(fmt::format("{} {}: a quote ({}) is not closed", option, text, quote));
  if (inWord) words.push_back(std::move(word));
  if (words.empty()) return fail(fmt::format("{}: an empty command; name a program and its arguments", option));
  return words;
}

}  // namespace blackout::cli
