// Numbers that look random and are the same everywhere: a choice is a hash of what it is made for, so it depends
// neither on the order in which choices are made nor on a library's distributions.
#pragma once

#include <cstdint>

namespace blackout {

// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

template <class... More>
constexpr std::uint64_t mix(std::uint64_t x, std::uint64_t y, More... more) {
  return mix(mix(x) ^ y, more...);
}

}  // namespace blackout
