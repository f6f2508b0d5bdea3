#include "binary/typed_objects.h"

#include <algorithm>

#include "events/trace.h"

namespace blackout {

PmRange executionRange(const Trace& trace, EventNo n) {
  PmRange range = PmRange::at(trace[n].addr, bytesOf(trace[n]));
  while (isStore(trace[n]) && (trace[n].len & (BLACKOUT_WIDE | BLACKOUT_JOINED)) != 0) {
    EventNo next = trace.next(n);
    if (next >= trace.end() || !isStore(trace[next]) || threadOf(trace[next]) != threadOf(trace[n])) break;
    n = next;
    range.begin = std::min(range.begin, trace[n].addr);
    range.end = std::max(range.end, trace[n].addr + bytesOf(trace[n]));
  }
  return range;
}

const TypedObjects::SiteSays& TypedObjects::says(SiteNo number) {
  if (!sites_.has(number)) sites_.resize(std::max<std::size_t>(trace_->siteEnd().value(), number.value() + 1));
  SiteSays& s = sites_[number];
  if (s.read) return s;
  s.read = true;
  const Site* site = trace_->site(number);
  if (site == nullptr || site->type.empty()) return s;
  FieldName name = fieldName(site->type);
  LayoutNo layout = layouts_->find(name.structName);
  if (layout == kNoLayout) return s;
  if (name.field.empty() && !name.element) {
    s = {true, layout, 0, (*layouts_)[layout].size, true};
    return s;
  }
  // Of an element it is not known which.
  if (site->type.find("[]") != std::string::npos) return s;
  // Members that share bytes have one key.
  std::string path = name.field.substr(0, name.field.find('/'));
  if (auto place = layouts_->field(layout, path)) s = {true, layout, place->offset, place->size, false};
  return s;
}

void TypedObjects::store(EventNo n) {
  const Event& e = (*trace_)[n];
  const CallStack* stack = trace_->callStack(stackOf(e));
  if (stack == nullptr || stack->site == 0) return;
  const SiteSays& s = says(stack->site);
  if (s.layout == kNoLayout) return;
  PmRange range = executionRange(*trace_, n);
  // A part of a field, or more than one: where the object begins is not known.
  if (range.size() != s.size || range.begin < s.offset) return;
  PmAddr base = range.begin - s.offset;
  if (fileOf(base) != fileOf(range.begin)) return;
  learn({s.layout, base}, n);
}

void TypedObjects::cut(PmAddr at) {
  auto it = segments_.upper_bound(at);
  if (it == segments_.begin()) return;
  --it;
  if (it->first >= at || it->second.end <= at) return;
  Segment rest = it->second;
  it->second.end = at;
  segments_.emplace(at, rest);
}

void TypedObjects::forget(PmRange range, EventNo at) {
  for (auto it = byBase_.lower_bound(range.begin); it != byBase_.end() && it->first < range.end;) {
    for (const TypedObject& o : it->second) {
      auto known = known_.find(o);
      lives_[known->second].until = at;
      known_.erase(known);
    }
    it = byBase_.erase(it);
  }
}

void TypedObjects::remember(TypedObject object, EventNo at, bool fresh) {
  if (!known_.try_emplace(object, lives_.size()).second) return;
  byBase_[object.base].push_back(object);
  lives_.push_back({object, at, fresh ? EventNo(0) : at, EventNo(UINT32_MAX)});
}

void TypedObjects::learn(TypedObject object, EventNo at) {
  if (known_.contains(object)) return;
  const PmRange range = PmRange::at(object.base, (*layouts_)[object.layout].size);
  if (range.size() == 0 || fileOf(range.end - 1) != fileOf(range.begin)) return;
  // Inside one object that has such a thing there, it is nothing new.
  if (auto around = this->at(range.begin, range.size())) {
    std::uint64_t offset = range.begin - around->base;
    if (layouts_->contains(around->layout, offset, object.layout)) return remember(object, at, true);
  }
  cut(range.begin);
  cut(range.end);
  bool fresh = true;
  PmAddr free = range.begin;  // from here on, up to the next segment that stays
  std::vector<std::pair<PmAddr, Segment>> added;
  for (auto it = segments_.lower_bound(range.begin); it != segments_.end() && it->first < range.end;) {
    const TypedObject& other = it->second.object;
    PmAddr otherEnd = other.base + (*layouts_)[other.layout].size;
    bool inside = other.base >= range.begin && otherEnd <= range.end;
    bool around = other.base <= range.begin && otherEnd >= range.end;
    std::uint64_t offset = inside ? other.base - range.begin : 0;
    bool stays =
        inside && !layouts_->contains(object.layout, offset, other.layout) && layouts_->isOpaque(object.layout, offset);
    if (stays) {
      if (free < it->first) added.push_back({free, {it->first, object}});
      free = it->second.end;
      ++it;
      continue;
    }
    bool same = inside && layouts_->contains(object.layout, offset, other.layout);
    bool more = around && layouts_->isOpaque(other.layout, range.begin - other.base);
    if (!same && !more) {
      // It was something else until now.
      fresh = false;
      forget({std::max(range.begin, other.base), std::min(range.end, it->second.end)}, at);
    }
    it = segments_.erase(it);
  }
  if (free < range.end) added.push_back({free, {range.end, object}});
  for (const auto& [begin, segment] : added) segments_.emplace(begin, segment);
  remember(object, at, fresh);
}

std::optional<TypedObject> TypedObjects::at(PmAddr addr, std::uint64_t size) const {
  auto it = segments_.upper_bound(addr);
  if (it == segments_.begin()) return std::nullopt;
  auto next = it;
  --it;
  if (it->second.end >= addr + size) return it->second.object;
  // Behind a record whose last array is as long as it likes.
  const StructLayout& layout = (*layouts_)[it->second.object.layout];
  bool free = next == segments_.end() || next->first >= addr + size;
  if (layout.isOpen() && free && fileOf(addr) == fileOf(it->first)) return it->second.object;
  return std::nullopt;
}

std::string TypedObjects::nameOf(EventNo n) const {
  const Event& e = (*trace_)[n];
  if (const Site* site = trace_->siteOf(e); site != nullptr && !site->type.empty()) return site->type;
  PmRange range = executionRange(*trace_, n);
  auto object = at(range.begin, range.size());
  return object ? layouts_->nameAt(object->layout, range.begin - object->base, range.size()) : std::string();
}

}  // namespace blackout
