#include "naive.h"

#include <string>

namespace blackout::lin::test {

Reply Whole::reply(Kind kind, const StructureCall& c) {
  auto at = pairs_.begin();
  while (at != pairs_.end() && at->first != c.key) ++at;
  bool there = at != pairs_.end();
  auto set = [&] {
    if (there)
      at->second = c.value;
    else
      pairs_.emplace_back(c.key, c.value);
  };
  Reply r;
  switch (kind) {
    case Kind::Map:
      if (c.does == Does::Insert) {
        r.some = !there;
        if (!there) set();
      } else if (c.does == Does::Put) {
        r.some = there;
        set();
      } else if (c.does == Does::Update) {
        r.some = there;
        if (there) set();
      } else if (c.does == Does::Remove) {
        r.some = there;
        if (there) pairs_.erase(at);
      } else if (c.does == Does::Get) {
        r.some = there;
        if (there) r.value = at->second;
      } else {
        r.some = there;
      }
      return r;
    case Kind::Register:
      r = {true, there ? at->second : 0};
      if (c.does == Does::Write) set();
      return r;
    case Kind::Counter:
      r = {true, sum_};
      if (c.does == Does::Add) sum_ += c.value;
      return r;
    case Kind::Queue:
    case Kind::Stack:
      if (!items_.empty()) r = {true, kind == Kind::Queue ? items_.front() : items_.back()};
      if (c.does == Does::Push) items_.push_back(c.value);
      if (c.does == Does::Pop && !items_.empty()) items_.erase(kind == Kind::Queue ? items_.begin() : items_.end() - 1);
      return r;
  }
  return r;
}

namespace {

struct Made {
  StructureCall call;
  std::uint64_t began, ended;
};

// All of these take effect, in some order.
bool ordered(Kind kind, std::vector<Made> left, const Whole& before) {
  if (left.empty()) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    bool first = true;
    for (const Made& other : left) first &= other.ended >= left[i].began;
    if (!first) continue;
    Whole after = before;
    Reply reply = after.reply(kind, left[i].call);
    if (left[i].call.reply && !(reply == *left[i].call.reply)) continue;
    std::vector<Made> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (ordered(kind, rest, after)) return true;
  }
  return false;
}

// Each choice of those that may take effect.
bool chosen(Kind kind, const std::vector<Made>& must, const std::vector<Made>& may) {
  for (std::uint32_t mask = 0; mask < 1U << may.size(); ++mask) {
    std::vector<Made> all = must;
    for (std::size_t i = 0; i < may.size(); ++i)
      if ((mask >> i & 1) != 0) all.push_back(may[i]);
    if (ordered(kind, all, {})) return true;
  }
  return false;
}

std::uint64_t crashAfter(const Calls& h, std::uint64_t time) {
  for (std::uint64_t crash : h.crashes)
    if (crash > time) return crash;
  return kNever;
}

// Of each call: 0 not at all, 1 its begin, 2 its begin and its end survive.
bool buffered(Kind kind, const Calls& h, std::vector<int>& kept, std::size_t next) {
  std::uint64_t lastCrash = h.crashes.back();
  if (next < h.calls.size() && h.calls[next].began < lastCrash) {
    for (int k = 0; k <= (h.calls[next].ended == kNever ? 1 : 2); ++k) {
      kept[next] = k;
      if (buffered(kind, h, kept, next + 1)) return true;
    }
    return false;
  }
  // Closed under happening before?
  for (std::size_t a = 0; a < next; ++a)
    for (std::size_t b = 0; b < next; ++b) {
      bool oneRun = crashAfter(h, h.calls[a].began) == crashAfter(h, h.calls[b].began);
      if (oneRun && kept[b] >= 1 && h.calls[a].ended < h.calls[b].began && kept[a] != 2) return false;
    }
  for (std::size_t run = 0; run <= h.crashes.size(); ++run) {
    std::uint64_t from = run == 0 ? 0 : h.crashes[run - 1], to = run < h.crashes.size() ? h.crashes[run] : kNever;
    std::vector<Made> must, may;
    for (std::size_t i = 0; i < h.calls.size(); ++i) {
      const auto& c = h.calls[i];
      if (c.began > to || (c.began < from && kept[i] == 0)) continue;
      bool ends = c.ended != kNever && (c.began > from || kept[i] == 2);
      StructureCall call = c.call;
      if (!ends) call.reply.reset();
      (ends ? must : may).push_back({call, c.began, ends ? c.ended : kNever});
    }
    if (!chosen(kind, must, may)) return false;
  }
  return true;
}

}  // namespace

bool naivelyExplained(Kind kind, const Calls& h, Criterion criterion) {
  if (criterion == Criterion::Buffered && !h.crashes.empty()) {
    std::vector<int> kept(h.calls.size());
    return buffered(kind, h, kept, 0);
  }
  std::vector<Made> must, may;
  for (const auto& c : h.calls)
    if (c.ended != kNever)
      must.push_back({c.call, c.began, c.ended});
    else
      may.push_back({c.call, c.began, criterion == Criterion::Strict ? crashAfter(h, c.began) : kNever});
  return chosen(kind, must, may);
}

Answer explained(Kind kind, const Calls& h, Criterion criterion) {
  switch (kind) {
    case Kind::Map:
      return explain<MapKey>(h, criterion).answer;
    case Kind::Register:
      return explain<Register>(h, criterion).answer;
    case Kind::Counter:
      return explain<Counter>(h, criterion).answer;
    case Kind::Queue:
      return explain<Queue>(h, criterion).answer;
    case Kind::Stack:
      return explain<Stack>(h, criterion).answer;
  }
  return Answer::Unknown;
}

std::string textOf(const Calls& h) {
  static const char* const names[] = {"insert", "put",  "update", "remove", "get", "contains",
                                      "write",  "read", "add",    "push",   "pop"};
  std::string text;
  for (const auto& c : h.calls) {
    text += std::string(names[static_cast<int>(c.call.does)]) + "(" + std::to_string(c.call.key) + "," +
            std::to_string(c.call.value) + ")";
    if (c.call.reply) text += "=" + std::string(c.call.reply->some ? "+" : "-") + std::to_string(c.call.reply->value);
    text += "[" + std::to_string(c.began) + "," + (c.ended == kNever ? "-" : std::to_string(c.ended)) + "] ";
  }
  text += "crashes";
  for (std::uint64_t crash : h.crashes) text += " " + std::to_string(crash);
  return text;
}

}  // namespace blackout::lin::test
