#include "binary/byte_names.h"

#include <algorithm>
#include <cstring>

#include "events/trace.h"

namespace blackout {

std::optional<std::uint64_t> integerOf(const ByteValue& value) {
  if (value.size() != 1 && value.size() != 2 && value.size() != 4 && value.size() != 8) return std::nullopt;
  std::uint64_t integer = 0;
  std::memcpy(&integer, value.data(), value.size());
  return integer;
}

FieldName fieldName(const std::string& type) {
  FieldName name;
  // The arguments of a template may have dots of their own.
  int depth = 0;
  std::size_t dot = std::string::npos;
  for (std::size_t i = 0; i < type.size() && dot == std::string::npos; ++i) {
    if (type[i] == '<') ++depth;
    if (type[i] == '>') --depth;
    if (type[i] == '.' && depth == 0) dot = i;
  }
  name.structName = type.substr(0, dot);
  if (dot == std::string::npos) return name;
  name.field = type.substr(dot + 1);
  name.element = name.field.ends_with("[]");
  if (name.element) name.field.resize(name.field.size() - 2);
  return name;
}

namespace {

NamedBytes located(const Trace& trace, PmAddr addr, std::uint64_t size) {
  NamedBytes out;
  FileNo f = fileOf(addr);
  if (f != 0 && trace.files().has(f)) out.file = trace.files()[f].path;
  out.offset = offsetOf(addr);
  out.size = size;
  return out;
}

std::string typeOf(const Trace& trace, const Event& e) {
  const Site* site = trace.siteOf(e);
  return site == nullptr ? std::string() : site->type;
}

}  // namespace

NamedBytes namedBytes(const Trace& trace, PmAddr addr, std::uint64_t size, const Event& by) {
  NamedBytes out = located(trace, addr, size);
  out.type = typeOf(trace, by);
  return out;
}

NamedBytes ByteNames::ofStore(StoreNo store, const LineBytes* under) const {
  const StoreRow& row = index_.stores()[store];
  auto history = index_.history(row.line);
  auto number = static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), store) - history.begin());
  LineStore s = index_.lineStore(row.line, number);
  NamedBytes out =
      namedBytes(index_.trace(), addressOf(index_.lineNo(row.line)) + s.offset, s.size, index_.trace()[row.event]);
  const auto* value = reinterpret_cast<const std::byte*>(s.value);
  out.after.assign(value, value + s.size);
  if (whole_ || under != nullptr) {
    LineBytes line = index_.contentOf(row.line, row.event, {number, {}}, under);
    out.before.assign(line.begin() + s.offset, line.begin() + s.offset + s.size);
  }
  return out;
}

NamedBytes ByteNames::of(EventNo event) const {
  if (StoreNo store = index_.storeOf(event); store != kNoStore) return ofStore(store);
  const Trace& trace = index_.trace();
  const Event& e = trace[event];
  switch (groupOf(e)) {
    case EventGroup::Store:
      return namedBytes(trace, e.addr, bytesOf(e), e);
    case EventGroup::Outside:
      // What is flushed outside of all pools has no address here.
      return kindOf(e) == EventKind::FlushOutside ? NamedBytes() : namedBytes(trace, e.addr, bytesOf(e), e);
    case EventGroup::Load:
      return namedBytes(trace, e.addr, kindOf(e) == EventKind::LoadRange ? e.value : bytesOf(e), e);
    case EventGroup::Flush:
      return namedBytes(trace, addressOf(lineOf(e.addr)), BLACKOUT_LINE, e);
    case EventGroup::None:
    case EventGroup::Fence:
    case EventGroup::Lock:
    case EventGroup::Sync:
    case EventGroup::File:
    case EventGroup::Map:
    case EventGroup::Mark:
    case EventGroup::Thread:
    case EventGroup::Control:
    case EventGroup::Table:
    case EventGroup::Trouble:
      break;
  }
  return {};
}

NamedBytes ByteNames::range(PmAddr addr, std::uint64_t size, EventNo at) const {
  NamedBytes out = located(index_.trace(), addr, size);
  // A file that a restart made is in no trace but its own.
  if (fileOf(addr) == 0 || fileOf(addr) > index_.files().last()) return out;
  EventNo named = 0;
  for (LineNo line = lineOf(addr); addressOf(line) < addr + size; ++line) {
    PmAddr from = std::max(addr, addressOf(line));
    PmAddr to = std::min(addr + size, addressOf(line) + BLACKOUT_LINE);
    LineId id = index_.lineId(line);
    std::uint32_t length = id == kNoLine ? 0 : index_.historyLength(id, at);
    for (std::uint32_t n = length; n-- > 0;) {
      LineStore s = index_.lineStore(id, n);
      PmAddr begin = addressOf(line) + s.offset;
      if (begin >= to || begin + s.size <= from) continue;
      // The last store to touch it decides: bytes of several fields have no one name.
      EventNo event = index_.stores()[s.store].event;
      bool all = begin <= addr && begin + s.size >= addr + size;
      if (event >= named) out.type = all ? typeOf(index_.trace(), index_.trace()[event]) : std::string();
      named = std::max(named, event);
      break;
    }
    if (!whole_) continue;
    LineBytes bytes;
    if (id != kNoLine) {
      bytes = index_.contentOf(id, at, {length, {}});
    } else {
      index_.files().initialBytes(line, bytes);
      std::uint64_t zeroed = index_.files().zeroedMask(line, 0, at);
      for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
        if ((zeroed >> i & 1) != 0) bytes[i] = std::byte{0};
    }
    auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from - addressOf(line));
    out.after.insert(out.after.end(), begin, begin + static_cast<std::ptrdiff_t>(to - from));
  }
  return out;
}

}  // namespace blackout
