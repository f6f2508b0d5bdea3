#include "mechanisms/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace blackout {

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;
constexpr std::size_t kMostMechanisms = 256;
constexpr std::size_t kMostItems = 4096;

const std::vector<std::string> kJournalKeys{"kind",  "head",   "tail",     "area",
                                            "entry", "commit", "in_place", "preallocated"};
const std::vector<std::string> kLogKeys{"tail", "area", "entry", "unit", "link"};
const std::vector<std::string> kReplicaKeys{"copies", "size", "checksum", "majority"};
const std::vector<std::string> kCowKeys{"pointer", "target", "size", "links"};
const std::vector<std::string> kFamilies{"journal", "log", "replica", "cow", "struct"};

// Reads one table. The first thing that is wrong is kept, and everything after it is not looked at.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name) : table_(table), name_(std::move(name)) {}

  void knows(const std::vector<std::string>& keys) {
    for (const auto& [key, value] : table_)
      if (std::find(keys.begin(), keys.end(), std::string(key.str())) == keys.end()) {
        std::string near = nearestName(key.str(), keys);
        wrong(fmt::format("there is no '{}'{}", key.str(),
                          near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)));
      }
  }
  bool has(std::string_view key) const { return table_.contains(key); }

  std::optional<std::string> text(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return std::nullopt;
    if (auto value = node->value_exact<std::string>()) return value;
    if (auto number = node->value_exact<std::int64_t>(); number && *number >= 0) return std::to_string(*number);
    wrong(fmt::format("{} is a text or a number", key));
    return std::nullopt;
  }
  std::optional<Expression> expression(std::string_view key) {
    auto written = text(key);
    if (!written) return std::nullopt;
    return parsed(key, *written);
  }
  std::optional<FieldRef> field(std::string_view key) {
    auto written = text(key);
    if (!written) return std::nullopt;
    return fieldOf(key, *written);
  }
  bool flag(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return false;
    if (auto value = node->value_exact<bool>()) return *value;
    wrong(fmt::format("{} is true or false", key));
    return false;
  }
  std::optional<std::uint64_t> number(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return std::nullopt;
    if (auto value = node->value_exact<std::int64_t>(); value && *value >= 0) return static_cast<std::uint64_t>(*value);
    wrong(fmt::format("{} is a number", key));
    return std::nullopt;
  }
  // A text, or several.
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> out;
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return out;
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      if (auto one = text(key)) out.push_back(*one);
      return out;
    }
    for (const toml::node& item : *list) {
      auto value = item.value_exact<std::string>();
      if (!value || out.size() >= kMostItems) {
        wrong(fmt::format("{} is a list of texts, at most {}", key, kMostItems));
        return {};
      }
      out.push_back(*value);
    }
    return out;
  }
  std::vector<FieldRef> fields(std::string_view key) {
    std::vector<FieldRef> out;
    for (const std::string& written : texts(key))
      if (auto f = fieldOf(key, written)) out.push_back(std::move(*f));
    return out;
  }
  std::vector<Expression> expressions(std::string_view key) {
    std::vector<Expression> out;
    for (const std::string& written : texts(key))
      if (auto e = parsed(key, written)) out.push_back(std::move(*e));
    return out;
  }
  // A table inside this one; what is wrong in it is wrong here.
  template <class Read>
  void inside(std::string_view key, Read read) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) return wrong(fmt::format("{} is a table, as {} = {{ ... }}", key, key));
    TableReader reader(*table, fmt::format("{}.{}", name_, key));
    read(reader);
    if (reader.error_) error_ = reader.error_;
  }
  void needs(std::string_view key) {
    if (!has(key)) wrong(fmt::format("{} is missing", key));
  }
  void wrong(const std::string& what) {
    if (!error_) error_ = fmt::format("[{}]: {}", name_, what);
  }
  const std::optional<std::string>& error() const { return error_; }

 private:
  std::optional<Expression> parsed(std::string_view key, const std::string& written) {
    auto e = Expression::parse(written);
    if (e) return std::move(*e);
    wrong(fmt::format("{} = {}", key, e.error().sentence));
    return std::nullopt;
  }
  std::optional<FieldRef> fieldOf(std::string_view key, const std::string& written) {
    auto e = Expression::parse(written.find('.') == std::string::npos ? "&" + written : written);
    if (!e || e->fields().size() != 1 || (e->onlyField() == nullptr && !e->fields()[0].path.empty())) {
      wrong(fmt::format("{} = \"{}\": it is a field, as struct.field, or a struct", key, written.substr(0, 200)));
      return std::nullopt;
    }
    return e->fields()[0];
  }

  const toml::table& table_;
  std::string name_;
  std::optional<std::string> error_;
};

void readEntry(TableReader& t, EntryDescription& entry) {
  t.inside("entry", [&](TableReader& e) {
    e.knows({"struct", "target", "size", "data", "length", "transaction"});
    entry.type = e.field("struct");
    entry.target = e.expression("target");
    entry.size = e.expression("size");
    entry.data = e.field("data");
    entry.length = e.expression("length");
    entry.transaction = e.expression("transaction");
    if (entry.target && !entry.size) e.wrong("a target has a size");
    if (entry.data && !entry.target) e.wrong("data is of a target");
  });
}

void readArea(TableReader& t, std::optional<AreaDescription>& area) {
  t.inside("area", [&](TableReader& a) {
    a.knows({"at", "size"});
    a.needs("at");
    a.needs("size");
    auto at = a.expression("at");
    auto size = a.expression("size");
    if (at && size) area = {std::move(*at), std::move(*size)};
  });
}

MechanismDescription journal(TableReader& t, std::string_view name) {
  MechanismDescription m;
  t.knows(kJournalKeys);
  std::string kind = t.text("kind").value_or(std::string(name));
  if (kind != "undo" && kind != "redo") t.wrong("kind is \"undo\" or \"redo\"");
  m.kind = kind == "undo" ? MechanismKind::Undo : MechanismKind::Redo;
  m.head = t.expression("head");
  m.tail = t.expression("tail");
  readArea(t, m.area);
  readEntry(t, m.entry);
  m.inPlace = t.fields("in_place");
  m.preallocated = t.flag("preallocated");
  t.inside("commit", [&](TableReader& c) {
    c.knows({"field", "record", "value", "generation", "checksum"});
    CommitDescription commit;
    commit.checksum = c.has("checksum");
    commit.record = c.has("record");
    if (int(commit.checksum) + int(commit.record) + int(c.has("field")) != 1)
      c.wrong("a field, a record, or a checksum of the entry: one of them");
    if (auto field = c.field(commit.checksum ? "checksum" : commit.record ? "record" : "field"))
      commit.field = std::move(*field);
    if (commit.record && !c.has("value")) c.wrong("a record has a value that no other entry has");
    // One of the whole log, outside its entries, holds until it is cleared.
    bool ofEntry = commit.checksum && m.entry.type && commit.field.structName == m.entry.type->structName;
    if (ofEntry && !c.has("generation")) c.wrong("a checksum holds until the generation changes; it is missing");
    if (commit.checksum && !ofEntry && (c.has("generation") || c.has("value")))
      c.wrong("a checksum of the whole log holds until it is cleared; it has no value and no generation");
    commit.value = c.number("value");
    commit.generation = c.expression("generation");
    if (commit.value && commit.generation) c.wrong("value and generation: one of them");
    m.commit = std::move(commit);
  });
  if (!m.tail && !m.commit) t.wrong("tail is missing, or a commit field");
  if (!m.tail && (m.entry.transaction || (m.commit && m.commit->record)))
    t.wrong("entries of several transactions, and commit records, lie between a head and a tail; tail is missing");
  if (m.commit && m.commit->record && !m.entry.type)
    t.wrong("commit.record is a field of the entries; entry.struct is missing");
  if (m.commit && m.commit->record && m.entry.type && m.commit->field.structName != m.entry.type->structName)
    t.wrong("commit.record is a field of the entries, whose struct is another one");
  if (m.head && !m.tail) t.wrong("a head has a tail");
  if (!m.area) t.wrong("area is missing: where entries lie");
  if (m.preallocated && !m.tail) t.wrong("preallocated: space is allocated by a tail");
  if (!m.entry.target && m.inPlace.empty()) t.wrong("entry.target is missing, or in_place: what the entries are about");
  return m;
}

MechanismDescription logOf(TableReader& t) {
  MechanismDescription m;
  m.kind = MechanismKind::Log;
  t.knows(kLogKeys);
  t.needs("tail");
  m.tail = t.expression("tail");
  readArea(t, m.area);
  readEntry(t, m.entry);
  m.unit = t.number("unit").value_or(0);
  m.link = t.field("link");
  if (m.link && m.unit == 0) t.wrong("a link leads from one unit to the next; their size is missing (unit)");
  return m;
}

MechanismDescription replicas(TableReader& t) {
  MechanismDescription m;
  m.kind = MechanismKind::Replicas;
  t.knows(kReplicaKeys);
  m.copies = t.expressions("copies");
  if (m.copies.size() < 2) t.wrong("copies is a list of addresses, at least two, the primary first");
  t.needs("size");
  m.size = t.expression("size");
  m.checksum = t.field("checksum");
  m.majority = t.flag("majority");
  if (m.majority && m.copies.size() < 3) t.wrong("there is no majority of two copies");
  return m;
}

MechanismDescription copyOnWrite(TableReader& t) {
  MechanismDescription m;
  m.kind = MechanismKind::CopyOnWrite;
  t.knows(kCowKeys);
  t.needs("pointer");
  t.needs("size");
  m.pointer = t.field("pointer");
  if (m.pointer && m.pointer->path.empty()) t.wrong("pointer is a field, as struct.field");
  m.target = t.expression("target");
  m.size = t.expression("size");
  m.links = t.fields("links");
  return m;
}

DescribedStruct structOf(TableReader& t, const toml::table& table, const std::string& name) {
  DescribedStruct out;
  t.knows({"size", "at", "fields"});
  out.layout.name = name;
  t.needs("size");
  out.layout.size = t.number("size").value_or(0);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (out.layout.size == 0 || out.layout.size > kMost) t.wrong("size is a number of bytes");
  const toml::array* at = table["at"].as_array();
  if (table.contains("at") && at == nullptr) {
    if (auto one = t.number("at")) out.at.push_back(*one);
  } else if (at != nullptr) {
    for (const toml::node& item : *at) {
      auto value = item.value_exact<std::int64_t>();
      if (!value || *value < 0 || out.at.size() >= kMostItems)
        t.wrong(fmt::format("at is a list of offsets in the pool, at most {}", kMostItems));
      else
        out.at.push_back(static_cast<std::uint64_t>(*value));
    }
  }
  t.inside("fields", [&](TableReader& f) {
    for (const auto& [key, node] : *table["fields"].as_table()) {
      const toml::table* field = node.as_table();
      LayoutMember m;
      m.name = key.str();
      auto get = [&](std::string_view what, std::uint64_t otherwise) -> std::uint64_t {
        auto value = field == nullptr ? std::nullopt : (*field)[what].value_exact<std::int64_t>();
        return value && *value >= 0 ? static_cast<std::uint64_t>(*value) : otherwise;
      };
      m.offset = get("offset", UINT64_MAX);
      m.size = get("size", 0);
      m.array = field != nullptr && field->contains("count");
      m.count = get("count", 1);
      if (m.offset >= out.layout.size || m.size == 0 || m.size > out.layout.size || m.count == 0 ||
          m.count > out.layout.size / m.size || m.offset + m.size * m.count > out.layout.size)
        return f.wrong(fmt::format("{} = {{ offset = 0, size = 8 }}, inside the struct; with count = 4 it is an array",
                                   key.str()));
      if (out.layout.members.size() >= kMostItems) return f.wrong("too many fields");
      out.layout.members.push_back(std::move(m));
    }
  });
  std::stable_sort(out.layout.members.begin(), out.layout.members.end(),
                   [](const LayoutMember& a, const LayoutMember& b) { return a.offset < b.offset; });
  return out;
}

// The line of a character that no description needs: names are ASCII, and others are for comments. What else counts as
// the end of a line, or as space, is then no question.
std::optional<std::size_t> lineOfOddCharacter(std::string_view text) {
  std::size_t line = 1;
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    std::string_view rest = text.substr(i);
    bool lineEnd = rest.starts_with("\xc2\x85") || rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9");
    bool plain = c == '\t' || (c >= ' ' && c < 0x7f) || c == '\n' || rest.starts_with("\r\n") ||
                 (c >= 0x80 && comment && !lineEnd);
    if (!plain) return line;
    if (c == '#') comment = true;
    if (c == '\n') {
      comment = false;
      ++line;
    }
  }
  return std::nullopt;
}

// toml++ 3.3 takes for granted that a table's header begins with a name; the line where one does not, from 1.
std::optional<std::size_t> lineOfNamelessTable(std::string_view text) {
  auto isSpace = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view rest = text.substr(at, end - at);
    at = end + 1;
    auto skip = [&] {
      while (!rest.empty() && isSpace(rest.front())) rest.remove_prefix(1);
    };
    skip();
    bool header = false;
    for (int i = 0; i < 2 && rest.starts_with('['); ++i) {
      header = true;
      rest.remove_prefix(1);
      skip();
    }
    if (!header) continue;
    char c = rest.empty() ? '\0' : rest.front();
    bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!name && c != '"' && c != '\'' && c != ']') return line;
  }
  return std::nullopt;
}

}  // namespace

std::string_view nameOf(MechanismKind kind) {
  switch (kind) {
    case MechanismKind::Undo:
      return "undo journal";
    case MechanismKind::Redo:
      return "redo journal";
    case MechanismKind::Log:
      return "log";
    case MechanismKind::Replicas:
      return "replicas";
    case MechanismKind::CopyOnWrite:
      return "copy-on-write";
  }
  return {};
}

Result<Description> Description::parse(std::string_view text, const std::string& name) {
  if (text.size() > kLargest) return fail(fmt::format("{}: a description has at most {} bytes", name, kLargest));
  if (auto line = lineOfOddCharacter(text))
    return fail(fmt::format("{}:{}: a description is ASCII; other characters are for comments", name, *line));
  if (auto line = lineOfNamelessTable(text))
    return fail(fmt::format("{}:{}: a table has a name, as [journal.undo]", name, *line));
  toml::parse_result document = toml::parse(text);
  if (!document)
    return fail(fmt::format("{}:{}: {}", name, document.error().source().begin.line,
                            std::string(document.error().description())));
  Description out;
  for (const auto& [familyKey, families] : document.table()) {
    std::string family(familyKey.str());
    if (std::find(kFamilies.begin(), kFamilies.end(), family) == kFamilies.end()) {
      std::string near = nearestName(family, kFamilies);
      return fail(
          fmt::format("{}: there is no [{}.NAME]; a description has [journal.NAME], [log.NAME], [replica.NAME], "
                      "[cow.NAME] and [struct.NAME]{}",
                      name, family, near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
    }
    const toml::table* tables = families.as_table();
    if (tables == nullptr) return fail(fmt::format("{}: {} is a table with a name, as [{}.one]", name, family, family));
    for (const auto& [key, node] : *tables) {
      std::string own = fmt::format("{}.{}", family, key.str());
      const toml::table* table = node.as_table();
      if (table == nullptr)
        return fail(fmt::format("{}: [{}] needs a name of its own, as [{}.one]", name, family, family));
      TableReader reader(*table, own);
      if (family == "struct") {
        out.structs.push_back(structOf(reader, *table, std::string(key.str())));
      } else {
        MechanismDescription m = family == "journal"   ? journal(reader, key.str())
                                 : family == "log"     ? logOf(reader)
                                 : family == "replica" ? replicas(reader)
                                                       : copyOnWrite(reader);
        m.name = own;
        out.mechanisms.push_back(std::move(m));
      }
      if (reader.error()) return fail(fmt::format("{}: {}", name, *reader.error()));
      if (out.mechanisms.size() + out.structs.size() > kMostMechanisms)
        return fail(fmt::format("{}: more than {} tables", name, kMostMechanisms));
    }
  }
  if (out.mechanisms.empty()) return fail(fmt::format("{}: it describes no mechanism", name));
  return out;
}

Result<Description> Description::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(fmt::format("{}: can't be read; name a description (TOML)", path));
  std::string text(kLargest + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return fail(fmt::format("{}: can't be read; name a description (TOML)", path));
  return parse(text, path);
}

Result<void> Description::bind(StructLayouts& layouts) {
  for (const DescribedStruct& s : structs) {
    if (layouts.find(s.layout.name) != kNoLayout || layouts.hasTwoShapes(s.layout.name))
      return fail(fmt::format("[struct.{}]: the program has a struct of that name; choose another", s.layout.name));
    layouts.add(s.layout);
  }
  for (MechanismDescription& m : mechanisms) {
    Result<void> result;
    auto one = [&](auto& what) {
      if (result) result = what.bind(layouts);
    };
    auto maybe = [&](auto& what) {
      if (what) one(*what);
    };
    auto field = [&](FieldRef& f) {
      if (result) result = bindField(f, layouts);
    };
    auto maybeField = [&](std::optional<FieldRef>& f) {
      if (f) field(*f);
    };
    maybe(m.head);
    maybe(m.tail);
    if (m.area) {
      one(m.area->at);
      one(m.area->size);
    }
    maybeField(m.entry.type);
    maybe(m.entry.target);
    maybe(m.entry.size);
    maybeField(m.entry.data);
    maybe(m.entry.length);
    maybe(m.entry.transaction);
    if (m.commit) {
      field(m.commit->field);
      maybe(m.commit->generation);
    }
    for (FieldRef& f : m.inPlace) field(f);
    maybeField(m.link);
    for (Expression& e : m.copies) one(e);
    maybe(m.size);
    maybeField(m.checksum);
    maybeField(m.pointer);
    maybe(m.target);
    for (FieldRef& f : m.links) field(f);
    if (!result) return fail(fmt::format("[{}]: {}", m.name, result.error().sentence));
  }
  return {};
}

}  // namespace blackout
