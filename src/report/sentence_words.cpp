#include "report/sentence_words.h"

#include <fmt/format.h>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/escape.h"
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
  if (f.file.empty()) return {};
  // What a compiler adds to a function has no line.
  return f.line == 0 ? std::string(baseName(f.file)) : fmt::format("{}:{}", baseName(f.file), f.line);
}

std::string callText(const Frame& f) {
  std::string name = f.function.empty() ? "an unknown function" : plainName(readableName(f.function));
  return f.file.empty() ? name : fmt::format("{} ({})", name, lineText(f));
}

std::string_view belowRoot(std::string_view path, std::string_view root) {
  bool below = !root.empty() && path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
  return below ? path.substr(root.size() + 1) : path;
}

std::string positionText(const Frame& f, std::string_view root) {
  std::string s = escapeText(belowRoot(f.file, root));
  if (f.line != 0) s += fmt::format(":{}", f.line);
  if (f.line != 0 && f.column != 0) s += fmt::format(":{}", f.column);
  return s;
}

const Frame* ownFrame(const NumberedPlace& place) {
  return place.stack.empty() ? nullptr : &place.stack[userFrame(place.stack)];
}

PlaceNo leadingPlace(const Finding& finding) {
  for (std::uint32_t n = 1; n <= finding.places.size(); ++n)
    if (const Frame* frame = ownFrame(finding.place(PlaceNo(n))); frame != nullptr && frame->line != 0)
      return PlaceNo(n);
  return 0;
}

const Frame* leadingFrame(const Finding& finding) {
  PlaceNo n = leadingPlace(finding);
  return n == 0 ? nullptr : ownFrame(finding.place(n));
}

std::string PlaceWords::lineOf(PlaceNo n) const {
  bool known = n != 0 && n.value() <= finding_->places.size();
  const Frame* frame = known ? ownFrame(finding_->place(n)) : nullptr;
  return frame == nullptr ? std::string() : lineText(*frame);
}

std::string PlaceWords::operator()(PlaceNo n) const {
  if (finding_ == nullptr) return fmt::format("({})", n);
  std::string line = lineOf(n);
  return line.empty() ? "an unknown place" : line;
}

std::string PlaceWords::atIfKnown(PlaceNo n) const {
  return finding_ != nullptr && n != here_ && lineOf(n).empty() ? std::string() : " " + at(n);
}

std::string PlaceWords::at(PlaceNo n) const { return n != 0 && n == here_ ? "here" : "at " + (*this)(n); }

std::string symptomIn(const std::string& symptom, const Frame& f) {
  return f.function.empty() ? symptom : fmt::format("{} in {}", symptom, callText(f));
}

}  // namespace blackout
