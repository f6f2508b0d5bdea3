// The structures that there are specifications for: the operations that a harness makes on each, and what a restart
// asks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "blackout/lin/operations.hpp"
#include "blackout/lin/runtime.hpp"

namespace blackout::lin {

// Which operations a class has.
#define BLACKOUT_LIN_HAS(Name, expression)           \
  template <class T, class A, class B, class = void> \
  struct Name : std::false_type {};                  \
  template <class T, class A, class B>               \
  struct Name<T, A, B, std::void_t<decltype(expression)>> : std::true_type {}

template <class T>
T& any();
struct Visit {
  template <class Key, class Value>
  void operator()(const Key&, const Value&) const {}
};
BLACKOUT_LIN_HAS(HasInsert, any<T>().insert(any<A>(), any<B>()));
BLACKOUT_LIN_HAS(HasUpdate, any<T>().update(any<A>(), any<B>()));
BLACKOUT_LIN_HAS(HasPut, any<T>().put(any<A>(), any<B>()));
BLACKOUT_LIN_HAS(HasScan, any<T>().scan(any<A>(), any<A>(), Visit()));
BLACKOUT_LIN_HAS(HasClose, any<T>().close());
BLACKOUT_LIN_HAS(HasSetInsert, any<T>().insert(any<A>()));
BLACKOUT_LIN_HAS(HasCapacity, any<T>().capacity());
BLACKOUT_LIN_HAS(HasUsual, T::usual(any<A>()));
BLACKOUT_LIN_HAS(HasEnqueue, any<T>().enqueue(any<B>()));
BLACKOUT_LIN_HAS(HasPush, any<T>().push(any<B>()));
BLACKOUT_LIN_HAS(HasWrite, any<T>().write(any<B>()));
BLACKOUT_LIN_HAS(HasWriteAt, any<T>().write(std::size_t(), any<B>()));
#undef BLACKOUT_LIN_HAS

// What the class takes for the number of a key or of a value.
template <class Operand>
Operand operandOf(std::uint64_t number) {
  if constexpr (std::is_same_v<Operand, std::string>) {
    char text[32];
    std::snprintf(text, sizeof text, "%08llu", static_cast<unsigned long long>(number));
    return text;
  } else {
    return static_cast<Operand>(number);
  }
}

template <class T, class Operand>
class MapHarness {
 public:
  static constexpr const char* kName = "map";
  static constexpr bool kUpdates = HasUpdate<T, Operand, Operand>::value, kPuts = HasPut<T, Operand, Operand>::value;
  static std::vector<Shape> operations() {
    std::vector<Shape> has = {{"insert", 2}, {"get", 1}, {"remove", 1}};
    if (kUpdates) has.push_back({"update", 2});
    if (kPuts) has.push_back({"put", 2});
    return has;
  }
  static std::vector<Step> steps(const Settings& s, T&) { return keyedSteps(s, true, kUpdates, kPuts); }
  static std::vector<Step> rivals(const Step& s) {
    if (s.arguments.empty()) return {s};
    std::uint64_t key = s.arguments[0];
    return {{"get", {key}}, {"remove", {key}}, {"insert", {key, 5000}}};
  }

  static bool run(T& map, const Step& s) {
    const std::string& n = s.name;
    if (n == "insert") return insert(map, s.arguments[0], s.arguments[1]), true;
    if (n == "get") return get(map, s.arguments[0]), true;
    if (n == "remove") return remove(map, s.arguments[0]), true;
    if constexpr (kUpdates)
      if (n == "update") return update(map, s.arguments[0], s.arguments[1]), true;
    if constexpr (kPuts)
      if (n == "put") return put(map, s.arguments[0], s.arguments[1]), true;
    return false;
  }

  // Reads first, so that what a crash left is seen as it is. Then every second key goes before anything is added: an
  // insert may put right what a remove would stumble over.
  static void validate(T& map, const std::vector<Step>& steps) {
    std::vector<std::uint64_t> keys = keysOf(steps);
    std::uint64_t fresh = 1'000'000;
    readAll(map, keys);
    scanAll(map, keys);
    for (std::size_t i = 1; i < keys.size(); i += 2) remove(map, keys[i]), get(map, keys[i]);
    insert(map, keys.back(), ++fresh);
    get(map, keys.back());
    if constexpr (kUpdates) update(map, keys.front(), ++fresh);
    for (std::uint64_t key : keys) remove(map, key);
    readAll(map, keys);
    for (std::uint64_t key : keys) insert(map, key, ++fresh);
    readAll(map, keys);
    scanAll(map, keys);
  }

 private:
  static Operand of(std::uint64_t number) { return operandOf<Operand>(number); }
  static void insert(T& map, std::uint64_t key, std::uint64_t v) {
    marked("insert", [&] { return map.insert(of(key), of(v)); }, of(key), of(v));
  }
  static void update(T& map, std::uint64_t key, std::uint64_t v) {
    if constexpr (kUpdates) marked("update", [&] { return map.update(of(key), of(v)); }, of(key), of(v));
  }
  static void put(T& map, std::uint64_t key, std::uint64_t v) {
    if constexpr (kPuts) marked("put", [&] { map.put(of(key), of(v)); }, of(key), of(v));
  }
  static void get(T& map, std::uint64_t key) {
    marked("get", [&] { return map.get(of(key)); }, of(key));
  }
  static void remove(T& map, std::uint64_t key) {
    marked("remove", [&] { return map.remove(of(key)); }, of(key));
  }
  static void readAll(T& map, const std::vector<std::uint64_t>& keys) {
    for (std::uint64_t key : keys) get(map, key);
  }
  // A scan is a read of every key of its range, each by itself; what it finds besides is told as well.
  static void scanAll(T& map, const std::vector<std::uint64_t>& keys) {
    if constexpr (HasScan<T, Operand, Operand>::value) {
      using Found = std::vector<std::pair<Operand, Operand>>;
      Found found;
      map.scan(of(keys.front()), of(keys.back()),
               [&](const auto& key, const auto& v) { found.emplace_back(Operand(key), Operand(v)); });
      for (std::uint64_t key : keys) {
        std::optional<Operand> got;
        for (auto& [k, v] : found)
          if (k == of(key) && !got) got = v;
        marked("scan", [&] { return got; }, of(key));
      }
      std::set<Operand> seen;
      for (auto& [k, v] : found) {
        bool known = std::any_of(keys.begin(), keys.end(), [&, &k = k](std::uint64_t key) { return of(key) == k; });
        // Twice, or never put: an answer that no order explains.
        if (!known || !seen.insert(k).second)
          marked("scan", [&, &v = v] { return std::optional<Operand>(known ? of(0) : v); }, k);
      }
    } else {
      (void)map, (void)keys;
    }
  }
};

template <class T, class Operand>
class SetHarness {
 public:
  static constexpr const char* kName = "set";
  static std::vector<Shape> operations() { return {{"insert", 1}, {"contains", 1}, {"remove", 1}}; }
  static std::vector<Step> steps(const Settings& s, T&) { return keyedSteps(s, false, false, false); }
  static std::vector<Step> rivals(const Step& s) {
    if (s.arguments.empty()) return {s};
    std::uint64_t key = s.arguments[0];
    return {{"contains", {key}}, {"remove", {key}}, {"insert", {key}}};
  }
  static bool run(T& set, const Step& s) {
    if (s.name == "insert") return insert(set, s.arguments[0]), true;
    if (s.name == "contains") return contains(set, s.arguments[0]), true;
    if (s.name == "remove") return remove(set, s.arguments[0]), true;
    return false;
  }
  static void validate(T& set, const std::vector<Step>& steps) {
    std::vector<std::uint64_t> keys = keysOf(steps);
    for (std::uint64_t key : keys) contains(set, key);
    for (std::size_t i = 1; i < keys.size(); i += 2) remove(set, keys[i]), contains(set, keys[i]);
    insert(set, keys.back());
    for (std::uint64_t key : keys) remove(set, key);
    for (std::uint64_t key : keys) contains(set, key);
    for (std::uint64_t key : keys) insert(set, key);
    for (std::uint64_t key : keys) contains(set, key);
  }

 private:
  static Operand of(std::uint64_t number) { return operandOf<Operand>(number); }
  static void insert(T& set, std::uint64_t key) {
    marked("insert", [&] { return set.insert(of(key)); }, of(key));
  }
  static void contains(T& set, std::uint64_t key) {
    marked("contains", [&] { return set.contains(of(key)); }, of(key));
  }
  static void remove(T& set, std::uint64_t key) {
    marked("remove", [&] { return set.remove(of(key)); }, of(key));
  }
};

// Whether it was taken, if the structure says so.
template <class Call>
auto takenBy(Call call) {
  if constexpr (std::is_same_v<decltype(call()), bool>)
    return call();
  else
    (void)call();
}

// A queue or a stack: what differs is the names.
template <class Self, class T, class Operand>
class SequenceHarness {
 public:
  static std::vector<Shape> operations() { return {{Self::kIn, 1}, {Self::kOut, 0}}; }
  // Enough to fill it, empty it by half and fill it again; where nobody knows how much it holds, enough for a small
  // one.
  static std::uint64_t usual(T& sequence) {
    constexpr std::uint64_t kOfUnknown = 60, kMost = 1000;
    std::uint64_t holds = capacityOf(sequence);
    return holds == 0 ? kOfUnknown : std::min(kUsualOperations + 3 * holds, kMost);
  }
  // More in than out, then empty, then both in turns. If it is known how much it holds: full and one more, half of it
  // out, full again (in a ring that passes the end wherever it began), then both in turns.
  static std::vector<Step> steps(const Settings& s, T& sequence) {
    Random random(s);
    std::vector<Step> steps;
    std::uint64_t there = 0, holds = capacityOf(sequence);
    enum { Filling, Halving, Refilling, InTurns } phase = holds == 0 ? InTurns : Filling;
    while (random.wants(steps.size(), s)) {
      std::uint64_t all = random.most(s);
      bool draining = holds == 0 && steps.size() > all / 2 && steps.size() < all * 3 / 4;
      bool takes = false;
      if (phase == InTurns) {
        takes = draining || (there != 0 && random.below(holds == 0 ? 3 : 2) == 0) || (holds != 0 && there >= holds);
      } else {
        // What a fuzzer's bytes decide must be asked for, or they never end.
        bool other = random.below(8) == 0;
        takes = phase == Halving ? !other || there >= holds : other && there != 0;
        constexpr bool kRefuses = std::is_same_v<decltype(Self::put(any<T>(), any<Operand>())), bool>;
        if (phase == Filling && there == holds) {
          if (kRefuses) steps.push_back({Self::kIn, {1000 + steps.size()}});  // one too many
          takes = true;
          phase = Halving;
        } else if (phase == Halving && there <= holds / 2) {
          phase = Refilling;
          takes = false;
        } else if (phase == Refilling && there == holds) {
          phase = InTurns;
          takes = true;
        }
      }
      if (takes) {
        steps.push_back({Self::kOut, {}});
        there -= there == 0 ? 0 : 1;
      } else {
        steps.push_back({Self::kIn, {1000 + steps.size()}});
        ++there;
      }
    }
    return steps;
  }
  static std::vector<Step> rivals(const Step&) { return {{Self::kOut, {}}, {Self::kIn, {5000}}}; }
  static bool run(T& sequence, const Step& s) {
    if (s.name == Self::kIn) return in(sequence, s.arguments[0]), true;
    if (s.name == Self::kOut) return out(sequence), true;
    return false;
  }
  // All that a crash left, in its order; then whether it still works.
  static void validate(T& sequence, const std::vector<Step>& steps) {
    std::size_t most = steps.size() + 2;  // one that never ends is no sequence
    while (most-- != 0 && out(sequence)) {
    }
    std::uint64_t fresh = 1'000'000;
    for (int i = 0; i < 3; ++i) in(sequence, ++fresh);
    out(sequence);
    in(sequence, ++fresh);
    for (int i = 0; i < 4; ++i) out(sequence);
  }

 private:
  static Operand of(std::uint64_t number) { return operandOf<Operand>(number); }
  static void in(T& sequence, std::uint64_t v) {
    marked(Self::kIn, [&] { return Self::put(sequence, of(v)); }, of(v));
  }
  // 0: not known.
  static std::uint64_t capacityOf(T& sequence) {
    if constexpr (HasCapacity<T, int, int>::value)
      return static_cast<std::uint64_t>(sequence.capacity());
    else
      return (void)sequence, 0;
  }
  static bool out(T& sequence) {
    return marked(Self::kOut, [&] { return Self::take(sequence); }).has_value();
  }
};
template <class T, class Operand>
struct QueueHarness : SequenceHarness<QueueHarness<T, Operand>, T, Operand> {
  static constexpr const char *kName = "queue", *kIn = "enqueue", *kOut = "dequeue";
  static auto put(T& queue, const Operand& v) {
    return takenBy([&] { return queue.enqueue(v); });
  }
  static auto take(T& queue) { return queue.dequeue(); }
};
template <class T, class Operand>
struct StackHarness : SequenceHarness<StackHarness<T, Operand>, T, Operand> {
  static constexpr const char *kName = "stack", *kIn = "push", *kOut = "pop";
  static auto put(T& stack, const Operand& v) {
    return takenBy([&] { return stack.push(v); });
  }
  static auto take(T& stack) { return stack.pop(); }
};

template <class T, class Operand>
struct RegisterHarness {
  static constexpr const char* kName = "register";
  static std::vector<Shape> operations() { return {{"write", 1}, {"read", 0}}; }
  static std::vector<Step> steps(const Settings& s, T&) {
    Random random(s);
    std::vector<Step> steps;
    while (random.wants(steps.size(), s))
      if (random.below(4) == 0)
        steps.push_back({"read", {}});
      else
        steps.push_back({"write", {1000 + steps.size()}});
    return steps;
  }
  static std::vector<Step> rivals(const Step&) { return {{"read", {}}, {"write", {5000}}}; }
  static bool run(T& cell, const Step& s) {
    if (s.name == "write") return write(cell, s.arguments[0]), true;
    if (s.name == "read") return read(cell), true;
    return false;
  }
  static void validate(T& cell, const std::vector<Step>&) {
    read(cell);
    write(cell, 1'000'001);
    read(cell);
  }

 private:
  static void write(T& cell, std::uint64_t v) {
    marked("write", [&] { cell.write(operandOf<Operand>(v)); }, operandOf<Operand>(v));
  }
  static void read(T& cell) {
    marked("read", [&] { return cell.read(); });
  }
};

template <class T, class Operand>
struct ArrayHarness {
  static constexpr const char* kName = "array";
  static std::vector<Shape> operations() { return {{"write", 2}, {"read", 1}}; }
  static std::vector<Step> steps(const Settings& s, T& array) {
    Random random(s);
    std::vector<Step> steps;
    std::uint64_t size = array.size();
    if (size == 0) stop("size() is 0: there is nothing to write");
    while (random.wants(steps.size(), s))
      if (random.below(5) == 0)
        steps.push_back({"read", {random.below(size)}});
      else
        steps.push_back({"write", {random.below(size), 1000 + steps.size()}});
    return steps;
  }
  static std::vector<Step> rivals(const Step& s) {
    if (s.arguments.empty()) return {s};
    return {{"read", {s.arguments[0]}}, {"write", {s.arguments[0], 5000}}};
  }
  static bool run(T& array, const Step& s) {
    if (s.arguments[0] >= array.size())
      stop(textOf(s) + ": this array's size is " + std::to_string(array.size()) + ", and its first index 0");
    if (s.name == "write") return write(array, s.arguments[0], s.arguments[1]), true;
    if (s.name == "read") return read(array, s.arguments[0]), true;
    return false;
  }
  static void validate(T& array, const std::vector<Step>&) {
    std::uint64_t size = array.size();
    for (std::uint64_t i = 0; i < size; ++i) read(array, i);
    for (std::uint64_t i = 0; i < size; ++i) write(array, i, 1'000'000 + i);
    for (std::uint64_t i = 0; i < size; ++i) read(array, i);
  }

 private:
  static void write(T& array, std::uint64_t i, std::uint64_t v) {
    marked("write", [&] { array.write(i, operandOf<Operand>(v)); }, i, operandOf<Operand>(v));
  }
  static void read(T& array, std::uint64_t i) {
    marked("read", [&] { return array.read(i); }, i);
  }
};

template <class T, class Operand>
struct CounterHarness {
  static constexpr const char* kName = "counter";
  static std::vector<Shape> operations() { return {{"add", 1}, {"read", 0}}; }
  static std::vector<Step> steps(const Settings& s, T&) {
    Random random(s);
    std::vector<Step> steps;
    while (random.wants(steps.size(), s))
      if (random.below(5) == 0)
        steps.push_back({"read", {}});
      else
        steps.push_back({"add", {1 + random.below(100)}});
    return steps;
  }
  static std::vector<Step> rivals(const Step&) { return {{"read", {}}, {"add", {5000}}}; }
  static bool run(T& counter, const Step& s) {
    if (s.name == "add") return add(counter, s.arguments[0]), true;
    if (s.name == "read") return read(counter), true;
    return false;
  }
  static void validate(T& counter, const std::vector<Step>&) {
    read(counter);
    add(counter, 7);
    read(counter);
  }

 private:
  static void add(T& counter, std::uint64_t v) {
    marked("add", [&] { counter.add(v); }, v);
  }
  static void read(T& counter) {
    marked("read", [&] { return counter.read(); });
  }
};

}  // namespace blackout::lin
