// A crash test in one binary, for authors of an index or a library:
//
//   int main(int argc, char** argv) {
//     Map map;
//     return blackout_test([&] { map.create(argv[1]); },             // setup
//                          [&] { map.put(1, 10); map.remove(1); },   // operations
//                          [&] { return map.open(argv[1]); },        // recover
//                          [&] { blackout_expect(map.isSane(), "the map is sane"); });  // verify
//   }
//
//   blackout check --pm pool.img -- ./test pool.img
//
// The recorded run does setup and operations. A restart after a simulated crash does recover and verify,
// on what the crash left; a crash during setup is explored too, so recover may find no pool, or half of one. Without
// Blackout all four run one after the other, so that the test is a plain test as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "blackout/blackout.h"

namespace blackout {

// What an operation is given or returns: numbers, text, anything with data() and size() as bytes.
template <class T>
blackout_value value(const T& v) {
  if constexpr (std::is_same_v<T, blackout_value>) {
    return v;
  } else if constexpr (std::is_enum_v<T>) {
    return value(static_cast<std::underlying_type_t<T>>(v));
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? blackout_int(static_cast<std::int64_t>(v)) : blackout_uint(v);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    std::string_view text = v;
    return {BLACKOUT_VALUE_TEXT, 0, text.data(), text.size()};
  } else {
    return blackout_bytes(v.data(), v.size() * sizeof(*v.data()));
  }
}

// One operation of the recorded run: what it did is promised when this object goes, or when end() is called.
//
//   blackout::Operation op("put", key, std::string_view(text));
//   ...
//   op.end(true, old);
class Operation {
 public:
  explicit Operation(const char* name, std::uint64_t argument = 0) { blackout_op_begin(name, argument); }
  // Arguments of any kind and number. One number alone is the constructor above.
  template <class First, class... Rest,
            class = std::enable_if_t<(sizeof...(Rest) > 0) || !std::is_convertible_v<First, std::uint64_t>>>
  Operation(const char* name, const First& first, const Rest&... rest) {
    const blackout_value arguments[] = {value(first), value(rest)...};
    blackout_op_begin_values(name, arguments, 1 + sizeof...(rest));
  }
  ~Operation() {
    if (!ended_) blackout_op_end(result_);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  void result(std::uint64_t value) { result_ = value; }
  // It ends here, with these results.
  template <class... Results>
  void end(const Results&... results) {
    const blackout_value all[sizeof...(results) + 1] = {value(results)..., blackout_value()};
    blackout_op_end_values(all, sizeof...(results));
    ended_ = true;
  }

 private:
  std::uint64_t result_ = 0;
  bool ended_ = false;
};

}  // namespace blackout

// `recover` may return false (there is nothing to verify: the pool was never finished) or nothing. Returns
// what main should return.
template <class Setup, class Operations, class Recover, class Verify>
int blackout_test(Setup setup, Operations operations, Recover recover, Verify verify) {
  if (!blackout_recovering()) {
    setup();
    operations();
    if (blackout_active()) return 0;
  }
  if constexpr (std::is_same_v<decltype(recover()), void>) {
    recover();
    verify();
  } else {
    if (recover()) verify();
  }
  return 0;
}
