// What the usual structures answer, as specifications for linearize.hpp. Keys and values are words; whoever has longer
// ones numbers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "blackout/linearize.hpp"

namespace blackout::lin {

using Word = std::uint64_t;

enum class Does : std::uint8_t {
  Insert,    // key, value -> whether it was not there
  Put,       // key, value: there or not
  Update,    // key, value -> whether it was there
  Remove,    // key -> whether it was there
  Get,       // key -> value, or nothing
  Contains,  // key -> whether it is there
  Write,     // key, value
  Read,      // key -> value
  Add,       // value
  Push,      // value -> whether there was room, or nothing: there always is
  Pop,       // -> value, or nothing
};

// What a call returned: nothing or false, true, or a value.
struct Reply {
  bool some = false;
  Word value = 0;
  bool operator==(const Reply& o) const { return some == o.some && value == o.value; }
};

struct StructureCall {
  Does does{};
  Word key = 0;
  Word value = 0;
  std::optional<Reply> reply;  // none: it returns nothing
};

// What the specifications below share: a call is legal if the reply is the one that the state gives.
template <class Self>
struct ByReply {
  using Call = StructureCall;
  bool apply(const Call& call, bool answered) {
    Self& self = *static_cast<Self*>(this);
    if (answered && call.reply && !(self.reply(call) == *call.reply)) return false;
    self.change(call);
    return true;
  }
};

// One key of a map or a set.
struct MapKey : ByReply<MapKey> {
  std::optional<Word> value;
  static Word part(const Call& c) { return c.key; }
  bool operator==(const MapKey& o) const { return value == o.value; }
  std::size_t hash() const { return value ? detail::mixed(1, *value) : 0; }
  Reply reply(const Call& c) const {
    switch (c.does) {
      case Does::Insert:
        return {!value, 0};
      case Does::Get:
        return {value.has_value(), value.value_or(0)};
      default:
        return {value.has_value(), 0};
    }
  }
  void change(const Call& c) {
    if (c.does == Does::Remove)
      value.reset();
    else if (c.does == Does::Put || (c.does == Does::Insert && !value) || (c.does == Does::Update && value))
      value = c.value;
  }
};

// A register, or one element of an array; 0 at first.
struct Register : ByReply<Register> {
  Word value = 0;
  static Word part(const Call& c) { return c.key; }
  bool operator==(const Register& o) const { return value == o.value; }
  std::size_t hash() const { return detail::mixed(0, value); }
  Reply reply(const Call&) const { return {true, value}; }
  void change(const Call& c) {
    if (c.does == Does::Write) value = c.value;
  }
};

// Adds, and reads the sum.
struct Counter : ByReply<Counter> {
  Word sum = 0;
  bool operator==(const Counter& o) const { return sum == o.sum; }
  std::size_t hash() const { return detail::mixed(0, sum); }
  Reply reply(const Call&) const { return {true, sum}; }
  void change(const Call& c) {
    if (c.does == Does::Add) sum += c.value;
  }
};

// What is pushed and popped, at one end or at both.
template <bool kFirstInFirstOut>
struct Sequence : ByReply<Sequence<kFirstInFirstOut>> {
  using Call = StructureCall;
  std::vector<Word> items;
  std::size_t first = 0;  // of a queue: items before it are gone
  bool operator==(const Sequence& o) const {
    return items.size() - first == o.items.size() - o.first &&
           std::equal(items.begin() + static_cast<std::ptrdiff_t>(first), items.end(),
                      o.items.begin() + static_cast<std::ptrdiff_t>(o.first));
  }
  std::size_t hash() const {
    std::size_t h = 0;
    for (std::size_t i = first; i < items.size(); ++i) h = detail::mixed(h, items[i]);
    return h;
  }
  // One that is full takes nothing. How much goes in, nobody says; something does: an empty one is not full.
  bool apply(const Call& call, bool answered) {
    if (!refused(call) || !answered) return ByReply<Sequence>::apply(call, answered);
    return first != items.size();
  }
  static bool refused(const Call& c) { return c.does == Does::Push && c.reply && !c.reply->some; }
  Reply reply(const Call& c) const {
    if (c.does == Does::Push) return {true, 0};
    if (first == items.size()) return {};
    return {true, kFirstInFirstOut ? items[first] : items.back()};
  }
  void change(const Call& c) {
    if (c.does == Does::Push) items.push_back(c.value);
    if (c.does != Does::Pop || first == items.size()) return;
    if (!kFirstInFirstOut) {
      items.pop_back();
    } else if (++first > items.size() / 2) {
      items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(first));
      first = 0;
    }
  }
};
using Stack = Sequence<false>;

// Where no value is pushed twice, pops tell the order of pushes and the other way round.
struct Queue : Sequence<true> {
  using Call = StructureCall;
  template <class Before>
  static void implied(const std::vector<Seen<Call>>& calls, Before before) {
    std::unordered_map<Word, Item> items;
    bool unanswered = false;  // a pop that may have taken anything
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Call& c = *calls[i].call;
      if (c.does == Does::Pop && !calls[i].must) unanswered = true;
      if (refused(c) || (c.does == Does::Pop && (!calls[i].must || !c.reply || !c.reply->some))) continue;
      Item& item = items[c.does == Does::Push ? c.value : c.reply->value];
      std::size_t& at = c.does == Does::Push ? item.push : item.pop;
      if (at != kNone) return;
      at = i;
    }
    for (const auto& [value, a] : items) {
      if (a.push == kNone || a.pop == kNone) continue;
      for (const auto& [other, b] : items) {
        if (value == other || b.push == kNone) continue;
        if (b.pop == kNone ? !unanswered : calls[a.pop].ended < calls[b.pop].began) before(a.push, b.push);
        if (b.pop != kNone && calls[a.push].ended < calls[b.push].began) before(a.pop, b.pop);
      }
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Item {
    std::size_t push = kNone;
    std::size_t pop = kNone;
  };
};

}  // namespace blackout::lin
