// Values of operations and histories of restarts: what is written is read again, and nothing else is taken for one.
#include "events/value.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "events/history.h"
#include "events/recovery_contract.h"

namespace blackout {
namespace {

rc::Gen<Value> genValue() {
  return rc::gen::mapcat(rc::gen::inRange(0, 4), [](int kind) -> rc::Gen<Value> {
    if (kind == 0) return rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), Value::ofUnsigned);
    if (kind == 1) return rc::gen::map(rc::gen::arbitrary<std::int64_t>(), Value::ofSigned);
    return rc::gen::map(rc::gen::arbitrary<std::string>(),
                        [kind](const std::string& s) { return kind == 2 ? Value::ofBytes(s) : Value::ofText(s); });
  });
}

Values someValues() {
  Values values = *rc::gen::container<Values>(genValue());
  if (values.size() > BLACKOUT_MAX_VALUES) values.resize(BLACKOUT_MAX_VALUES);
  return values;
}

RC_GTEST_PROP(Values, AreReadAsTheyWereWritten, ()) {
  Values values = someValues();
  std::string bytes = encodeValues(values);
  RC_ASSERT(bytes.size() % 8 == 0);
  RC_ASSERT(areValues(bytes));
  RC_ASSERT(decodeValues(bytes) == values);
  // Every cut that is no end of a value is noticed.
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    auto part = decodeValues(std::string_view(bytes).substr(0, cut));
    if (part) RC_ASSERT(encodeValues(*part).size() == cut);
  }
}

TEST(Values, HaveBounds) {
  EXPECT_TRUE(areValues(encodeValues(Values(BLACKOUT_MAX_VALUES))));
  EXPECT_FALSE(areValues(encodeValues(Values(BLACKOUT_MAX_VALUES + 1))));
  std::string largest(BLACKOUT_MAX_VALUE_BYTES - sizeof(blackout_value_head), 'x');
  EXPECT_TRUE(areValues(encodeValues(Values{Value::ofBytes(largest)})));
  EXPECT_FALSE(areValues(encodeValues(Values{Value::ofBytes(largest + "x")})));
  std::string unknown = encodeValues(Values{Value::ofUnsigned(1)});
  unknown[0] = 4;
  EXPECT_FALSE(areValues(unknown));
}

TEST(Values, AreWrittenForPeople) {
  EXPECT_EQ(textOf(Value::ofUnsigned(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(textOf(Value::ofSigned(-3)), "-3");
  EXPECT_EQ(textOf(Value::ofText("key")), "\"key\"");
  EXPECT_EQ(textOf(Value::ofBytes(std::string("\0\xff", 2))), "[00 ff]");
  EXPECT_EQ(textOf(Value::ofText(std::string(65, 'x'))), "\"" + std::string(64, 'x') + "\"... (65 bytes)");
}

TEST(History, IsWrittenForPeople) {
  EXPECT_EQ(textOf(History{{1, "get", {Value::ofText("a"), Value::ofUnsigned(1)}, {Value::ofSigned(-1)}, 0, 1},
                           {1, "sync", {}, {}, 2, 3},
                           {1, "put", {Value::ofUnsigned(2)}, {}, 4}}),
            "get(\"a\", 1) = -1, sync(), put(2) unfinished");
}

TEST(History, KeepsWhatCameBeforeWhat) {
  History history = {{1, "outer", {Value::ofUnsigned(1)}, {Value::ofText("done")}, 0, 3},
                     {1, "inner", {}, {}, 1},  // never ended
                     {2, "other", {Value::ofBytes("x")}, {}, 2, 4}};
  // The innermost of a thread ends first, so an outer one has ended only if the inner one has.
  history[1].ended = 3;
  history[0].ended = 5;
  EXPECT_EQ(decodeHistory(encodeHistory(history)), history);
  history[0].ended = HistoryOperation::kUnfinished;
  history[0].results.clear();
  EXPECT_EQ(decodeHistory(encodeHistory(history)), history);
  EXPECT_EQ(decodeHistory(""), History());
}

RC_GTEST_PROP(History, RandomOnesAreReadAsTheyWereMade, ()) {
  // Begins and ends as a run makes them.
  History history;
  std::map<std::uint32_t, std::vector<std::size_t>> open;
  std::map<std::uint32_t, std::uint32_t> numbers;  // threads are numbered in the order of their first begins
  std::uint32_t position = 0;
  for (auto [begins, thread] : *rc::gen::container<std::vector<std::pair<bool, int>>>(
           rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange(1, 4)))) {
    auto t = static_cast<std::uint32_t>(thread);
    if (begins) {
      open[t].push_back(history.size());
      auto number = numbers.try_emplace(t, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
      history.push_back({number, *rc::gen::arbitrary<std::string>(), someValues(), {}, position++});
    } else if (!open[t].empty()) {
      HistoryOperation& o = history[open[t].back()];
      o.results = someValues();
      o.ended = position++;
      open[t].pop_back();
    }
  }
  RC_ASSERT(decodeHistory(encodeHistory(history)) == history);
}

// The runtime numbers threads as they come to it, which need not be the order of what they wrote.
TEST(History, ThreadsAreNumberedByTheirFirstBegins) {
  History history = {{7, "a", {}, {}, 0, 1}, {3, "b", {}, {}, 2, 3}, {7, "c", {}, {}, 4, 5}};
  auto read = decodeHistory(encodeHistory(history));
  ASSERT_TRUE(read && read->size() == 3);
  EXPECT_EQ((*read)[0].thread, 1U);
  EXPECT_EQ((*read)[1].thread, 2U);
  EXPECT_EQ((*read)[2].thread, 1U);
}

TEST(History, EndsWithARecordThatWasBeingWritten) {
  History history = {{1, "a", {}, {}, 0, 1}, {1, "b", {}, {}, 2, 3}};
  std::string bytes = encodeHistory(history);
  // The last record, the end of b: no name and no values.
  std::uint32_t none = 0;
  bytes.replace(bytes.size() - sizeof(blackout_history_record), sizeof none, reinterpret_cast<char*>(&none),
                sizeof none);
  history[1].ended = HistoryOperation::kUnfinished;
  EXPECT_EQ(decodeHistory(bytes), history);
}

TEST(History, DamageIsNoticed) {
  std::string whole = encodeHistory({{1, "name", {Value::ofUnsigned(1)}, {}, 0, 1}});
  auto with = [&](std::size_t field, std::uint32_t v) {
    std::string bytes = whole;
    bytes.replace(field * sizeof v, sizeof v, reinterpret_cast<char*>(&v), sizeof v);
    return decodeHistory(bytes);
  };
  ASSERT_TRUE(decodeHistory(whole));
  EXPECT_FALSE(with(0, 4096)) << "longer than what is there";
  EXPECT_FALSE(with(0, 8)) << "shorter than its head";
  EXPECT_FALSE(with(0, 17)) << "no whole words";
  EXPECT_FALSE(with(1, 2)) << "neither a begin nor an end";
  EXPECT_FALSE(with(3, 4096)) << "a name longer than its record";
  EXPECT_FALSE(with(3, UINT32_MAX));
  EXPECT_FALSE(decodeHistory(std::string_view(whole).substr(0, 12)));
  EXPECT_FALSE(decodeHistory(std::string_view(whole).substr(0, 32)));
}

TEST(History, AnEndWithoutItsBeginIsLeftOut) {
  std::string end = encodeHistory({{1, "", {}, {}, 0, 1}}).substr(sizeof(blackout_history_record));
  EXPECT_EQ(decodeHistory(end), History());
}

}  // namespace
}  // namespace blackout
