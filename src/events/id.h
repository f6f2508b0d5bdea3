// Ids: numbers that name things (an event, a line, a store, a node of a tree) as types that can't be mixed. Each is as
// large as its number, trivially copyable and hashed like it, so formats and layouts don't know the difference.
//
// An id is made from a number explicitly; a constant (`EventNo n = 0`) converts by itself, since the compiler sees its
// value. Ids of one type are ordered and stand one behind the other: id + count is an id, id - id a count. There is no
// arithmetic across types.
//
// What is counted, measured or added up is no id and stays an integer: sizes, offsets, numbers of things, and PmAddr,
// which is a byte's address. Neither are the C contracts (trace_format.h and others): a number read from them becomes
// an id where it is read.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <span>
#include <utility>
#include <vector>

namespace blackout {

// `Tag` is any type that no other id has: `using LineId = Id<struct LineIdTag, std::uint32_t>`.
template <class Tag, std::unsigned_integral Rep>
class Id {
 public:
  constexpr Id() = default;
  // From a constant; only of type int, so that what is computed needs a word.
  template <std::same_as<int> T>
  consteval Id(T number) : number_(static_cast<Rep>(number)) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, int>)
  constexpr explicit Id(T number) : number_(static_cast<Rep>(number)) {}
  constexpr explicit Id(int number) : number_(static_cast<Rep>(number)) {}

  constexpr Rep value() const { return number_; }

  constexpr auto operator<=>(const Id&) const = default;

  constexpr Id& operator++() {
    ++number_;
    return *this;
  }
  constexpr Id& operator--() {
    --number_;
    return *this;
  }
  constexpr Id operator++(int) { return Id(number_++); }
  constexpr Id& operator+=(Rep count) {
    number_ += count;
    return *this;
  }
  friend constexpr Id operator+(Id a, Rep count) { return Id(a.number_ + count); }
  friend constexpr Id operator-(Id a, Rep count) { return Id(a.number_ - count); }
  friend constexpr Rep operator-(Id a, Id b) { return static_cast<Rep>(a.number_ - b.number_); }

  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, Id id) {
    return out << id.number_;
  }

 private:
  Rep number_ = 0;
};

// A vector or span whose elements are named by ids of one type.
template <class I, class Elements>
class ById : public Elements {
 public:
  using Elements::Elements;
  ById() = default;
  explicit ById(Elements elements) : Elements(std::move(elements)) {}
  explicit ById(I end)
    requires std::constructible_from<Elements, std::size_t>
      : Elements(end.value()) {}
  template <class T>
  ById(I end, const T& value)
    requires std::constructible_from<Elements, std::size_t, const T&>
      : Elements(end.value(), value) {}

  constexpr decltype(auto) operator[](I id) { return Elements::operator[](id.value()); }
  constexpr decltype(auto) operator[](I id) const { return Elements::operator[](id.value()); }
  constexpr bool has(I id) const { return id.value() < this->size(); }
  // One behind the last: the id of the next element to be added.
  constexpr I endId() const { return I(this->size()); }
};
template <class I, class T>
using IdVector = ById<I, std::vector<T>>;
template <class I, class T>
using IdSpan = ById<I, std::span<T>>;

// The ids from 0 up to `end`, for a range-based for.
template <class I>
class IdRange {
 public:
  explicit constexpr IdRange(I end) : end_(end) {}
  struct Iterator {
    I id;
    constexpr I operator*() const { return id; }
    constexpr Iterator& operator++() {
      ++id;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const = default;
  };
  constexpr Iterator begin() const { return {I()}; }
  constexpr Iterator end() const { return {end_}; }

 private:
  I end_;
};
template <class I>
constexpr IdRange<I> idRange(std::size_t count) {
  return IdRange<I>(I(count));
}

}  // namespace blackout

template <class Tag, class Rep>
struct std::hash<blackout::Id<Tag, Rep>> {
  std::size_t operator()(blackout::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>()(id.value()); }
};
