// Ids: no way from one to another or from a computed number without saying so, and vectors that take their own ids
// only.
#include "events/id.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>

#include "events/event.h"

namespace blackout {
namespace {

using Apple = Id<struct AppleTag, std::uint32_t>;
using Pear = Id<struct PearTag, std::uint32_t>;

template <class A, class B>
concept Comparable = requires(A a, B b) { a == b; };
template <class A, class B>
concept Ordered = requires(A a, B b) { a < b; };
template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class V, class I>
concept Indexed = requires(V v, I i) { v[i]; };

static_assert(!std::is_convertible_v<Apple, Pear> && !std::is_constructible_v<Pear, Apple>);
static_assert(!std::is_convertible_v<Apple, std::uint32_t> && !std::is_constructible_v<std::uint32_t, Apple>);
static_assert(!std::is_convertible_v<std::uint32_t, Apple> && std::is_constructible_v<Apple, std::uint32_t>);
static_assert(!std::is_convertible_v<std::size_t, Apple> &&
              !std::is_convertible_v<std::uint32_t, std::optional<Apple>>);
static_assert(!Comparable<Apple, Pear> && !Comparable<Apple, std::uint32_t> && Comparable<Apple, Apple>);
static_assert(!Ordered<Apple, Pear> && !Ordered<Apple, std::size_t> && Ordered<Apple, Apple>);
static_assert(!Addable<Apple, Apple> && !Addable<Apple, Pear> && Addable<Apple, std::uint32_t>);
static_assert(Indexed<IdVector<Apple, int>, Apple> && !Indexed<IdVector<Apple, int>, Pear>);
static_assert(!Indexed<IdVector<Apple, int>, std::size_t> && !Indexed<IdSpan<Apple, const int>, std::size_t>);

// What is saved, shared or copied as bytes does not notice.
static_assert(sizeof(EventNo) == 4 && sizeof(ThreadNo) == 2 && sizeof(LineNo) == 8 && sizeof(FileNo) == 4);
static_assert(std::is_trivially_copyable_v<LineNo> && alignof(LineNo) == alignof(std::uint64_t));

TEST(Id, CountsOnAndTellsDistances) {
  Apple a = 3;
  EXPECT_EQ((a + 4U).value(), 7U);
  EXPECT_EQ((a - 1U).value(), 2U);
  EXPECT_EQ(a - Apple(1), 2U);
  EXPECT_EQ((a++).value(), 3U);
  EXPECT_EQ((++a).value(), 5U);
  EXPECT_EQ((--a).value(), 4U);
  a += 6;
  EXPECT_EQ(a.value(), 10U);
  EXPECT_LT(Apple(2), Apple(3));
  EXPECT_EQ(Apple().value(), 0U);
}

TEST(Id, HashesAsItsNumber) {
  EXPECT_EQ(std::hash<Apple>()(Apple(77)), std::hash<std::uint32_t>()(77));
  std::unordered_set<Apple> set{1, 2, 2};
  EXPECT_EQ(set.size(), 2U);
}

TEST(Id, NamesTheElementsOfAVector) {
  IdVector<Apple, std::string> v(2);
  EXPECT_EQ(v.endId(), Apple(2));
  v[0] = "first";
  v.push_back("third");
  EXPECT_EQ(v[Apple(2)], "third");
  EXPECT_TRUE(v.has(2));
  EXPECT_FALSE(v.has(3));
  IdSpan<Apple, const std::string> span = v;
  EXPECT_EQ(span[0], "first");
  EXPECT_EQ((IdVector<Apple, int>(Apple(3), 9)[2]), 9);
}

TEST(Id, RangesBeginAtZero) {
  std::string seen;
  for (Apple a : idRange<Apple>(3)) seen += std::to_string(a.value());
  EXPECT_EQ(seen, "012");
  for (Apple a : idRange<Apple>(0)) FAIL() << a;
}

}  // namespace
}  // namespace blackout
