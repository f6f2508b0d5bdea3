#include "report/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

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
  bool visibleAt(const Frame& at, const SourceLines& lines, SourceFiles& sources) const {
    QualifiedName caller = qualifiedName(at.function);
    if (!function_.scope.empty() && caller.scope != function_.scope) return false;
    bool defined = inside_.file == at.file && (inside_.line < at.line || !function_.scope.empty());
    return defined || hasCall(lines, at.line, function_.name) || includes(at.file, lines, at.line, sources, 0);
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

  // Whether a file includes, above a line, the one that the function is defined in; or one that does.
  bool includes(const std::string& file, const SourceLines& lines, std::uint32_t above, SourceFiles& sources,
                int depth) const {
    constexpr int kMost = 4;
    if (depth == kMost) return false;
    for (const std::string& name : includesAbove(lines, above)) {
      if (inside_.file.ends_with("/" + name)) return true;
      std::string beside = (std::filesystem::path(file).parent_path() / name).lexically_normal().string();
      const SourceLines* more = sources.linesOf(beside);
      if (more != nullptr && includes(beside, *more, static_cast<std::uint32_t>(more->size() + 1), sources, depth + 1))
        return true;
    }
    return false;
  }

  QualifiedName function_;
  Frame inside_;
  std::vector<std::string> parameters_;
};

// What becomes of one file: lines that are added behind others, and what is put into lines.
struct Edits {
  std::map<std::uint32_t, std::vector<std::string>> added;  // 0: before the first
  std::map<std::uint32_t, std::string> changed;
  std::set<std::uint32_t> removed;
};

class Writer {
 public:
  Writer(const Fix& fix, SourceFiles& sources)
      : fix_(fix),
        sources_(sources),
        persists_(PersistCall::of(fix.persists, sources)),
        fencing_(PersistCall::of(fix.fencing, sources)),
        logging_(PersistCall::of(fix.logging, sources)) {}

  // By file; none: it can't be told how.
  using Changes = std::map<std::string, Edits>;
  std::optional<Changes> write() {
    if (fix_.at.empty()) return std::nullopt;
    Changes changes;
    if (fix_.where == Fix::Where::Remove) {
      for (const Frame& at : fix_.at) {
        const SourceLines* lines = sources_.linesOf(at.file);
        auto last = lines == nullptr ? std::nullopt : plainCallAt(*lines, at.line);
        if (!last) return std::nullopt;
        for (std::uint32_t n = at.line; n <= *last; ++n) changes[at.file].removed.insert(n);
      }
      return changes;
    }
    // From the right to the left: what is put into a line moves what is behind it.
    std::vector<Frame> places = fix_.at;
    std::sort(places.begin(), places.end(), [](const Frame& a, const Frame& b) {
      return std::tuple(a.file, b.line, b.column) < std::tuple(b.file, a.line, a.column);
    });
    for (const Frame& at : places) {
      const SourceLines* lines = sources_.linesOf(at.file);
      if (lines == nullptr || at.line == 0 || at.line > lines->size()) return std::nullopt;
      const std::string& line = (*lines)[at.line - 1];
      auto stored = storedTo(line, at.column);
      std::size_t from = stored ? stored->from : startOf(line);
      // Of a flush that a fence is missing after, only the statement matters.
      if (!stored && fix_.where != Fix::Where::AfterFlush) return std::nullopt;
      auto place = statementAt(*lines, at.line, from);
      auto text = statement(at, *lines);
      if (!place || !text) return std::nullopt;
      bool before = fix_.where == Fix::Where::Before || fix_.where == Fix::Where::Log;
      Edits& edits = changes[at.file];
      if (place->alone()) {
        auto& added = edits.added[before ? at.line - 1 : place->last];
        added.insert(added.begin(), line.substr(0, startOf(line)) + *text);
        continue;
      }
      // One that has the line with others, or is all that a loop has, gets it beside itself.
      if (place->last != at.line) return std::nullopt;
      std::string& changed = edits.changed.try_emplace(at.line, line).first->second;
      changed.insert(place->end, before ? (place->body ? " }" : "") : " " + *text + (place->body ? " }" : ""));
      changed.insert(from, (place->body ? "{ " : "") + (before ? *text + " " : std::string()));
    }
    return changes;
  }

 private:
  static std::size_t startOf(const std::string& line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

  std::optional<std::string> statement(const Frame& at, const SourceLines& lines) {
    if (fix_.stores.empty()) {
      if (fencing_ && fencing_->visibleAt(at, lines, sources_))
        if (auto call = fencing_->fence()) return call;
      return "__asm__ volatile(\"sfence\" ::: \"memory\");";
    }
    if (fix_.where == Fix::Where::Log) return logged(at, lines);
    if (!persists_ || !persists_->visibleAt(at, lines, sources_)) return std::nullopt;
    std::optional<Bytes> bytes = fix_.where == Fix::Where::Before ? allOf(at) : bytesAt(at);
    return bytes ? persists_->persist(*bytes) : std::nullopt;
  }

  std::optional<std::string> logged(const Frame& at, const SourceLines& lines) {
    auto bytes = bytesAt(at);
    if (!bytes) return std::nullopt;
    if (logging_ && logging_->visibleAt(at, lines, sources_)) return logging_->persist(*bytes);
    // The library's header is there if anything of it is called in the file.
    constexpr std::array kOfTheLibrary = {"TX_BEGIN",
                                          "TX_ADD",
                                          "TX_ADD_FIELD",
                                          "TX_ADD_DIRECT",
                                          "pmemobj_tx_begin",
                                          "pmemobj_tx_add_range",
                                          "pmemobj_tx_add_range_direct"};
    auto last = static_cast<std::uint32_t>(lines.size());
    if (!fix_.libpmemobj || std::none_of(kOfTheLibrary.begin(), kOfTheLibrary.end(),
                                         [&](const char* name) { return hasCall(lines, last, name); }))
      return std::nullopt;
    return fmt::format("pmemobj_tx_add_range_direct({}, {});", bytes->address, bytes->size);
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
  std::optional<PersistCall> persists_, fencing_, logging_;
};

// A file's name as `patch` reads it: up to a tab where it has spaces, in quotes where it has worse.
std::string nameInDiff(std::string_view prefix, std::string_view path) {
  std::string name = std::string(prefix) + std::string(path);
  auto bad = [](unsigned char c) { return c < ' ' || c == 0x7f || c == '"' || c == '\\'; };
  if (std::none_of(name.begin(), name.end(), bad)) return name + (name.find(' ') == std::string::npos ? "" : "\t");
  std::string quoted = "\"";
  for (char c : name) {
    if (!bad(static_cast<unsigned char>(c)))
      quoted += c;
    else if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

// The lines that change, with three of the source around them.
std::string hunksOf(const SourceLines& lines, const Edits& edits) {
  constexpr std::uint32_t kContext = 3;
  std::string out;
  auto last = static_cast<std::uint32_t>(lines.size());
  std::set<std::uint32_t> touched;
  for (const auto& [n, text] : edits.added) touched.insert(n);
  for (const auto& [n, text] : edits.changed) touched.insert(n);
  touched.insert(edits.removed.begin(), edits.removed.end());
  std::int64_t shift = 0;
  for (auto it = touched.begin(); it != touched.end();) {
    // What is only added comes behind its line.
    bool inLine = edits.changed.contains(*it) || edits.removed.contains(*it);
    std::uint32_t ahead = inLine ? kContext : kContext - 1;
    std::uint32_t from = *it > ahead ? *it - ahead : 1;
    std::uint32_t to = std::min(*it + kContext, last);
    for (; it != touched.end() && *it <= to + kContext; ++it) to = std::min(*it + kContext, last);
    std::int64_t added = 0;
    std::string body;
    auto add = [&](std::uint32_t n) {
      auto at = edits.added.find(n);
      if (at == edits.added.end()) return;
      for (const std::string& text : at->second) body += "+" + text + "\n";
      added += static_cast<std::int64_t>(at->second.size());
    };
    if (from == 1) add(0);
    for (std::uint32_t n = from; n <= to; ++n) {
      auto changed = edits.changed.find(n);
      bool removed = edits.removed.contains(n);
      added -= removed ? 1 : 0;
      body += (changed == edits.changed.end() && !removed ? " " : "-") + lines[n - 1] + "\n";
      if (changed != edits.changed.end()) body += "+" + changed->second + "\n";
      add(n);
    }
    std::int64_t count = std::int64_t{to} - from + 1;
    out += fmt::format("@@ -{},{} +{},{} @@\n", from, count, std::int64_t{from} + shift, count + added) + body;
    shift += added;
  }
  return out;
}

}  // namespace

std::optional<Patch> patchOf(const Finding& finding, SourceFiles& sources, const std::string& root) {
  for (const Fix& fix : finding.fixes) {
    auto changes = Writer(fix, sources).write();
    if (!changes) continue;
    std::string diff;
    for (const auto& [file, edits] : *changes) {
      std::string_view path = belowRoot(file, root);
      std::string_view a = path.starts_with('/') ? "" : "a/", b = path.starts_with('/') ? "" : "b/";
      diff += fmt::format("--- {}\n+++ {}\n", nameInDiff(a, path), nameInDiff(b, path)) +
              hunksOf(*sources.linesOf(file), edits);
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
    case Fix::Where::Log:
      return fmt::format("what is stored at {} added to its transaction first", places);
    case Fix::Where::Remove:
      return fmt::format("{} taken out", places);
  }
  return {};
}

std::string triedText(const Fix& fix) {
  std::string states = fix.states == 1 ? "the crash state of this finding"
                                       : fmt::format("all {} crash states of this finding", grouped(fix.states));
  if (fix.where == Fix::Where::Log)
    return fmt::format(
        "Tried on everything that was explored: with {}, {} would end well or can't come about any more; the recorded "
        "run logs {} more.",
        describe(fix), states, counted(fix.ranges, "range"));
  if (fix.where == Fix::Where::Remove) {
    std::string saved = fix.flushes == 0 ? std::string() : counted(fix.flushes, "flush");
    if (fix.fences != 0) saved += (saved.empty() ? "" : " and ") + counted(fix.fences, "fence");
    return fmt::format(
        "Tried in the simulation: with {}, each store of the recorded run is guaranteed from the same moment on, so a "
        "crash leaves nothing else; it saves {}. A run with other input may need them.",
        describe(fix), saved);
  }
  std::string cost = fix.flushes == 0 ? std::string() : counted(fix.flushes, "flush") + " and ";
  return fmt::format(
      "Tried in the simulation, on everything that was explored: with {} {} can't come about any more; the recorded "
      "run gets {}{} more.",
      describe(fix), states, cost, counted(fix.fences, "fence"));
}

}  // namespace blackout
