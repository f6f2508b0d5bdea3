#include "mechanisms/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "binary/typed_objects.h"
#include "events/trace.h"
#include "findings/numbers.h"
#include "mechanisms/world.h"

namespace blackout {

namespace {

constexpr std::size_t kNear = 24;             // stores between the parts of one entry
constexpr std::uint64_t kEntryReach = 256;    // bytes between them
constexpr std::size_t kMostStores = 200'000;  // that are looked at
constexpr std::size_t kMostArrays = 64;       // that numbers may be indices of
constexpr std::size_t kMostNumbers = 20'000;  // that are tried as such

// "pool.entry[].place" as struct and path, with what it lies in.
struct NamedField {
  std::string structName;
  std::string path;
  std::string text() const { return structName + "." + path; }
  // The array element or member that an entry is: "pool.entry[]"; for a struct with a name of its own that.
  std::string entryType() const {
    std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? structName : structName + "." + path.substr(0, dot);
  }
};

std::optional<NamedField> namedField(const std::string& type) {
  FieldName name = fieldName(type);
  if (name.field.empty()) return std::nullopt;
  return NamedField{name.structName, name.field + (name.element ? "[]" : "")};
}

std::string withoutElement(std::string path) {
  if (path.ends_with("[]")) path.resize(path.size() - 2);
  return path;
}

class Proposer {
 public:
  Proposer(const Index& index, const StructLayouts& layouts)
      : index_(index), trace_(index.trace()), layouts_(layouts), objects_(trace_, layouts) {}

  std::vector<Proposal> run() {
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n))
      if (isStore(trace_[n])) objects_.store(n);
    world_.emplace(index_, layouts_, objects_.lives());
    StoreNo next = 0;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      const Event& e = trace_[n];
      StoreNo s = kNoStore;
      if (isStore(e)) {
        s = next;
        if ((e.len & BLACKOUT_JOINED) == 0) ++next;
      }
      world_->event(n, s);
      if (s != kNoStore && rows_.size() < kMostStores && rows_.size() == s.value()) rows_.push_back(rowOf(n, s));
    }
    findArrays();
    journals();
    copiesOnWrite();
    numbered();
    replicas();
    logs();
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Proposal& a, const Proposal& b) { return a.support > b.support; });
    // Names that a store has and its struct does not, as an element of what is no array, make no description.
    StructLayouts names = layouts_;
    std::erase_if(out_, [&](const Proposal& p) {
      auto read = Description::parse(p.table, "proposal");
      return !read || !read->bind(names);
    });
    // Each table has a name of its own.
    std::map<std::string, unsigned> tables;
    for (Proposal& p : out_) {
      std::size_t end = p.table.find(']');
      if (unsigned before = tables[p.table.substr(0, end)]++; before != 0)
        p.table.insert(end, fmt::format("-{}", before + 1));
    }
    return std::move(out_);
  }

 private:
  struct Row {
    StoreNo store = kNoStore;
    PmRange range;
    std::string name;               // empty: unknown
    std::optional<PmAddr> pointer;  // what it leads to, if it is an address in a pool
    std::optional<StoreNo> operation;
    bool changes = false;
  };

  Row rowOf(EventNo n, StoreNo s) {
    Row row;
    row.store = s;
    row.range = world_->rangeOf(s);
    row.name = objects_.nameOf(n);
    if (row.range.size() == 8) {
      std::uint64_t value = trace_[n].value;
      auto to = value >= 64 ? world_->resolve(value, fileOf(row.range.begin)) : std::nullopt;
      if (to && *to % 8 == 0) row.pointer = to;
    }
    row.operation = world_->operationBegin(s);
    row.changes = world_->changes(s);
    return row;
  }
  bool inUse(const Row& r) const { return index_.operations().empty() || r.operation.has_value(); }
  std::size_t endOf(std::size_t i) const {
    auto end = world_->operationEnd(rows_[i].store);
    return end ? std::min<std::size_t>(end->value(), rows_.size()) : std::min(rows_.size(), i + 4096);
  }

  // The member of some struct that has elements (or is) of this type: where entries lie.
  std::string containerOf(const std::string& entryType) const {
    if (entryType.find('.') != std::string::npos) return withoutElement(entryType);
    LayoutNo entry = layouts_.find(entryType);
    for (const std::string& name : layouts_.names()) {
      LayoutNo outer = layouts_.find(name);
      if (outer == kNoLayout || outer == entry) continue;
      for (const LayoutMember& m : layouts_[outer].members)
        if (m.type == entry && m.array && !m.name.empty()) return name + "." + m.name;
    }
    return {};
  }

  // --- arrays, and numbers that stand for their elements ---

  struct Array {
    std::string name;  // "pool.at"
    PmRange range;
    std::uint64_t stride = 0;
    std::uint64_t count = 0;
    std::string element() const { return fmt::format("sizeof({}[0])", name); }
  };
  struct Element {
    std::size_t array = 0;
    std::uint64_t index = 0;
    bool operator==(const Element&) const = default;
  };

  // The largest first, so that an element is one of the outermost array.
  void findArrays() {
    std::set<std::pair<PmAddr, std::string>> seen;
    for (const ObjectLife& life : objects_.lives()) {
      const StructLayout& layout = layouts_[life.object.layout];
      for (const LayoutMember& m : layout.members) {
        if (!m.array || m.count < 2 || m.size < 8 || m.name.empty() || layout.name.empty()) continue;
        Array a{layout.name + "." + m.name, PmRange::at(life.object.base + m.offset, m.size * m.count), m.size,
                m.count};
        if (seen.size() < kMostArrays && seen.emplace(a.range.begin, a.name).second) arrays_.push_back(std::move(a));
      }
    }
    std::stable_sort(arrays_.begin(), arrays_.end(),
                     [](const Array& a, const Array& b) { return a.range.size() > b.range.size(); });
  }
  std::optional<Element> elementAt(PmRange range) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const Array& a = arrays_[i];
      if (range.begin < a.range.begin || range.end > a.range.end) continue;
      return Element{i, (range.begin - a.range.begin) / a.stride};
    }
    return std::nullopt;
  }
  std::uint64_t valueOf(const Row& r) const { return trace_[index_.stores()[r.store].event].value; }

  // Operations that fill one element of an array and then store a number from which it follows which one: the number
  // publishes it. Or that go on and change other things, and then store the same number elsewhere: what they filled
  // says what was to be done.
  void numbered() {
    struct Numbers {
      std::uint64_t same = 0, of = 0;
      std::set<std::uint64_t> indices;
      std::uint64_t last = UINT64_MAX;
      std::set<std::string> members;
    };
    std::map<std::pair<std::string, std::size_t>, Numbers> published, turns;
    std::map<std::tuple<std::string, std::string, std::size_t>, Numbers> executed;
    for (std::size_t i = 0; i < rows_.size();) {
      std::size_t end = endOf(i);
      if (!rows_[i].operation || end <= i + 1) {
        ++i;
        continue;
      }
      const Row& last = rows_[end - 1];
      auto element = elementAt(rows_[i].range);
      auto number = namedField(last.name);
      std::size_t begin = i;
      i = end;
      if (!element || !number || last.pointer || last.range.size() > 8) continue;
      const Array& array = arrays_[element->array];
      std::size_t filled = begin;
      std::set<std::string> members;
      for (; filled < end && elementAt(rows_[filled].range) == element && rows_[filled].name != last.name; ++filled)
        if (auto name = namedField(rows_[filled].name)) members.insert(withoutElement(name->text()));
      if (filled + 1 == end) {
        bool inside = elementAt(last.range) == element;
        Numbers& n = (inside ? turns : published)[{last.name, element->array}];
        ++n.of;
        n.same += inside ? element->index != n.last : element->index == valueOf(last) % array.count;
        n.last = element->index;
        n.indices.insert(element->index);
        n.members.merge(members);
        continue;
      }
      if (filled >= end || !namedField(rows_[filled].name) || rows_[filled].name == last.name) continue;
      Numbers& n = executed[{rows_[filled].name, last.name, element->array}];
      ++n.of;
      std::uint64_t value = valueOf(last);
      n.same += value != 0 && valueOf(rows_[filled]) == value && element->index == (value - 1) % array.count;
      n.indices.insert(element->index);
      for (std::size_t j = filled + 1; j + 1 < end; ++j)
        if (auto name = namedField(rows_[j].name))
          n.members.insert(name->structName + "." + name->path.substr(0, name->path.find_first_of(".[")));
    }
    auto add = [&](const Numbers& n, std::string table, std::string what) {
      if (n.indices.size() < 2 || 2 * n.same < n.of) return;
      Proposal p;
      p.table = std::move(table);
      p.what = std::move(what);
      p.support = n.same;
      p.of = n.of;
      if (n.same < n.of)
        p.against.push_back(fmt::format("{} filled another element.", counted(n.of - n.same, "operation")));
      out_.push_back(std::move(p));
    };
    auto lastPart = [](const std::string& name) {
      std::string bare = withoutElement(name);
      return bare.substr(bare.rfind('.') + 1);
    };
    for (const auto& [key, n] : published) {
      const Array& a = arrays_[key.second];
      add(n,
          fmt::format("[cow.{}]\npointer = \"{}\"\ntarget = \"&{} + {} % {} * {}\"\nsize = \"{}\"\n",
                      lastPart(key.first), key.first, a.name, key.first, a.count, a.element(), a.element()),
          "operations that fill an element of an array and then store a number from which it follows");
    }
    for (const auto& [key, n] : turns) {
      if (n.members.size() != 1) continue;
      const std::string& member = *n.members.begin();
      add(n,
          fmt::format("[cow.{}]\npointer = \"{}\"\ntarget = \"&{}\"\nsize = \"sizeof({})\"\n", lastPart(key.first),
                      key.first, member, member),
          "operations that fill another of several copies than the one before and then store its number");
    }
    for (const auto& [key, n] : executed) {
      const auto& [logged, done, number] = key;
      const Array& a = arrays_[number];
      if (n.members.empty()) continue;
      std::string members;
      for (const std::string& m : n.members) members += fmt::format("{}\"{}\"", members.empty() ? "" : ", ", m);
      add(n,
          fmt::format("[journal.{}]\nkind = \"redo\"\nhead = \"{} % {} * {} + &{}\"\ntail = \"{} % {} * {} + &{}\"\n"
                      "area = {{ at = \"&{}\", size = \"sizeof({})\" }}\nentry = {{ struct = \"{}[]\" }}\n"
                      "in_place = [{}]\n",
                      lastPart(logged), done, a.count, a.stride, a.name, logged, a.count, a.stride, a.name, a.name,
                      a.name, a.name, members),
          "operations that fill an element, store a number, change what is listed and store the number elsewhere");
    }
  }

  // --- journals ---

  struct Guess {
    NamedField target, data, size;
    std::string address;  // of what is written in place, as an expression
    bool hasSize = false;
    std::uint64_t fixedSize = 0;
    std::uint64_t entries = 0, undo = 0, redo = 0, writes = 0;
    std::map<std::string, std::uint64_t> switches;  // fields stored between an entry and its write in place
    std::map<std::string, std::uint64_t> counting;  // of them, with the number of entries so far
    std::set<std::string> written;                  // in place
    std::map<std::string, std::uint64_t> tails,
        heads;                                    // fields stored before the entries and after what they are about
    std::map<std::string, std::uint64_t> single;  // with a value that is not the number of entries
  };

  void journals() {
    std::map<std::pair<std::string, std::string>, Guess> guesses;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& p = rows_[i];
      if (!inUse(p)) continue;
      auto target = namedField(p.name);
      if (!target || target->path.ends_with("[]")) continue;
      if (p.pointer) {
        guess(guesses, i, *target, *p.pointer, target->text());
        continue;
      }
      if (!p.operation || p.range.size() > 8 || ++numbers > kMostNumbers) continue;
      for (const Array& a : arrays_) {
        std::uint64_t index = valueOf(p);
        if (index >= a.count || a.range.overlaps(p.range)) continue;
        guess(guesses, i, *target, a.range.begin + index * a.stride,
              fmt::format("&{} + {} * {}", a.name, target->text(), a.element()));
      }
    }
    for (auto& [key, g] : guesses) propose(g);
  }

  // A store of what may be an entry's address, or stands for one.
  void guess(std::map<std::pair<std::string, std::string>, Guess>& guesses, std::size_t i, const NamedField& target,
             PmAddr address, const std::string& text) {
    const Row& p = rows_[i];
    // What is stored beside the address: the data, and its size.
    std::size_t end = std::min(endOf(i), i + kNear);
    std::map<std::string, PmRange> beside;
    std::map<std::string, std::size_t> last;
    for (std::size_t j = i + 1; j < end; ++j) {
      const Row& d = rows_[j];
      if (d.name == p.name && (d.pointer || !p.pointer)) break;
      if (d.range.begin < p.range.end || d.range.begin - p.range.begin > kEntryReach) continue;
      std::string name = d.name.empty() ? std::string() : d.name;
      // A struct that is stored whole has its own name; it lies in a field of the entry.
      if (auto object = enclosing(target, p.range.begin)) {
        name = structAt(target, *object, d.range.begin);
        if (name.empty()) name = layouts_.nameAt(object->layout, d.range.begin - object->base, 1);
      }
      if (name.empty() || name == p.name) continue;
      auto [it, fresh] = beside.try_emplace(name, d.range);
      if (!fresh) it->second.end = std::max(it->second.end, d.range.end);
      last[name] = j;
    }
    for (const auto& [name, range] : beside) {
      auto data = namedField(name);
      if (!data || data->structName != target.structName) continue;
      std::uint64_t undo = 0, redo = 0, writes = 0;
      std::size_t firstWrite = 0, lastWrite = 0;
      std::set<std::string> written;
      for (std::size_t j = last[name] + 1; j < endOf(i); ++j) {
        const Row& w = rows_[j];
        PmRange to = PmRange::at(address, range.size());
        if (!w.changes || w.range.begin < to.begin || w.range.end > to.end) continue;
        // That bytes are 0 here and there says nothing of a number.
        if (!p.pointer && (isZero(w, true) || isZero(w, false))) continue;
        ++writes;
        if (firstWrite == 0) firstWrite = j;
        lastWrite = j;
        written.insert(w.name);
        undo += equals(w, range.begin + (w.range.begin - to.begin), last[name], true) ? 1 : 0;
        redo += equals(w, range.begin + (w.range.begin - to.begin), last[name], false) ? 1 : 0;
      }
      if (undo == 0 && redo == 0) continue;
      Guess& g = guesses[{text, name}];
      g.target = target;
      g.address = text;
      g.data = *data;
      ++g.entries;
      g.undo += undo;
      g.redo += redo;
      g.writes += writes;
      g.fixedSize = std::max(g.fixedSize, range.size());
      findSize(g, i, end, range.size());
      g.written.merge(written);
      findSwitches(g, i, last[name], firstWrite);
      findRing(g, i, lastWrite);
    }
  }
  bool isZero(const Row& r, bool old) const {
    std::byte bytes[16]{};
    std::span<std::byte> held = std::span(bytes).first(std::min<std::size_t>(r.range.size(), 16));
    old ? world_->before(r.store, held) : world_->after(r.store, held);
    return std::all_of(held.begin(), held.end(), [](std::byte b) { return b == std::byte{0}; });
  }

  // The member of the entry around the field which is a struct of its own type and has the byte; empty: there is none.
  std::string structAt(const NamedField& field, const TypedObject& object, PmAddr at) const {
    LayoutNo in = object.layout;
    if (at < object.base) return {};
    std::uint64_t offset = at - object.base;
    std::string prefix = field.structName + ".";
    if (std::size_t dot = field.path.rfind('.'); dot != std::string::npos) {
      std::string outer = field.path.substr(0, dot);
      auto place = layouts_.field(in, outer);
      if (!place || place->type == kNoLayout) return {};
      std::uint64_t begin = place->stride != 0 ? place->array : place->offset;
      if (offset < begin) return {};
      offset -= begin;
      if (place->stride != 0)
        offset %= place->stride;
      else if (offset >= place->size)
        return {};
      in = place->type;
      prefix += outer + ".";
    }
    for (const LayoutMember& m : layouts_[in].members)
      if (m.type != kNoLayout && !m.array && !m.name.empty() && m.offset <= offset && offset < m.end())
        return prefix + m.name;
    return {};
  }

  std::optional<TypedObject> enclosing(const NamedField& field, PmAddr at) const {
    LayoutNo layout = layouts_.find(field.structName);
    for (const ObjectLife& life : objects_.lives())
      if (life.object.layout == layout && at >= life.object.base && at < life.object.base + layouts_[layout].size)
        return life.object;
    return std::nullopt;
  }

  // Whether the bytes that the entry had at the address when its last part (row `at`) was stored are the write's old,
  // or new, ones.
  bool equals(const Row& write, PmAddr entry, std::size_t at, bool old) const {
    std::byte bytes[16], wanted[16];
    std::size_t size = std::min<std::size_t>(write.range.size(), 16);
    old ? world_->before(write.store, std::span(wanted).first(size))
        : world_->after(write.store, std::span(wanted).first(size));
    std::size_t known = 0;
    for (StoreNo s : world_->storesTo(PmRange::at(entry, size), 0, rows_[at].store + 1)) {
      PmRange r = world_->rangeOf(s);
      std::byte stored[16];
      world_->after(s, std::span(stored).first(std::min<std::size_t>(r.size(), 16)));
      for (PmAddr a = std::max(r.begin, entry); a < std::min(r.end, entry + size); ++a) {
        bytes[a - entry] = stored[a - r.begin];
        ++known;
      }
    }
    return known >= size && std::equal(bytes, bytes + size, wanted);
  }

  void findSize(Guess& g, std::size_t from, std::size_t to, std::uint64_t size) {
    for (std::size_t j = from + 1; j < to; ++j) {
      auto name = namedField(rows_[j].name);
      if (!name || name->structName != g.target.structName || name->text() == g.data.text()) continue;
      if (name->path.ends_with("[]") || rows_[j].range.size() > 8) continue;
      std::uint64_t value = trace_[index_.stores()[rows_[j].store].event].value;
      if (value != size) continue;
      g.size = *name;
      g.hasSize = true;
      return;
    }
  }

  // What is stored between an entry and the first write in place, and is no part of an entry.
  void findSwitches(Guess& g, std::size_t first, std::size_t last, std::size_t write) {
    std::size_t begin = rows_[first].operation ? rows_[first].operation->value() : (first > 256 ? first - 256 : 0);
    std::set<std::string> seen;
    for (std::size_t j = last + 1; j < write; ++j) {
      const Row& r = rows_[j];
      auto name = namedField(r.name);
      if (!name || r.range.size() > 8 || name->entryType() == g.target.entryType()) continue;
      if (!seen.insert(r.name).second) continue;
      ++g.switches[r.name];
      std::uint64_t value = trace_[index_.stores()[r.store].event].value;
      // The entries that are there by then.
      std::uint64_t now = 0;
      for (std::size_t k = begin; k < j; ++k) now += rows_[k].name == rows_[first].name ? 1 : 0;
      ++(value == now ? g.counting : g.single)[r.name];
    }
  }

  // Space is allocated before entries are written, and given back when all is done.
  void findRing(Guess& g, std::size_t entry, std::size_t lastWrite) {
    if (!rows_[entry].operation) return;
    for (std::size_t j = rows_[entry].operation->value(); j < entry; ++j)
      if (auto name = namedField(rows_[j].name); name && name->entryType() != g.target.entryType()) {
        ++g.tails[rows_[j].name];
        break;
      }
    for (std::size_t j = endOf(entry); j-- > lastWrite + 1;)
      if (namedField(rows_[j].name)) {
        ++g.heads[rows_[j].name];
        break;
      }
  }

  static std::string mostOf(const std::map<std::string, std::uint64_t>& names, const std::set<std::string>& but,
                            std::uint64_t& most) {
    std::string best;
    most = 0;
    for (const auto& [name, times] : names)
      if (times > most && !but.contains(name)) {
        most = times;
        best = name;
      }
    return best;
  }

  void propose(const Guess& g) {
    bool undo = g.undo >= g.redo;
    std::uint64_t support = undo ? g.undo : g.redo;
    std::string type = g.target.entryType();
    std::string container = containerOf(type);
    Proposal p;
    std::uint64_t most = 0, tails = 0, heads = 0;
    std::string control = mostOf(g.switches, g.written, most);
    std::string tail = mostOf(g.tails, g.written, tails), head = mostOf(g.heads, g.written, heads);
    // Nothing between an entry and its write makes it count: there is a tail before it, and a head after all.
    bool ring = control.empty() && !tail.empty() && !head.empty() && tail != head;
    if ((control.empty() && !ring) || container.empty() || 2 * support < g.writes) return;
    if (ring) {
      journalFields_.insert({head, tail});
      most = std::min(tails, heads);
    }
    journalFields_.insert(g.target.text());
    journalFields_.insert(control);
    bool counts = g.counting.contains(control) && !(g.single.contains(control));
    LayoutNo named = layouts_.find(type);
    std::uint64_t each = named != kNoLayout ? layouts_[named].size : 0;
    if (type.ends_with("[]"))
      if (auto element = layouts_.field(layouts_.find(g.target.structName), g.target.path)) each = element->stride;
    // One entry is all there is room for: the number of entries is a flag.
    if (!type.ends_with("[]") && type.find('.') != std::string::npos) counts = false;
    p.table = fmt::format("[journal.{}]\n", undo ? "undo" : "redo");
    if (counts && each != 0)
      p.table += fmt::format("tail = \"&{} + {} * {}\"\n", container, control,
                             named != kNoLayout ? fmt::format("sizeof({})", type) : fmt::to_string(each));
    if (ring) p.table += fmt::format("head = \"&{} + {}\"\ntail = \"&{} + {}\"\n", container, head, container, tail);
    p.table += fmt::format("area = {{ at = \"&{}\", size = \"sizeof({})\" }}\n", container, container);
    std::string size = g.hasSize ? fmt::format("\"{}\"", g.size.text()) : fmt::to_string(g.fixedSize);
    p.table += fmt::format("entry = {{ struct = \"{}\", target = \"{}\", size = {}, data = \"{}\" }}\n", type,
                           g.address, size, withoutElement(g.data.text()));
    if (ring)
      p.table += "preallocated = true\n";
    else if (!counts || each == 0)
      p.table += fmt::format("commit = {{ field = \"{}\" }}\n", control);
    p.what = fmt::format("writes in place whose bytes {} are in an entry beside their address",
                         undo ? "from before" : "to be");
    p.support = support;
    p.of = g.writes;
    if (support < g.writes)
      p.against.push_back(fmt::format("{} had other bytes in their entry.", counted(g.writes - support, "write")));
    if (most < g.entries)
      p.against.push_back(fmt::format("{} was not stored with {} of {} entries.", ring ? tail : control,
                                      grouped(g.entries - most), grouped(g.entries)));
    out_.push_back(std::move(p));
    // One of a kind, and one for an area: the one that has most for it, of several the first.
    Proposal mine = std::move(out_.back());
    out_.pop_back();
    auto clashes = [&](const Proposal& other) {
      return other.table.starts_with(mine.table.substr(0, mine.table.find('\n'))) || areaOf(other) == areaOf(mine);
    };
    if (std::any_of(out_.begin(), out_.end(),
                    [&](const Proposal& other) { return clashes(other) && other.support >= mine.support; }))
      return;
    std::erase_if(out_, clashes);
    out_.push_back(std::move(mine));
  }
  static std::string areaOf(const Proposal& p) {
    std::size_t at = p.table.find("\narea = ");
    return at == std::string::npos ? std::string() : p.table.substr(at, p.table.find('\n', at + 1) - at);
  }

  // --- copy-on-write ---

  void copiesOnWrite() {
    struct Swaps {
      std::uint64_t fresh = 0, of = 0, changed = 0, later = 0;
      std::string type;
      std::set<std::string> links;
    };
    std::map<std::string, Swaps> swaps;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& p = rows_[i];
      if (!p.pointer || !inUse(p) || !p.operation) continue;
      auto field = namedField(p.name);
      if (!field || journalFields_.contains(field->text())) continue;
      LayoutNo layout = kNoLayout;
      for (const ObjectLife& life : objects_.lives())
        if (life.object.base == *p.pointer) {
          if (layouts_[life.object.layout].name != field->structName)
            layout = life.object.layout;
          else
            leading_.insert(p.name);  // from one node to another
        }
      if (layout == kNoLayout) continue;
      Swaps& s = swaps[p.name];
      ++s.of;
      s.type = layouts_[layout].name;
      PmRange object = PmRange::at(*p.pointer, layouts_[layout].size);
      std::vector<StoreNo> built = world_->storesTo(object, *p.operation, p.store);
      s.fresh += built.empty() ? 0 : 1;
      s.changed += world_->storesTo(object, p.store + 1, StoreNo(endOf(i))).empty() ? 0 : 1;
      // While the pointer still leads there.
      std::vector<StoreNo> moves = world_->storesTo(p.range, p.store + 1, StoreNo(rows_.size()));
      StoreNo until = moves.empty() ? StoreNo(rows_.size()) : moves.front();
      std::vector<StoreNo> after = world_->storesTo(object, StoreNo(endOf(i)), until);
      s.later += std::any_of(after.begin(), after.end(), [&](StoreNo a) { return world_->changes(a); }) ? 1 : 0;
      // Pointers to such objects in all that the operation built of this type: a path of nodes, say.
      for (std::size_t b = p.operation->value(); b < i; ++b)
        if (rows_[b].pointer &&
            std::any_of(objects_.lives().begin(), objects_.lives().end(),
                        [&](const ObjectLife& to) { return to.object == TypedObject{layout, *rows_[b].pointer}; }))
          if (auto link = namedField(rows_[b].name); link && link->structName == s.type) s.links.insert(link->text());
    }
    for (const auto& [name, s] : swaps) {
      if (s.fresh == 0 || 2 * s.fresh < s.of) continue;
      leading_.insert(name);
      if (2 * s.later > s.of) continue;  // what is changed where it is, is no copy
      Proposal p;
      p.table = fmt::format("[cow.{}]\npointer = \"{}\"\nsize = \"sizeof({})\"\n", s.type, name, s.type);
      std::string links;
      for (const std::string& link : s.links) links += fmt::format("{}\"{}\"", links.empty() ? "" : ", ", link);
      if (!links.empty()) p.table += fmt::format("links = [{}]\n", links);
      p.what = "pointers that lead to an object which the same operation wrote before";
      p.support = s.fresh;
      p.of = s.of;
      if (s.fresh < s.of)
        p.against.push_back(fmt::format("{} led to something older.", counted(s.of - s.fresh, "store")));
      if (s.later != 0)
        p.against.push_back(fmt::format("{} led to what later operations change.", counted(s.later, "store")));
      if (s.changed != 0)
        p.against.push_back(fmt::format("{} changed what they lead to afterwards.", counted(s.changed, "operation")));
      out_.push_back(std::move(p));
    }
  }

  // --- replicas ---

  // Members of one struct that have one type and hold the same whenever an operation has ended.
  void replicas() {
    for (const ObjectLife& life : objects_.lives()) {
      const StructLayout& outer = layouts_[life.object.layout];
      for (std::size_t a = 0; a < outer.members.size(); ++a)
        for (std::size_t b = a + 1; b < outer.members.size(); ++b) {
          const LayoutMember &x = outer.members[a], &y = outer.members[b];
          if (x.type == kNoLayout || x.type != y.type || x.array || y.array || x.name.empty() || y.name.empty())
            continue;
          PmRange first = PmRange::at(life.object.base + x.offset, x.size),
                  second = PmRange::at(life.object.base + y.offset, y.size);
          std::uint64_t same = 0, of = 0;
          StoreNo from = 0;
          for (const Operation& op : index_.operations().all()) {
            if (op.parent != kNoOperation || op.end == kNever) continue;
            StoreNo begin = world_->firstStoreAfter(op.begin), end = world_->firstStoreAfter(op.end);
            if (world_->storesTo(first, begin, end).empty()) continue;
            ++of;
            same += contentAt(first, end) == contentAt(second, end) ? 1 : 0;
            from = end;
          }
          if (same == 0 || 2 * same < of) continue;
          Proposal p;
          p.table = fmt::format("[replica.{}]\ncopies = [\"&{}.{}\", \"&{}.{}\"]\nsize = \"sizeof({})\"\n",
                                layouts_[x.type].name, outer.name, x.name, outer.name, y.name, layouts_[x.type].name);
          for (const std::string& field : layouts_.fieldsOf(x.type))
            if (field.find("sum") != std::string::npos || field.find("crc") != std::string::npos)
              p.table += fmt::format("checksum = \"{}.{}\"\n", layouts_[x.type].name, field);
          p.what = "operations that change the one and leave both alike";
          p.support = same;
          p.of = of;
          if (same < of) p.against.push_back(fmt::format("{} left them different.", counted(of - same, "operation")));
          out_.push_back(std::move(p));
        }
    }
  }
  std::vector<std::byte> contentAt(PmRange range, StoreNo end) const {
    std::vector<std::byte> out(range.size());
    for (StoreNo s : world_->storesTo(range, 0, end)) {
      PmRange r = world_->rangeOf(s);
      std::byte stored[16];
      world_->after(s, std::span(stored).first(std::min<std::size_t>(r.size(), 16)));
      for (PmAddr a = std::max(r.begin, range.begin); a < std::min(r.end, range.end); ++a)
        out[a - range.begin] = stored[a - r.begin];
    }
    return out;
  }

  // --- logs ---

  // A field that leads to bytes which are written only before it moves over them.
  void logs() {
    struct Moves {
      std::uint64_t over = 0, of = 0;
      std::map<std::string, std::uint64_t> links;    // stored with where the log goes on elsewhere
      std::uint64_t unit = 0;                        // the largest that fits all of these
      std::map<std::string, std::uint64_t> entries;  // structs that the tail moves over
    };
    std::map<std::string, Moves> tails;
    std::map<PmAddr, PmAddr> lastOf;
    for (const Row& p : rows_) {
      if (!p.pointer || p.name.empty() || journalFields_.contains(p.name)) continue;
      auto [before, fresh] = lastOf.try_emplace(p.range.begin, *p.pointer);
      PmAddr old = std::exchange(before->second, *p.pointer);
      if (fresh || *p.pointer <= old || *p.pointer - old > 65536 || !inUse(p)) continue;
      Moves& m = tails[p.name];
      ++m.of;
      m.over += world_->storesTo({old, *p.pointer}, p.operation.value_or(StoreNo(0)), p.store).empty() ? 0 : 1;
      PmAddr entry = old;
      for (std::size_t j = p.operation.value_or(p.store).value(); j < p.store.value() && j < rows_.size(); ++j) {
        const Row& link = rows_[j];
        if (!link.pointer || link.name.empty() || *link.pointer <= old || *link.pointer >= *p.pointer) continue;
        std::uint64_t unit = unitOf(old, link.range.begin, *link.pointer);
        if (unit == 0) continue;
        ++m.links[link.name];
        m.unit = m.unit == 0 ? unit : std::min(m.unit, unit);
        entry = *link.pointer;
      }
      for (const ObjectLife& life : objects_.lives())
        if (life.object.base == entry && layouts_[life.object.layout].size == *p.pointer - entry)
          ++m.entries[layouts_[life.object.layout].name];
    }
    for (const auto& [name, m] : tails) {
      if (m.over < 2 || 2 * m.over < m.of || name.find("[]") != std::string::npos) continue;
      bool swapped = std::any_of(out_.begin(), out_.end(), [&](const Proposal& p) {
        return p.table.find('"' + name + '"') != std::string::npos;
      });
      if (swapped || leading_.contains(name)) continue;
      Proposal p;
      std::size_t dot = name.find('.');
      p.table = fmt::format("[log.{}]\ntail = \"{}\"\n", name.substr(dot + 1), name);
      std::uint64_t times = 0;
      if (std::string link = mostOf(m.links, {}, times); !link.empty())
        p.table += fmt::format("unit = {}\nlink = \"{}\"\n", m.unit, link);
      if (std::string entry = mostOf(m.entries, {}, times); !entry.empty())
        p.table += fmt::format("entry = {{ struct = \"{}\" }}\n", entry);
      p.what = "moves over bytes that were written just before";
      p.support = m.over;
      p.of = m.of;
      if (m.over < m.of)
        p.against.push_back(fmt::format("{} moved over nothing new.", counted(m.of - m.over, "store")));
      out_.push_back(std::move(p));
    }
  }

  // The largest power of two by which what is linked begins a unit, and the end so far and the link lie in one other;
  // 0: there is none.
  static std::uint64_t unitOf(PmAddr tail, PmAddr link, PmAddr next) {
    for (std::uint64_t unit = std::uint64_t{1} << 21; unit >= BLACKOUT_LINE; unit /= 2)
      if (next % unit == 0 && (tail - 1) / unit == link / unit && link / unit != next / unit) return unit;
    return 0;
  }

  const Index& index_;
  const Trace& trace_;
  const StructLayouts& layouts_;
  std::vector<Array> arrays_;
  TypedObjects objects_;
  std::optional<World> world_;
  std::vector<Row> rows_;  // by store number
  std::set<std::string> journalFields_;
  std::set<std::string> leading_;  // fields that lead to objects: no tails
  std::vector<Proposal> out_;
};

}  // namespace

std::vector<Proposal> proposeMechanisms(const Index& index, const StructLayouts& layouts) {
  return Proposer(index, layouts).run();
}

std::string renderProposals(const std::vector<Proposal>& proposals) {
  std::string out = "# Proposed from one run by 'blackout mechanisms --propose'. Read it before you use it.\n";
  if (proposals.empty()) out += "# Nothing in this run looks like a journal, a log, replicas or copy-on-write.\n";
  for (const Proposal& p : proposals) {
    out += fmt::format("\n# {} of {} {}.\n", grouped(p.support), grouped(p.of), p.what);
    for (const std::string& s : p.against) out += fmt::format("# Against it: {}\n", s);
    out += p.table;
  }
  return out;
}

}  // namespace blackout
