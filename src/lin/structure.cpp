#include "lin/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace blackout {

using lin::Does;
using lin::Reply;
using lin::StructureCall;

namespace {

struct KindName {
  StructureKind kind;
  std::string_view name;
};
constexpr std::array kKinds = {
    KindName{StructureKind::Map, "map"},           KindName{StructureKind::Set, "set"},
    KindName{StructureKind::Queue, "queue"},       KindName{StructureKind::Stack, "stack"},
    KindName{StructureKind::Register, "register"}, KindName{StructureKind::Array, "array"},
    KindName{StructureKind::Counter, "counter"},
};

struct CriterionName {
  lin::Criterion criterion;
  std::string_view name;
};
constexpr std::array kCriteria = {
    CriterionName{lin::Criterion::Durable, "durable"},
    CriterionName{lin::Criterion::Strict, "strict"},
    CriterionName{lin::Criterion::Buffered, "buffered"},
};

// One row for each operation of a structure. `keyed` and `valued`: its arguments, in this order.
struct OperationRow {
  StructureKind kind;
  std::string_view name;
  Does does;
  bool keyed;
  bool valued;
};
constexpr StructureKind kMap = StructureKind::Map, kSet = StructureKind::Set, kArray = StructureKind::Array;
constexpr std::array kOperations = {
    OperationRow{kMap, "insert", Does::Insert, true, true},
    OperationRow{kMap, "put", Does::Put, true, true},
    OperationRow{kMap, "update", Does::Update, true, true},
    OperationRow{kMap, "remove", Does::Remove, true, false},
    OperationRow{kMap, "get", Does::Get, true, false},
    OperationRow{kMap, "scan", Does::Get, true, false},
    OperationRow{kMap, "contains", Does::Contains, true, false},
    OperationRow{kSet, "insert", Does::Insert, true, false},
    OperationRow{kSet, "remove", Does::Remove, true, false},
    OperationRow{kSet, "contains", Does::Contains, true, false},
    OperationRow{kSet, "scan", Does::Contains, true, false},
    OperationRow{StructureKind::Queue, "enqueue", Does::Push, false, true},
    OperationRow{StructureKind::Queue, "dequeue", Does::Pop, false, false},
    OperationRow{StructureKind::Stack, "push", Does::Push, false, true},
    OperationRow{StructureKind::Stack, "pop", Does::Pop, false, false},
    OperationRow{StructureKind::Register, "write", Does::Write, false, true},
    OperationRow{StructureKind::Register, "read", Does::Read, false, false},
    OperationRow{kArray, "write", Does::Write, true, true},
    OperationRow{kArray, "read", Does::Read, true, false},
    OperationRow{StructureKind::Counter, "add", Does::Add, false, true},
    OperationRow{StructureKind::Counter, "read", Does::Read, false, false},
};

// What it returns is a value, not a yes or no.
bool givesValue(Does does) { return does == Does::Get || does == Does::Pop || does == Does::Read; }
// What it returns means nothing.
bool givesNothing(Does does) { return does == Does::Put || does == Does::Write || does == Does::Add; }
// Beyond it, words are numbers of values.
constexpr lin::Word kNumbered = lin::Word{1} << 63;

template <class Spec>
OrderVerdict verdictBy(const StructureHistory& history, lin::Criterion criterion) {
  lin::Explanation<Spec> e = lin::explain<Spec>(history, criterion);
  OrderVerdict out;
  out.answer = e.answer;
  if (e.answer != lin::Answer::No) return out;
  NoOrderFound none{std::move(e.part), std::move(e.longest), 0, {}};
  std::sort(none.part.begin(), none.part.end());
  if (!e.contradictions.empty()) none.call = e.contradictions.front().call;
  for (const auto& c : e.contradictions) {
    if (c.call != none.call) continue;
    Reply reply = c.state.reply(history.calls[c.call].call);
    if (std::find(none.possible.begin(), none.possible.end(), reply) == none.possible.end())
      none.possible.push_back(reply);
  }
  out.none = std::move(none);
  return out;
}

}  // namespace

std::string_view nameOf(StructureKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](const KindName& k) { return k.kind == kind; })->name;
}
std::optional<StructureKind> structureNamed(std::string_view name) {
  for (const KindName& k : kKinds)
    if (k.name == name) return k.kind;
  return std::nullopt;
}
std::string_view nameOf(lin::Criterion criterion) {
  return std::find_if(kCriteria.begin(), kCriteria.end(), [&](const auto& c) { return c.criterion == criterion; })
      ->name;
}
std::optional<lin::Criterion> criterionNamed(std::string_view name) {
  for (const CriterionName& c : kCriteria)
    if (c.name == name) return c.criterion;
  return std::nullopt;
}

lin::Word StructureCalls::wordOf(const Value& value) {
  if (value.kind == ValueKind::Unsigned && value.number < kNumbered) return value.number;
  if (value.kind == ValueKind::Signed && value.number < kNumbered) return value.number;
  Value one = value;
  auto [at, fresh] = numbers_.try_emplace(encodeValues(std::span(&one, 1)), kNumbered | values_.size());
  if (fresh) values_.push_back(value);
  return at->second;
}

Value StructureCalls::valueOf(lin::Word word) const {
  return word < kNumbered ? Value::ofUnsigned(word) : values_[word & ~kNumbered];
}

Result<StructureCall> StructureCalls::callOf(std::string_view name, std::span<const Value> arguments,
                                             std::span<const Value> results, bool ended) {
  const OperationRow* row = nullptr;
  for (const OperationRow& r : kOperations)
    if (r.kind == kind_ && r.name == name) row = &r;
  if (row == nullptr) return fail(fmt::format("a {} has no operation \"{}\"", nameOf(kind_), name));
  std::size_t wanted = (row->keyed ? 1U : 0U) + (row->valued ? 1U : 0U);
  if (arguments.size() != wanted)
    return fail(fmt::format("\"{}\" of a {} takes {} argument{}, and was marked with {}", name, nameOf(kind_), wanted,
                            wanted == 1 ? "" : "s", arguments.size()));
  if (ended && results.size() > 1)
    return fail(fmt::format("\"{}\" of a {} returns one value or none, and was marked with {}", name, nameOf(kind_),
                            results.size()));
  StructureCall call;
  call.does = row->does;
  std::size_t next = 0;
  if (row->keyed) call.key = wordOf(arguments[next++]);
  if (row->valued) call.value = wordOf(arguments[next++]);
  if (row->valued) put_[call.value] = true;
  if (!ended) return call;
  if (!givesValue(row->does)) {
    if (results.empty() || givesNothing(row->does) || (guessed_ && row->does != Does::Contains)) return call;
    if (results[0].kind != ValueKind::Unsigned && results[0].kind != ValueKind::Signed)
      return fail(fmt::format("\"{}\" of a {} returns yes or no, and was marked with {}", name, nameOf(kind_),
                              textOf(results[0])));
    call.reply = Reply{results[0].number != 0, 0};
  } else if (results.empty()) {
    call.reply = Reply{};
  } else {
    lin::Word word = wordOf(results[0]);
    call.reply = guessed_ && !put_.contains(word) ? Reply{} : Reply{true, word};
  }
  return call;
}

Values StructureCalls::resultsOf(const StructureCall& call, const Reply& reply) const {
  if (!givesValue(call.does)) return {Value::ofUnsigned(reply.some ? 1 : 0)};
  if (!reply.some) return {};
  return {valueOf(reply.value)};
}

// Only where the words leave no doubt: whether an insert of a key that is there changes it, nobody can say, and what is
// pushed may be popped at either end.
std::optional<StructureKind> structureOf(std::span<const std::string_view> names) {
  auto all = [&](std::initializer_list<std::string_view> known) {
    return !names.empty() && std::all_of(names.begin(), names.end(), [&](std::string_view name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    });
  };
  if (all({"put", "get", "remove"})) return StructureKind::Map;
  if (all({"enqueue", "dequeue"})) return StructureKind::Queue;
  return std::nullopt;
}

OrderVerdict explainHistory(StructureKind kind, const StructureHistory& history, lin::Criterion criterion) {
  switch (kind) {
    case StructureKind::Map:
    case StructureKind::Set:
      return verdictBy<lin::MapKey>(history, criterion);
    case StructureKind::Queue:
      return verdictBy<lin::Queue>(history, criterion);
    case StructureKind::Stack:
      return verdictBy<lin::Stack>(history, criterion);
    case StructureKind::Register:
    case StructureKind::Array:
      return verdictBy<lin::Register>(history, criterion);
    case StructureKind::Counter:
      return verdictBy<lin::Counter>(history, criterion);
  }
  __builtin_unreachable();
}

}  // namespace blackout
