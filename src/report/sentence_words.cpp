#include "report/sentence_words.h"

#include <fmt/format.h>

#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/function_names.h"

namespace blackout {

namespace {

// "List::contents" of "(anonymous namespace)::List::contents(int) const".
std::string plainName(std::string name) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  std::size_t close = name.rfind(')');
  if (close == std::string::npos) return name;
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

}  // namespace

std::string_view baseName(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string bytesText(const NamedBytes& b) {
  return fmt::format("{} at offset {:#x} of {}", counted(b.size, "byte"), b.offset,
                     b.file.empty() ? "the pool" : baseName(b.file));
}

std::string lineText(const Frame& f) {
  return f.file.empty() ? std::string() : fmt::format("{}:{}", baseName(f.file), f.line);
}

std::string callText(const Frame& f) {
  std::string name = f.function.empty() ? "an unknown function" : plainName(readableName(f.function));
  return f.file.empty() ? name : fmt::format("{} ({}:{})", name, baseName(f.file), f.line);
}

std::string symptomIn(const std::string& symptom, const Frame& f) {
  return f.function.empty() ? symptom : fmt::format("{} in {}", symptom, callText(f));
}

}  // namespace blackout
