#include "model/cursor.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "events/trace.h"

namespace blackout {

namespace {
constexpr std::uint32_t kNotOpen = UINT32_MAX;
constexpr double kStateUnit = 4294967296.0;
}  // namespace

Cursor::Cursor(const Index& index)
    : index_(&index), lines_(index.lineCount()), openPlace_(index.lineCount(), kNotOpen) {
  for (FileNo f = 1; f <= index.files().last(); ++f)
    for (const ZeroRange& z : index.files().zeroRanges(f))
      if (z.begin < z.end) zeros_.push_back({z.at, {lineOf(pmAddr(f, z.begin)), lineOf(pmAddr(f, z.end - 1)) + 1}});
  if (zeros_.empty()) return;
  std::sort(zeros_.begin(), zeros_.end());
  for (LineId id : idRange<LineId>(index.lineCount())) sortedLines_.push_back(index.lineNo(id));
  std::sort(sortedLines_.begin(), sortedLines_.end());
}

Cursor::LineState& Cursor::touch(LineId id) {
  LineState& line = lines_[id];
  if (!line.started) {
    line.started = true;
    index_->files().initialBytes(index_->lineNo(id), line.least);
  }
  if (!line.changed) {
    line.changed = true;
    touched_.push_back(id);
  }
  return line;
}

void Cursor::moveTo(EventNo point) {
  assert(point >= at_);
  at_ = point;
  auto stores = index_->stores();
  auto log = index_->guaranteeLog();
  for (; nextStore_ < stores.endId() && stores[nextStore_].event < point; ++nextStore_) {
    LineState& line = touch(stores[nextStore_].line);
    ++line.length;
    ++line.open;
  }
  // Zeroing before guarantees: a line that was zeroed is worked out anew in settle(), whatever came first.
  for (; nextZero_ < zeros_.size() && zeros_[nextZero_].first < point; ++nextZero_) {
    auto [begin, end] = zeros_[nextZero_].second;
    auto it = std::lower_bound(sortedLines_.begin(), sortedLines_.end(), begin);
    for (; it != sortedLines_.end() && *it < end; ++it) touch(index_->lineId(*it)).zeroed = true;
  }
  for (; nextGuarantee_ < log.size() && stores[log[nextGuarantee_]].guaranteedAt < point; ++nextGuarantee_) {
    StoreNo s = log[nextGuarantee_];
    LineState& line = touch(stores[s].line);
    assert(line.open > 0);
    --line.open;
    if (line.zeroed) continue;
    // The log has the stores of an 8-byte unit in their order, and units don't overlap: laying
    // them on one by one gives the content of the guaranteed down-set.
    const Event& e = index_->trace()[stores[s].event];
    LineStore one;
    one.offset = static_cast<std::uint8_t>(e.addr % BLACKOUT_LINE);
    one.size = static_cast<std::uint8_t>(bytesOf(e));
    one.value[0] = e.value;
    if ((e.len & BLACKOUT_JOINED) != 0) {
      one.size = 16;
      one.value[1] = index_->trace()[stores[s].event + 1].value;
    }
    one.applyTo(line.least);
  }
  changed_.clear();
  for (LineId id : touched_) {
    settle(id);
    changed_.push_back(index_->lineNo(id));
  }
  touched_.clear();
  std::sort(changed_.begin(), changed_.end());
}

// Brings what depends on the stores of a line up to date after a move.
void Cursor::settle(LineId id) {
  LineState& line = lines_[id];
  line.changed = false;
  auto history = index_->history(id);
  auto stores = index_->stores();
  while (line.firstOpen < line.length && stores[history[line.firstOpen]].guaranteedAt < at_) ++line.firstOpen;
  if (line.zeroed) line.least = index_->contentOf(id, at_, leastVersion(id));

  std::int64_t before = line.states;
  if (line.open == 0) {
    line.states = 0;
  } else {
    const ModelOptions& options = index_->options();
    bool total = options.ntOrder == NtOrder::Program && options.wideOrder == WideOrder::Address;
    double states = total ? std::log10(static_cast<double>(line.open) + 1)
                          : log10DownSets(index_->openStores(id, at_, line.firstOpen, line.length), options);
    line.states = std::llround(states * kStateUnit);
  }
  states_ += line.states - before;

  std::uint32_t& place = openPlace_[id];
  if (line.open > 0 && place == kNotOpen) {
    place = static_cast<std::uint32_t>(open_.size());
    open_.push_back(id);
  } else if (line.open == 0 && place != kNotOpen) {
    openPlace_[open_.back()] = place;
    open_[place] = open_.back();
    open_.pop_back();
    place = kNotOpen;
  }
}

Version Cursor::leastVersion(LineId id) const {
  const LineState& line = lines_[id];
  auto history = index_->history(id);
  Version v{line.firstOpen, {}};
  for (std::uint32_t i = line.firstOpen; i < line.length; ++i)
    if (index_->stores()[history[i]].guaranteedAt < at_) v.extra.push_back(i);
  return v;
}

std::vector<LineNo> Cursor::openLines() const {
  std::vector<LineNo> out;
  out.reserve(open_.size());
  for (LineId id : open_) out.push_back(index_->lineNo(id));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<LineNo> Cursor::uncertainLines() const {
  std::vector<LineNo> out = openLines();
  std::erase_if(out, [&](LineNo line) { return versions(line).versions.size() < 2; });
  return out;
}

LineVersions Cursor::versions(LineNo line, std::size_t limit) const {
  LineId id = index_->lineId(line);
  if (id == kNoLine || !lines_[id].started) return index_->versionsOf(line, at_, nullptr, limit);
  const LineState& state = lines_[id];
  return enumerateVersions(leastVersion(id), state.least, index_->openStores(id, at_, state.firstOpen, state.length),
                           index_->options(), limit);
}

LineBytes Cursor::least(LineNo line) const {
  LineId id = index_->lineId(line);
  if (id == kNoLine || !lines_[id].started) return index_->versionsOf(line, at_).versions.front().bytes;
  return lines_[id].least;
}

double Cursor::log10States() const { return static_cast<double>(states_) / kStateUnit; }

double log10StatesOverPoints(const Index& index, std::span<const EventNo> points) {
  Cursor cursor(index);
  // The sum is kept as top * 10^exponent, which no number of lines overflows.
  double exponent = 0;
  double top = 0;
  for (EventNo p : points) {
    cursor.moveTo(p);
    double states = cursor.log10States();
    if (index.files().uncertain())
      states += std::log10(static_cast<double>(index.files().versionsAt(p).versions.size()));
    if (states > exponent) {
      top *= std::pow(10.0, exponent - states);
      exponent = states;
    }
    top += std::pow(10.0, states - exponent);
  }
  return top == 0 ? 0 : exponent + std::log10(top);
}

}  // namespace blackout
