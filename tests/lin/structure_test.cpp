// Marked operations as calls of a structure, and what is said of a history that has no order.
#include "lin/structure.h"

#include <gtest/gtest.h>

namespace blackout {

namespace {

Value n(std::uint64_t v) { return Value::ofUnsigned(v); }

// One after the other; a crash where the name is empty.
struct Made {
  std::string name;
  Values arguments;
  std::optional<Values> results;  // none: under way
};
StructureHistory historyOf(StructureCalls& calls, const std::vector<Made>& all) {
  StructureHistory h;
  std::uint64_t time = 0;
  for (const Made& m : all) {
    if (m.name.empty()) {
      h.crashes.push_back(++time);
      continue;
    }
    auto call = calls.callOf(m.name, m.arguments, m.results.value_or(Values()), m.results.has_value());
    EXPECT_TRUE(call) << call.error().sentence;
    std::uint64_t began = ++time;
    h.calls.push_back({*call, began, m.results ? ++time : lin::kNever});
  }
  return h;
}
OrderVerdict judged(StructureKind kind, const std::vector<Made>& all,
                    lin::Criterion criterion = lin::Criterion::Durable, bool guessed = false) {
  StructureCalls calls(kind, guessed);
  return explainHistory(kind, historyOf(calls, all), criterion);
}
const Made kCrash{};

}  // namespace

TEST(Structure, AnAcknowledgedInsertThatIsLostHasNoOrder) {
  std::vector<Made> all = {{"insert", {n(1), n(10)}, Values{n(1)}},
                           {"insert", {n(7), n(70)}, Values{n(1)}},
                           kCrash,
                           {"get", {n(1)}, Values{n(10)}},
                           {"get", {n(7)}, Values{}}};
  OrderVerdict v = judged(StructureKind::Map, all);
  ASSERT_EQ(v.answer, lin::Answer::No);
  EXPECT_EQ(v.none->part, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(v.none->longest, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(v.none->call, 3U);
  EXPECT_EQ(v.none->possible, std::vector<lin::Reply>({{true, 70}}));
  // Lost with everything before it, it is a beginning that survives.
  all[3].results = Values{};
  EXPECT_EQ(judged(StructureKind::Map, all).answer, lin::Answer::No);
  EXPECT_EQ(judged(StructureKind::Map, all, lin::Criterion::Buffered).answer, lin::Answer::Yes);
}

TEST(Structure, AnInterruptedOperationIsThereOrNot) {
  for (const Values& found : {Values{}, Values{n(70)}}) {
    std::vector<Made> all = {{"insert", {n(7), n(70)}, {}}, kCrash, {"get", {n(7)}, found}};
    EXPECT_EQ(judged(StructureKind::Map, all).answer, lin::Answer::Yes);
  }
  OrderVerdict torn =
      judged(StructureKind::Map, {{"insert", {n(7), n(70)}, {}}, kCrash, {"get", {n(7)}, Values{n(0)}}});
  ASSERT_TRUE(torn.none);
  EXPECT_EQ(torn.none->possible.size(), 2U);  // nothing, or 70
}

TEST(Structure, WhatAppearsLaterIsDurableAndNotStrict) {
  std::vector<Made> all = {
      {"insert", {n(7), n(70)}, {}}, kCrash, {"get", {n(7)}, Values{}}, {"get", {n(7)}, Values{n(70)}}};
  EXPECT_EQ(judged(StructureKind::Map, all).answer, lin::Answer::Yes);
  EXPECT_EQ(judged(StructureKind::Map, all, lin::Criterion::Strict).answer, lin::Answer::No);
}

// Linearizable without the crash, but not durably; and the reverse: what is durable, in an order that was never there.
TEST(Structure, LinearizableAndDurableAreTwoThings) {
  std::vector<Made> lost = {{"enqueue", {n(1)}, Values{}}, kCrash, {"dequeue", {}, Values{}}};
  EXPECT_EQ(judged(StructureKind::Queue, lost).answer, lin::Answer::No);
  lost.erase(lost.begin() + 1, lost.end());
  EXPECT_EQ(judged(StructureKind::Queue, lost).answer, lin::Answer::Yes);
  std::vector<Made> swapped = {{"enqueue", {n(1)}, Values{}}, {"enqueue", {n(2)}, Values{}},
                               {"dequeue", {}, Values{n(2)}}, kCrash,
                               {"dequeue", {}, Values{n(1)}}, {"dequeue", {}, Values{}}};
  EXPECT_EQ(judged(StructureKind::Queue, swapped).answer, lin::Answer::No);
  swapped[2].results = Values{n(1)};
  swapped[4].results = Values{n(2)};
  EXPECT_EQ(judged(StructureKind::Queue, swapped).answer, lin::Answer::Yes);
}

// What is full takes nothing, and says so; one with nothing in it is not full.
TEST(Structure, WhatIsFullRefuses) {
  for (StructureKind kind : {StructureKind::Queue, StructureKind::Stack}) {
    std::string in = kind == StructureKind::Queue ? "enqueue" : "push";
    std::string out = kind == StructureKind::Queue ? "dequeue" : "pop";
    std::vector<Made> all = {{in, {n(1)}, Values{n(1)}}, {in, {n(2)}, Values{n(0)}}, kCrash,
                             {in, {n(3)}, Values{n(0)}}, {out, {}, Values{n(1)}},    {out, {}, Values{}}};
    EXPECT_EQ(judged(kind, all).answer, lin::Answer::Yes);
    all[4].results = Values{n(2)};  // it was refused, and is there
    EXPECT_EQ(judged(kind, all).answer, lin::Answer::No);
    all[4].results = Values{n(1)};
    all.push_back({in, {n(4)}, Values{n(0)}});  // nothing is in it
    EXPECT_EQ(judged(kind, all).answer, lin::Answer::No);
    all.back().results = Values{n(1)};
    EXPECT_EQ(judged(kind, all).answer, lin::Answer::Yes);
  }
}

// An interrupted operation on another key, which the search first tries as if it had taken effect.
TEST(Structure, TheContradictionIsThatOfTheKeyWithoutAnOrder) {
  OrderVerdict v = judged(StructureKind::Map, {{"remove", {n(1)}, Values{n(0)}},
                                               {"insert", {n(2), n(20)}, Values{n(1)}},
                                               {"insert", {n(1), n(10)}, {}},
                                               kCrash,
                                               {"get", {n(1)}, Values{}},
                                               {"get", {n(2)}, Values{}}});
  ASSERT_TRUE(v.none);
  EXPECT_EQ(v.none->call, 4U);
  EXPECT_EQ(v.none->part, (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(v.none->longest, (std::vector<std::uint32_t>{1}));
}

TEST(Structure, ValuesOfEveryKindAreToldApart) {
  StructureCalls calls(StructureKind::Map, false);
  Values key = {Value::ofText("k"), Value::ofBytes("v")};
  auto insert = calls.callOf("insert", key, Values{n(1)}, true);
  auto same = calls.callOf("get", Values{Value::ofText("k")}, Values{Value::ofBytes("v")}, true);
  auto other = calls.callOf("get", Values{Value::ofBytes("k")}, Values{Value::ofText("v")}, true);
  ASSERT_TRUE(insert && same && other);
  EXPECT_EQ(insert->key, same->key);
  EXPECT_EQ(insert->value, same->reply->value);
  EXPECT_NE(insert->key, other->key);
  EXPECT_NE(insert->value, other->reply->value);
  EXPECT_EQ(calls.resultsOf(*same, {true, insert->value}), Values{Value::ofBytes("v")});
  EXPECT_EQ(calls.resultsOf(*same, {}), Values{});
  EXPECT_EQ(calls.resultsOf(*insert, {}), Values{n(0)});
}

// What each operation of a structure is marked with: a key, a value, both or nothing.
TEST(Structure, TakesTheArgumentsOfItsOperations) {
  struct Row {
    StructureKind kind;
    std::string name;
    std::size_t arguments;
  };
  using enum StructureKind;
  for (const Row& row :
       std::vector<Row>{{Map, "insert", 2},    {Map, "put", 2},      {Map, "update", 2},   {Map, "remove", 1},
                        {Map, "get", 1},       {Map, "scan", 1},     {Map, "contains", 1}, {Set, "insert", 1},
                        {Set, "remove", 1},    {Set, "contains", 1}, {Set, "scan", 1},     {Queue, "enqueue", 1},
                        {Queue, "dequeue", 0}, {Stack, "push", 1},   {Stack, "pop", 0},    {Register, "write", 1},
                        {Register, "read", 0}, {Array, "write", 2},  {Array, "read", 1},   {Counter, "add", 1},
                        {Counter, "read", 0}})
    for (std::size_t given = 0; given <= 3; ++given) {
      StructureCalls calls(row.kind, false);
      EXPECT_EQ(calls.callOf(row.name, Values(given, n(1)), Values{}, false).has_value(), given == row.arguments)
          << row.name << " with " << given;
    }
}

TEST(Structure, WhatIsNoOperationOfItIsSaid) {
  StructureCalls calls(StructureKind::Map, false);
  EXPECT_EQ(calls.callOf("upsert", Values{n(1)}, Values{}, true).error().sentence, "a map has no operation \"upsert\"");
  EXPECT_EQ(calls.callOf("insert", Values{n(1)}, Values{}, true).error().sentence,
            "\"insert\" of a map takes 2 arguments, and was marked with 1");
  EXPECT_EQ(calls.callOf("get", Values{n(1)}, Values{n(1), n(2)}, true).error().sentence,
            "\"get\" of a map returns one value or none, and was marked with 2");
  EXPECT_FALSE(calls.callOf("insert", Values{n(1), n(2)}, Values{Value::ofText("yes")}, true));
  // A number that says nothing, as blackout_op_end(0) has it.
  EXPECT_FALSE(calls.callOf("put", Values{n(1), n(2)}, Values{n(0)}, true)->reply);
  // What it would have returned is not known.
  EXPECT_TRUE(calls.callOf("get", Values{n(1)}, Values{n(1), n(2)}, false));
}

// Where only names say what it is, a value that nobody put is another word for none, and what a put returns means
// nothing.
TEST(Structure, AGuessIsCareful) {
  std::vector<Made> all = {{"put", {n(1), n(10)}, Values{n(0)}}, kCrash, {"get", {n(2)}, Values{n(0)}}};
  EXPECT_EQ(judged(StructureKind::Map, all).answer, lin::Answer::No);
  EXPECT_EQ(judged(StructureKind::Map, all, lin::Criterion::Durable, true).answer, lin::Answer::Yes);
  all.push_back({"get", {n(1)}, Values{n(0)}});
  EXPECT_EQ(judged(StructureKind::Map, all, lin::Criterion::Durable, true).answer, lin::Answer::No);
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(structureOf(Names{"put", "get"}), StructureKind::Map);
  EXPECT_EQ(structureOf(Names{"enqueue"}), StructureKind::Queue);
  EXPECT_EQ(structureOf(Names{"insert", "get"}), std::nullopt);
  EXPECT_EQ(structureOf(Names{"push", "pop"}), std::nullopt);
  EXPECT_EQ(structureOf(Names{}), std::nullopt);
}

TEST(Structure, Names) {
  for (const char* name : {"map", "set", "queue", "stack", "register", "array", "counter"})
    EXPECT_EQ(nameOf(*structureNamed(name)), name);
  EXPECT_EQ(structureNamed("tree"), std::nullopt);
  for (const char* name : {"durable", "strict", "buffered"}) EXPECT_EQ(nameOf(*criterionNamed(name)), name);
}

// Long histories, and a budget that is too small.
TEST(Structure, TheBudgetEndsASearch) {
  lin::CrashHistory<lin::StructureCall> h;
  for (std::uint64_t i = 0; i < 40; ++i) h.calls.push_back({{lin::Does::Push, 0, i % 3, {}}, i, 1000 + i});
  for (std::uint64_t i = 0; i < 40; ++i)
    h.calls.push_back({{lin::Does::Pop, 0, 0, lin::Reply{true, 7}}, 100 + i, 2000 + i});
  EXPECT_EQ(lin::explain<lin::Stack>(h, lin::Criterion::Durable, 1000).answer, lin::Answer::Unknown);
}

}  // namespace blackout
