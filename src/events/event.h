// The event as the tool sees it: the C record of trace_format.h with its kinds as an enum and
// the few questions that every reader asks of it. PM addresses and lines are defined here.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "events/id.h"
#include "events/trace_format.h"

namespace blackout {

using Event = blackout_event;

// The position of an event in its trace, in slots. Payloads take slots too, so positions are
// ordered but not consecutive. A crash point is such a number: the crash comes just before it.
using EventNo = Id<struct EventNoTag, std::uint32_t>;

using ThreadNo = Id<struct ThreadNoTag, std::uint16_t>;

// A byte of PM: file << 40 | offset. An address, so it counts bytes and is no id.
using PmAddr = std::uint64_t;
// A 64-byte line of PM: PmAddr / 64. A line belongs to one file.
using LineNo = Id<struct LineNoTag, std::uint64_t>;
using FileNo = Id<struct FileNoTag, std::uint32_t>;
// A site and the calls that led to it (site.h).
using StackId = Id<struct StackIdTag, std::uint32_t>;

constexpr FileNo fileOf(PmAddr a) { return FileNo(a >> BLACKOUT_FILE_SHIFT); }
constexpr std::uint64_t offsetOf(PmAddr a) { return a & (BLACKOUT_MAX_FILE_SIZE - 1); }
constexpr PmAddr pmAddr(FileNo file, std::uint64_t offset) {
  return (PmAddr{file.value()} << BLACKOUT_FILE_SHIFT) | offset;
}
constexpr LineNo lineOf(PmAddr a) { return LineNo(a / BLACKOUT_LINE); }
constexpr PmAddr addressOf(LineNo l) { return l.value() * BLACKOUT_LINE; }

// Bytes of PM, [begin, end).
struct PmRange {
  PmAddr begin = 0;
  PmAddr end = 0;
  static constexpr PmRange at(PmAddr begin, std::uint64_t size) { return {begin, begin + size}; }
  // Also right where the sum of a damaged trace's address and size wrapped around.
  constexpr std::uint64_t size() const { return end - begin; }
  constexpr bool overlaps(const PmRange& r) const { return begin < r.end && r.begin < end; }
  auto operator<=>(const PmRange&) const = default;
};

enum class EventKind : std::uint8_t {
#define BLACKOUT_EVENT(code, Name, text, Group, Body, doc) Name = code,
#include "events/event_kinds.def"
#undef BLACKOUT_EVENT
};

enum class EventGroup : std::uint8_t {
  None,  // no such kind
  Store,
  Outside,
  Load,
  Flush,
  Fence,
  Lock,
  Sync,
  File,
  Map,
  Mark,
  Thread,
  Control,
  Table,
  Trouble,
};

enum class SiteKind : std::uint8_t {
#define BLACKOUT_SITE(code, Name, text, Class) Name = code,
#include "events/site_kinds.def"
#undef BLACKOUT_SITE
};

namespace detail {
struct KindRow {
  std::string_view name;
  std::string_view doc;
  EventGroup group = EventGroup::None;
  bool blob = false;
};
struct KindTable {
  KindRow rows[256]{};
  constexpr KindTable() {
    constexpr bool Plain = false;
    constexpr bool Blob = true;
#define BLACKOUT_EVENT(code, Name, text, Group, Body, doc) rows[code] = {text, doc, EventGroup::Group, Body};
#include "events/event_kinds.def"
#undef BLACKOUT_EVENT
  }
};
inline constexpr KindTable kindTable;
}  // namespace detail

constexpr EventKind kindOf(const Event& e) { return static_cast<EventKind>(e.kind); }
constexpr EventGroup groupOf(EventKind k) { return detail::kindTable.rows[static_cast<int>(k)].group; }
constexpr EventGroup groupOf(const Event& e) { return detail::kindTable.rows[e.kind].group; }
constexpr bool hasPayload(const Event& e) { return detail::kindTable.rows[e.kind].blob; }
constexpr std::string_view nameOf(EventKind k) { return detail::kindTable.rows[static_cast<int>(k)].name; }
constexpr unsigned bytesOf(const Event& e) { return e.len & BLACKOUT_LEN_MASK; }
constexpr ThreadNo threadOf(const Event& e) { return ThreadNo(e.thread); }
constexpr StackId stackOf(const Event& e) { return StackId(e.where); }
constexpr bool isStore(const Event& e) { return groupOf(e) == EventGroup::Store; }

std::string_view nameOf(SiteKind k);

// Slots that an event takes with its payload.
constexpr std::uint64_t slotsOf(const Event& e) {
  return hasPayload(e) ? 1 + (e.value + sizeof(Event) - 1) / sizeof(Event) : 1;
}

}  // namespace blackout
