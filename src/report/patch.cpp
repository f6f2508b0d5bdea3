#include "report/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "findings/numbers.h"
#include "report/sentence_words.h"
#include "report/statement.h"

namespace blackout {

namespace {

// A function's last name, and what it is a member of: "List", "persist" of "(anonymous namespace)::List::persist(int)".
struct QualifiedName {
  std::string scope;
  std::string name;
};
QualifiedName qualifiedName(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string text(function);
  for (std::size_t at; (at = text.find(kAnonymous)) != std::string::npos;) text.erase(at, kAnonymous.size());
  text = text.substr(0, text.find('('));
  // What a template is made for, and its return type, are no part of the name.
  text = text.substr(0, text.find('<'));
  text = text.substr(text.rfind(' ') + 1);
  std::size_t colon = text.rfind("::");
  if (colon == std::string::npos) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

// Bytes in memory as the source names them.
struct Bytes {
  std::string object;  // an lvalue; empty: only the address is known
  std::string address;
  std::string size;
  std::string pointer;  // to the struct that they are in; empty: unknown
  std::string type;     // of that struct; empty: unknown
  bool wide = false;    // more than fits into a word
};

std::string addressOf(const std::string& object) {
  bool star = object.starts_with('*') && object.find_first_of("[.") == std::string::npos;
  return star ? object.substr(1) : "&" + object;
}

// A call that makes bytes durable, by the program's own function.
class PersistCall {
 public:
  static std::optional<PersistCall> of(const std::optional<Frame>& inside, SourceFiles& sources) {
    if (!inside) return std::nullopt;
    const SourceLines* lines = sources.linesOf(inside->file);
    QualifiedName function = qualifiedName(inside->function);
    if (lines == nullptr || function.name.empty()) return std::nullopt;
    auto parameters = parametersOf(*lines, inside->line, function.name);
    if (!parameters) return std::nullopt;
    return PersistCall(function, *inside, std::move(*parameters));
  }

  // Whether it can be called in this line.
  bool visibleAt(const Frame& at, const SourceLines& lines) const {
    QualifiedName caller = qualifiedName(at.function);
    if (!function_.scope.empty() && caller.scope != function_.scope) return false;
    bool defined = inside_.file == at.file && (inside_.line < at.line || !function_.scope.empty());
    return defined || hasCall(lines, at.line, function_.name);
  }

  std::optional<std::string> persist(const Bytes& bytes) const {
    if (parameters_.size() == 2 && !pointeeOf(parameters_[0]).empty() &&
        parameters_[1].find_first_of("*&") == std::string::npos)
      return fmt::format("{}({}, {});", function_.name, bytes.address, bytes.size);
    if (parameters_.size() != 1) return std::nullopt;
    if (parameters_[0].find('&') != std::string::npos && !bytes.object.empty())
      return fmt::format("{}({});", function_.name, bytes.object);
    std::string pointee = pointeeOf(parameters_[0]);
    for (std::string_view word : {"const ", "struct ", "volatile ", "unsigned "})
      if (std::size_t at = pointee.find(word); at != std::string::npos) pointee.erase(at, word.size());
    // Of untyped memory it can only be the line.
    if ((pointee == "void" || pointee == "char") && !bytes.wide)
      return fmt::format("{}({});", function_.name, bytes.address);
    if (!pointee.empty() && pointee == bytes.type && !bytes.pointer.empty())
      return fmt::format("{}({});", function_.name, bytes.pointer);
    return std::nullopt;
  }
  std::optional<std::string> fence() const {
    return parameters_.empty() ? std::optional(fmt::format("{}();", function_.name)) : std::nullopt;
  }

 private:
  PersistCall(QualifiedName function, Frame inside, std::vector<std::string> parameters)
      : function_(std::move(function)), inside_(std::move(inside)), parameters_(std::move(parameters)) {}

  QualifiedName function_;
  Frame inside_;
  std::vector<std::string> parameters_;
};

class Writer {
 public:
  Writer(const Fix& fix, SourceFiles& sources)
      : fix_(fix),
        sources_(sources),
        persists_(PersistCall::of(fix.persists, sources)),
        fencing_(PersistCall::of(fix.fencing, sources)) {}

  // Lines to insert, by file and by the line that they follow; none: it can't be told how.
  using Insertions = std::map<std::string, std::map<std::uint32_t, std::vector<std::string>>>;
  std::optional<Insertions> write() {
    if (fix_.at.empty()) return std::nullopt;
    for (const Frame& at : fix_.at) {
      const SourceLines* lines = sources_.linesOf(at.file);
      if (lines == nullptr || at.line == 0 || at.line > lines->size()) return std::nullopt;
      auto stored = storedTo((*lines)[at.line - 1], at.column);
      std::size_t from = stored ? stored->from : startOf((*lines)[at.line - 1]);
      // Of a flush that a fence is missing after, only the statement matters.
      if (!stored && fix_.where != Fix::Where::AfterFlush) return std::nullopt;
      if (!beginsStatement(*lines, at.line, from)) return std::nullopt;
      bool before = fix_.where == Fix::Where::Before;
      auto behind = before ? std::optional(at.line - 1) : endOfStatement(*lines, at.line, from);
      auto text = statement(at, *lines);
      if (!behind || !text) return std::nullopt;
      const std::string& line = (*lines)[at.line - 1];
      insertions_[at.file][*behind].push_back(line.substr(0, startOf(line)) + *text);
    }
    return insertions_;
  }

 private:
  static std::size_t startOf(const std::string& line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

  std::optional<std::string> statement(const Frame& at, const SourceLines& lines) {
    if (fix_.stores.empty()) {
      if (fencing_ && fencing_->visibleAt(at, lines))
        if (auto call = fencing_->fence()) return call;
      return "__asm__ volatile(\"sfence\" ::: \"memory\");";
    }
    if (!persists_ || !persists_->visibleAt(at, lines)) return std::nullopt;
    std::optional<Bytes> bytes = fix_.where == Fix::Where::Before ? allOf(at) : bytesAt(at);
    return bytes ? persists_->persist(*bytes) : std::nullopt;
  }

  // What the store in this very line stores to.
  std::optional<Bytes> bytesAt(const Frame& at) {
    for (const Fix::Store& store : fix_.stores)
      if (store.at.file == at.file && store.at.line == at.line && store.at.column == at.column)
        return bytesOf(store, false);
    return std::nullopt;
  }

  // What all of the stores, earlier in the same block, store to: one object, or several of one struct.
  std::optional<Bytes> allOf(const Frame& at) {
    const SourceLines* lines = sources_.linesOf(at.file);
    std::map<std::string, Bytes> objects;
    for (const Fix::Store& store : fix_.stores) {
      if (store.at.file != at.file || store.at.function != at.function || store.at.line >= at.line ||
          !inSameBlock(*lines, store.at.line, at.line))
        return std::nullopt;
      auto bytes = bytesOf(store, true);
      if (!bytes) return std::nullopt;
      objects.try_emplace(bytes->address, std::move(*bytes));
    }
    if (objects.empty()) return std::nullopt;
    Bytes one = objects.begin()->second;
    if (objects.size() == 1) return one;
    for (const auto& [address, bytes] : objects)
      if (bytes.pointer.empty() || bytes.pointer != one.pointer || bytes.type != one.type) return std::nullopt;
    return Bytes{"*" + one.pointer, one.pointer, fmt::format("sizeof(*{})", one.pointer), one.pointer, one.type, true};
  }

  // `outside`: of the loop that it may stand in, so an element becomes its array.
  std::optional<Bytes> bytesOf(const Fix::Store& store, bool outside) {
    const SourceLines* lines = sources_.linesOf(store.at.file);
    if (lines == nullptr || store.at.line == 0 || store.at.line > lines->size()) return std::nullopt;
    const std::string& line = (*lines)[store.at.line - 1];
    auto stored = storedTo(line, store.at.column);
    if (!stored) return std::nullopt;
    FieldName field = fieldName(store.type);
    Bytes bytes;
    bytes.type = field.structName.substr(field.structName.rfind(':') + 1);
    if (stored->pointer) {
      // Its size is not to be seen in the text unless it is given.
      if (stored->size.empty()) return std::nullopt;
      bytes.address = stored->expression;
      bytes.size = stored->size;
      bytes.wide = true;
      return outside && line.find("for") != std::string::npos ? std::nullopt : std::optional(bytes);
    }
    std::string object = stored->expression;
    if (outside && object.ends_with(']')) {
      // Of what is reached by a pointer the size is not known: only an array inside its struct has one.
      std::string array = arrayOf(object);
      bool inside = field.element && (array.ends_with("->" + field.field) || array.ends_with("." + field.field));
      if (!inside || array.find('[') != std::string::npos) return std::nullopt;
      object = array;
      bytes.wide = true;
    }
    bytes.object = object;
    bytes.address = addressOf(object);
    bytes.size = fmt::format("sizeof({})", object);
    bytes.pointer = pointerOf(object);
    bytes.wide |= store.size == 0 || store.size > 8;
    return bytes;
  }

  const Fix& fix_;
  SourceFiles& sources_;
  std::optional<PersistCall> persists_, fencing_;
  Insertions insertions_;
};

// Lines that are inserted, with three of the source around them.
std::string hunksOf(const SourceLines& lines, const std::map<std::uint32_t, std::vector<std::string>>& inserted) {
  constexpr std::uint32_t kContext = 3;
  std::string out;
  auto last = static_cast<std::uint32_t>(lines.size());
  std::int64_t shift = 0;
  for (auto it = inserted.begin(); it != inserted.end();) {
    std::uint32_t from = it->first >= kContext ? it->first - kContext + 1 : 1;
    auto end = it;
    std::uint32_t to = std::min(it->first + kContext, last);
    std::int64_t added = 0;
    for (; end != inserted.end() && end->first <= to + kContext; ++end) {
      to = std::min(end->first + kContext, last);
      added += static_cast<std::int64_t>(end->second.size());
    }
    std::int64_t count = std::int64_t{to} - from + 1;
    out += fmt::format("@@ -{},{} +{},{} @@\n", from, count, std::int64_t{from} + shift, count + added);
    auto insertAt = [&](std::uint32_t n) {
      if (auto at = inserted.find(n); at != inserted.end())
        for (const std::string& text : at->second) out += "+" + text + "\n";
    };
    if (from == 1) insertAt(0);
    for (std::uint32_t n = from; n <= to; ++n) {
      out += " " + lines[n - 1] + "\n";
      insertAt(n);
    }
    shift += added;
    it = end;
  }
  return out;
}

}  // namespace

std::optional<Patch> patchOf(const Finding& finding, SourceFiles& sources, const std::string& root) {
  for (const Fix& fix : finding.fixes) {
    auto insertions = Writer(fix, sources).write();
    if (!insertions) continue;
    std::string diff;
    for (const auto& [file, inserted] : *insertions) {
      std::string_view path = belowRoot(file, root);
      std::string_view a = path.starts_with('/') ? "" : "a/", b = path.starts_with('/') ? "" : "b/";
      // A name with a line break in it would be another line of the diff.
      if (path.find_first_of("\n\r\t") != std::string_view::npos) return std::nullopt;
      diff += fmt::format("--- {}{}\n+++ {}{}\n", a, path, b, path) + hunksOf(*sources.linesOf(file), inserted);
    }
    return Patch{std::move(diff), &fix};
  }
  return std::nullopt;
}

std::string describe(const Fix& fix) {
  std::string places;
  std::set<std::string> known;
  for (const Frame& at : fix.at)
    if (known.insert(lineText(at)).second) places += (places.empty() ? "" : ", ") + lineText(at);
  switch (fix.where) {
    case Fix::Where::AfterStore:
      return fmt::format("a flush and a fence after {}", places);
    case Fix::Where::Before: {
      if (fix.stores.empty()) return fmt::format("a fence before {}", places);
      std::string stores;
      known.clear();
      for (const Fix::Store& s : fix.stores)
        if (known.insert(lineText(s.at)).second) stores += (stores.empty() ? "" : ", ") + lineText(s.at);
      return fmt::format("a flush of what is stored at {}, and a fence, before {}", stores, places);
    }
    case Fix::Where::AfterFlush:
      return fmt::format("a fence after {}", places);
  }
  return {};
}

std::string triedText(const Fix& fix) {
  std::string cost = fix.flushes == 0 ? std::string() : counted(fix.flushes, "flush") + " and ";
  return fmt::format(
      "Tried in the simulation, on everything that was explored: with {} {} can't come about any more; the recorded "
      "run "
      "gets {}{} more.",
      describe(fix),
      fix.states == 1 ? "the crash state of this finding"
                      : fmt::format("all {} crash states of this finding", grouped(fix.states)),
      cost, counted(fix.fences, "fence"));
}

}  // namespace blackout
