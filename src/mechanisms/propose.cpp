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
    journals();
    copiesOnWrite();
    replicas();
    logs();
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Proposal& a, const Proposal& b) { return a.support > b.support; });
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

  // --- journals ---

  struct Guess {
    NamedField target, data, size;
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
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& p = rows_[i];
      if (!p.pointer || !inUse(p)) continue;
      auto target = namedField(p.name);
      if (!target || target->path.ends_with("[]")) continue;
      // What is stored beside the address: the data, and its size.
      std::size_t end = std::min(endOf(i), i + kNear);
      std::map<std::string, PmRange> beside;
      std::map<std::string, std::size_t> last;
      for (std::size_t j = i + 1; j < end; ++j) {
        const Row& d = rows_[j];
        if (d.pointer && d.name == p.name) break;
        if (d.range.begin < p.range.end || d.range.begin - p.range.begin > kEntryReach) continue;
        std::string name = d.name.empty() ? std::string() : d.name;
        // A struct that is stored whole has its own name; it lies in a field of the entry.
        if (auto object = enclosing(*target, p.range.begin))
          name = layouts_.nameAt(object->layout, d.range.begin - object->base, 1);
        if (name.empty() || name == p.name) continue;
        auto [it, fresh] = beside.try_emplace(name, d.range);
        if (!fresh) it->second.end = std::max(it->second.end, d.range.end);
        last[name] = j;
      }
      for (const auto& [name, range] : beside) {
        auto data = namedField(name);
        if (!data || data->structName != target->structName) continue;
        std::uint64_t undo = 0, redo = 0, writes = 0;
        std::size_t firstWrite = 0, lastWrite = 0;
        std::set<std::string> written;
        for (std::size_t j = last[name] + 1; j < endOf(i); ++j) {
          const Row& w = rows_[j];
          PmRange to = PmRange::at(*p.pointer, range.size());
          if (!w.changes || w.range.begin < to.begin || w.range.end > to.end) continue;
          ++writes;
          if (firstWrite == 0) firstWrite = j;
          lastWrite = j;
          written.insert(w.name);
          undo += equals(w, range.begin + (w.range.begin - to.begin), last[name], true) ? 1 : 0;
          redo += equals(w, range.begin + (w.range.begin - to.begin), last[name], false) ? 1 : 0;
        }
        if (undo == 0 && redo == 0) continue;
        Guess& g = guesses[{p.name, name}];
        g.target = *target;
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
    for (auto& [key, g] : guesses) propose(g);
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
                           g.target.text(), size, withoutElement(g.data.text()));
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
    // The first that says it.
    for (std::size_t i = 0; i + 1 < out_.size(); ++i)
      if (out_[i].table.substr(0, 14) == out_.back().table.substr(0, 14) && out_[i].support >= out_.back().support) {
        out_.pop_back();
        break;
      }
  }

  // --- copy-on-write ---

  void copiesOnWrite() {
    struct Swaps {
      std::uint64_t fresh = 0, of = 0, changed = 0;
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
        if (life.object.base == *p.pointer && layouts_[life.object.layout].name != field->structName)
          layout = life.object.layout;
      if (layout == kNoLayout) continue;
      Swaps& s = swaps[p.name];
      ++s.of;
      s.type = layouts_[layout].name;
      PmRange object = PmRange::at(*p.pointer, layouts_[layout].size);
      std::vector<StoreNo> built = world_->storesTo(object, *p.operation, p.store);
      s.fresh += built.empty() ? 0 : 1;
      s.changed += world_->storesTo(object, p.store + 1, StoreNo(endOf(i))).empty() ? 0 : 1;
      for (StoreNo b : built)
        if (b.value() < rows_.size() && rows_[b.value()].pointer)
          if (auto link = namedField(rows_[b.value()].name); link && link->structName == s.type)
            s.links.insert(link->text());
    }
    for (const auto& [name, s] : swaps) {
      if (s.fresh == 0 || 2 * s.fresh < s.of) continue;
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
    }
    for (const auto& [name, m] : tails) {
      if (m.over < 2 || 2 * m.over < m.of || name.find("[]") != std::string::npos) continue;
      bool swapped = std::any_of(out_.begin(), out_.end(), [&](const Proposal& p) {
        return p.table.find('"' + name + '"') != std::string::npos;
      });
      if (swapped) continue;
      Proposal p;
      std::size_t dot = name.find('.');
      p.table = fmt::format("[log.{}]\ntail = \"{}\"\n", name.substr(dot + 1), name);
      p.what = "moves over bytes that were written just before";
      p.support = m.over;
      p.of = m.of;
      if (m.over < m.of)
        p.against.push_back(fmt::format("{} moved over nothing new.", counted(m.of - m.over, "store")));
      out_.push_back(std::move(p));
    }
  }

  const Index& index_;
  const Trace& trace_;
  const StructLayouts& layouts_;
  TypedObjects objects_;
  std::optional<World> world_;
  std::vector<Row> rows_;  // by store number
  std::set<std::string> journalFields_;
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
