#include "mechanisms/world.h"

#include <algorithm>
#include <cstring>

#include "events/trace.h"

namespace blackout {

namespace {

// Larger ranges come from damaged pools or wrong descriptions.
constexpr std::uint64_t kLargestRange = std::uint64_t{1} << 30;

}  // namespace

World::World(const Index& index, const StructLayouts& layouts, const std::vector<ObjectLife>& lives)
    : index_(index), layouts_(layouts), memory_(index.trace()), before_(index.stores().size()) {
  for (const ObjectLife& life : lives) lives_[life.object.layout].push_back(life);
}

void World::event(EventNo n, StoreNo store) {
  const Event& e = trace()[n];
  now_ = n;
  if (store != kNoStore) {
    auto kept = std::as_writable_bytes(std::span(before_[store]));
    // The second half of a joined store.
    std::size_t at = index_.stores()[store].event == n ? 0 : 8;
    memory_.read(e.addr, kept.subspan(at, bytesOf(e)));
  } else if (kindOf(e) == EventKind::Map) {
    MappedAt mapped = trace().mapping(n);
    if (mapped.size != 0 && mapped.address + mapped.size > mapped.address)
      mappings_[mapped.address] = {mapped.address + mapped.size, e.addr};
  }
  memory_.event(n);
}

PmRange World::rangeOf(StoreNo s) const {
  const Event& e = trace()[index_.stores()[s].event];
  return PmRange::at(e.addr, bytesOf(e) + ((e.len & BLACKOUT_JOINED) != 0 ? 8 : 0));
}

void World::before(StoreNo s, std::span<std::byte> bytes) const {
  std::memcpy(bytes.data(), before_[s].data(), std::min<std::size_t>(bytes.size(), 16));
}

void World::after(StoreNo s, std::span<std::byte> bytes) const {
  EventNo n = index_.stores()[s].event;
  const Event& e = trace()[n];
  std::uint64_t value[2] = {e.value, (e.len & BLACKOUT_JOINED) != 0 ? trace()[n + 1].value : 0};
  std::memcpy(bytes.data(), value, std::min<std::size_t>(bytes.size(), 16));
}

bool World::changes(StoreNo s) const {
  std::byte old[16], now[16];
  std::size_t size = std::min<std::size_t>(rangeOf(s).size(), 16);
  before(s, std::span(old).first(size));
  after(s, std::span(now).first(size));
  return std::memcmp(old, now, size) != 0;
}

const std::vector<ObjectLife>& World::livesOf(LayoutNo layout) const {
  static const std::vector<ObjectLife> kNone;
  auto it = lives_.find(layout);
  return it == lives_.end() ? kNone : it->second;
}

std::vector<PmAddr> World::objectsOf(LayoutNo layout, EventNo at) const {
  std::vector<PmAddr> out;
  for (const ObjectLife& life : livesOf(layout))
    if (life.from <= at && at < life.until) out.push_back(life.object.base);
  return out;
}

void World::read(PmAddr at, std::span<std::byte> bytes, const std::optional<PmRange>& ring) const {
  if (!ring || at < ring->begin || at >= ring->end || at + bytes.size() <= ring->end) {
    memory_.read(at, bytes);
    return;
  }
  std::size_t first = ring->end - at;
  memory_.read(at, bytes.first(first));
  memory_.read(ring->begin, bytes.subspan(first, std::min<std::size_t>(bytes.size() - first, ring->size())));
}

std::uint64_t World::number(PmAddr at, std::uint64_t size) const {
  std::uint64_t value = 0;
  read(at, std::as_writable_bytes(std::span(&value, 1)).first(std::min<std::uint64_t>(size, 8)));
  return value;
}

std::optional<PmAddr> World::addressOf(const FieldRef& field, const Around& around) const {
  PmAddr base = 0;
  if (field.layout == around.elementType && around.element) {
    base = *around.element;
  } else if (field.layout == around.anchor.layout) {
    base = around.anchor.base;
  } else {
    // Something that there is one of.
    std::optional<PmAddr> only;
    for (const ObjectLife& life : livesOf(field.layout)) {
      if (life.from > now_ || now_ >= life.until) continue;
      if (only && *only != life.object.base) return std::nullopt;
      only = life.object.base;
    }
    if (!only) return std::nullopt;
    base = *only;
  }
  PmAddr at = base + field.place.offset;
  if (field.place.stride == 0) return at;
  PmAddr array = base + field.place.array;
  if (!around.element || *around.element < array) return std::nullopt;
  std::uint64_t index = (*around.element - array) / field.place.stride;
  if (index >= field.place.count) return std::nullopt;
  return at + index * field.place.stride;
}

std::optional<std::uint64_t> World::valueOf(const FieldRef& field, const Around& around) const {
  auto at = addressOf(field, around);
  if (!at) return std::nullopt;
  std::uint64_t value = 0;
  bool entry = field.layout == around.elementType && around.element;
  PmAddr from = *at;
  // The whole field may lie behind the ring's end.
  if (entry && around.ring && from >= around.ring->end) from -= around.ring->size();
  read(from, std::as_writable_bytes(std::span(&value, 1)).first(std::min<std::uint64_t>(field.place.size, 8)),
       entry ? around.ring : std::nullopt);
  return value;
}

std::optional<std::uint64_t> World::evaluate(const Expression& e, const Around& around) const {
  return e.evaluate({[&](const FieldRef& f) -> std::optional<std::uint64_t> { return addressOf(f, around); },
                     [&](const FieldRef& f) { return valueOf(f, around); }});
}

std::optional<PmAddr> World::resolve(std::uint64_t value, FileNo home) const {
  auto it = mappings_.upper_bound(value);
  if (it != mappings_.begin() && value < std::prev(it)->second.end)
    return std::prev(it)->second.at + (value - std::prev(it)->first);
  if (value <= memory_.sizeOf(home)) return pmAddr(home, value);
  FileNo file = fileOf(value);
  if (file != 0 && trace().files().has(file) && offsetOf(value) <= memory_.sizeOf(file)) return value;
  return std::nullopt;
}

std::optional<PmAddr> World::place(const Expression& e, const Around& around) const {
  auto value = evaluate(e, around);
  return value ? resolve(*value, fileOf(around.anchor.base)) : std::nullopt;
}

std::vector<StoreNo> World::storesTo(PmRange range, StoreNo from, StoreNo to) const {
  std::vector<StoreNo> out;
  if (from >= to || range.size() == 0 || range.size() > kLargestRange) return out;
  for (LineNo line = lineOf(range.begin); blackout::addressOf(line) < range.end; ++line) {
    LineId id = index_.lineId(line);
    if (id == kNoLine) continue;
    auto history = index_.history(id);
    for (auto it = std::lower_bound(history.begin(), history.end(), from); it != history.end() && *it < to; ++it)
      if (rangeOf(*it).overlaps(range)) out.push_back(*it);
  }
  std::sort(out.begin(), out.end());
  return out;
}

StoreNo World::firstStoreAfter(EventNo n) const {
  auto stores = index_.stores();
  auto it = std::partition_point(stores.begin(), stores.end(), [&](const StoreRow& row) { return row.event <= n; });
  return StoreNo(static_cast<std::size_t>(it - stores.begin()));
}

ThreadNo World::threadOf(StoreNo s) const { return blackout::threadOf(trace()[index_.stores()[s].event]); }

std::optional<StoreNo> World::operationBegin(StoreNo s) const {
  const Operation* op = index_.operationOf(index_.stores()[s].event);
  return op == nullptr ? std::nullopt : std::optional(firstStoreAfter(op->begin));
}

std::optional<StoreNo> World::operationEnd(StoreNo s) const {
  const Operation* op = index_.operationOf(index_.stores()[s].event);
  if (op == nullptr) return std::nullopt;
  return op->end == kNever ? index_.stores().endId() : firstStoreAfter(op->end);
}

bool World::isSetUp(StoreNo s) const { return !index_.operations().empty() && !operationBegin(s); }

bool World::inOrder(StoreNo first, StoreNo second) const {
  auto stores = index_.stores();
  if (first >= second) return false;
  if (stores[first].guaranteedAt <= stores[second].event) return true;
  // Cached stores to one line survive in their order.
  if (stores[first].line != stores[second].line) return false;
  auto cached = [&](StoreNo s) { return kindOf(trace()[stores[s].event]) != EventKind::StoreNt; };
  return index_.options().ntOrder == NtOrder::Program || (cached(first) && cached(second));
}

}  // namespace blackout
