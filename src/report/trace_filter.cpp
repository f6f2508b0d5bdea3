#include "report/trace_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "events/id_text.h"
#include "events/trace.h"

namespace blackout {

namespace {

constexpr EventKind kAllKinds[] = {
#define BLACKOUT_EVENT(code, Name, text, Group, Body, doc) EventKind::Name,
#include "events/event_kinds.def"
#undef BLACKOUT_EVENT
};

constexpr std::array kGroups = {
    std::pair{"stores", EventGroup::Store},   std::pair{"outside", EventGroup::Outside},
    std::pair{"loads", EventGroup::Load},     std::pair{"flushes", EventGroup::Flush},
    std::pair{"fences", EventGroup::Fence},   std::pair{"locks", EventGroup::Lock},
    std::pair{"syncs", EventGroup::Sync},     std::pair{"files", EventGroup::File},
    std::pair{"maps", EventGroup::Map},       std::pair{"marks", EventGroup::Mark},
    std::pair{"threads", EventGroup::Thread}, std::pair{"controls", EventGroup::Control},
    std::pair{"tables", EventGroup::Table},   std::pair{"troubles", EventGroup::Trouble},
};

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whole components from the end: "src/a.c" is the end of "/home/me/src/a.c", "rc/a.c" is not.
bool endsWithPath(std::string_view path, std::string_view end) {
  if (end.empty() || !path.ends_with(end)) return false;
  return path.size() == end.size() || end.front() == '/' || path[path.size() - end.size() - 1] == '/';
}

Result<std::bitset<256>> kindsNamed(const std::vector<std::string>& names) {
  std::bitset<256> kinds;
  if (names.empty()) {
    // The tables are how the trace says where events come from, not what happened.
    for (EventKind kind : kAllKinds) kinds[static_cast<std::size_t>(kind)] = groupOf(kind) != EventGroup::Table;
    return kinds;
  }
  for (const std::string& name : names) {
    bool known = false;
    for (EventKind kind : kAllKinds) {
      bool inGroup = std::any_of(kGroups.begin(), kGroups.end(),
                                 [&](auto& g) { return g.first == name && g.second == groupOf(kind); });
      if (nameOf(kind) == name || inGroup) {
        kinds[static_cast<std::size_t>(kind)] = true;
        known = true;
      }
    }
    if (known) continue;
    std::string groups;
    for (auto& g : kGroups) groups += fmt::format("{}{}", groups.empty() ? "" : ", ", g.first);
    return fail(fmt::format("--kind {}: no such kind of event; name one as 'blackout trace' prints it, or a group: {}",
                            name, groups));
  }
  return kinds;
}

}  // namespace

std::optional<PmRange> rangeOf(const Trace& trace, EventNo n) {
  const Event& e = trace[n];
  switch (groupOf(e)) {
    case EventGroup::Store:
      return PmRange::at(e.addr, bytesOf(e));
    case EventGroup::Outside:
      if (kindOf(e) == EventKind::FlushOutside) return std::nullopt;
      return PmRange::at(e.addr, bytesOf(e));
    case EventGroup::Load:
      return PmRange::at(e.addr, kindOf(e) == EventKind::LoadRange ? e.value : bytesOf(e));
    case EventGroup::Flush:
      return PmRange::at(addressOf(lineOf(e.addr)), BLACKOUT_LINE);
    case EventGroup::Sync:
      if (kindOf(e) == EventKind::SyncStart) return std::nullopt;
      if (kindOf(e) == EventKind::Fsync) return PmRange::at(pmAddr(fileOf(e.addr), 0), BLACKOUT_MAX_FILE_SIZE);
      return PmRange::at(e.addr, e.value);
    case EventGroup::File:
      // The size and the name are about the file as a whole, and about no line.
      if (kindOf(e) == EventKind::FileData || kindOf(e) == EventKind::FileZero) return PmRange::at(e.addr, e.value);
      return PmRange::at(e.addr, 0);
    case EventGroup::Map:
      if (kindOf(e) == EventKind::Unmap) return PmRange::at(e.addr, e.value);
      return PmRange::at(e.addr, 0);
    case EventGroup::Mark:
      switch (kindOf(e)) {
        case EventKind::Discard:
        case EventKind::Ignore:
        case EventKind::CommitVar:
        case EventKind::TxIgnore:
          return PmRange::at(e.addr, e.value);
        case EventKind::CommitRange:
        case EventKind::TxAdd:
        case EventKind::TxRemove:
          return PmRange::at(e.addr, trace.range(n).size);
        default:
          break;
      }
      return std::nullopt;
    case EventGroup::None:
    case EventGroup::Fence:
    case EventGroup::Lock:
    case EventGroup::Thread:
    case EventGroup::Control:
    case EventGroup::Table:
    case EventGroup::Trouble:
      return std::nullopt;
  }
  return std::nullopt;
}

Result<TraceFilter> TraceFilter::make(const Trace& trace, const TraceFilterText& text) {
  TraceFilter filter;
  auto kinds = kindsNamed(text.kinds);
  if (!kinds) return tl::unexpected(kinds.error());
  filter.kinds_ = *kinds;
  filter.from_ = EventNo(text.from.value_or(0));
  filter.to_ = EventNo(text.to.value_or(UINT32_MAX));
  for (const std::string& t : text.threads) {
    auto n = number(t);
    if (!n || *n > UINT16_MAX) return fail(fmt::format("--thread {}: not a thread's number; they count from 1", t));
    filter.threads_.insert(static_cast<ThreadNo>(*n));
  }
  for (const std::string& f : text.files) {
    auto n = number(f);
    std::size_t before = filter.files_.size();
    for (const PoolFile& file : trace.files())
      if (file.number != 0 && (n ? file.number.value() == *n : endsWithPath(file.path, f)))
        filter.files_.insert(file.number);
    if (filter.files_.size() == before)
      return fail(fmt::format("--file {}: no such pool in this trace; 'blackout trace' lists them first", f));
  }
  for (const std::string& l : text.lines) {
    std::size_t colon = l.find(':');
    LineWanted wanted;
    auto offset = number(colon == std::string::npos ? l : std::string_view(l).substr(colon + 1));
    if (colon != std::string::npos) {
      auto file = number(std::string_view(l).substr(0, colon));
      if (!file || *file == 0 || *file >= trace.files().size()) offset.reset();
      if (file) wanted.file = static_cast<FileNo>(*file);
    }
    if (!offset || *offset >= BLACKOUT_MAX_FILE_SIZE)
      return fail(
          fmt::format("--line {}: not an address; write an offset as 0x1040, or FILE-NUMBER:OFFSET as 1:0x1040", l));
    wanted.offset = *offset / BLACKOUT_LINE * BLACKOUT_LINE;
    filter.lines_.push_back(wanted);
  }
  if (!text.at.empty()) filter.callStacks_.emplace(trace.stackEnd());
  for (const std::string& a : text.at) {
    std::size_t colon = a.rfind(':');
    auto line = colon == std::string::npos ? std::nullopt : number(std::string_view(a).substr(colon + 1));
    if (!line || colon == 0) return fail(fmt::format("--at {}: not a place; write FILE:LINE as list.cpp:42", a));
    std::string_view file = std::string_view(a).substr(0, colon);
    for (StackId w = 1; w < trace.stackEnd(); ++w) {
      const CallStack* where = trace.callStack(w);
      const Site* site = trace.site(where->site);
      if (site == nullptr) continue;
      for (const Source& source : site->sources)
        for (const Place& p : source.chain)
          if (p.line == *line && endsWithPath(p.file, file)) (*filter.callStacks_)[w] = true;
    }
  }
  return filter;
}

bool TraceFilter::wantsRange(const Trace& trace, EventNo n) const {
  std::optional<PmRange> range = rangeOf(trace, n);
  if (!range) return false;
  FileNo file = fileOf(range->begin);
  if (!files_.empty() && !files_.contains(file)) return false;
  if (lines_.empty()) return true;
  std::uint64_t begin = offsetOf(range->begin);
  return std::any_of(lines_.begin(), lines_.end(), [&](const LineWanted& l) {
    return (!l.file || *l.file == file) && range->size() != 0 && begin < l.offset + BLACKOUT_LINE &&
           (begin >= l.offset || range->size() > l.offset - begin);
  });
}

bool TraceFilter::wants(const Trace& trace, EventNo n) const {
  const Event& e = trace[n];
  if (n < from_ || n >= to_ || !kinds_[e.kind]) return false;
  if (!threads_.empty() && !threads_.contains(threadOf(e))) return false;
  if (callStacks_ && (e.where == 0 || !(*callStacks_)[stackOf(e)])) return false;
  return (files_.empty() && lines_.empty()) || wantsRange(trace, n);
}

}  // namespace blackout
