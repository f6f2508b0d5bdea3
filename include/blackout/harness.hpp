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

#include <cstdint>
#include <type_traits>

#include "blackout/blackout.h"

namespace blackout {

// One operation of the recorded run: what it did is promised when this object goes.
class Operation {
 public:
  explicit Operation(const char* name, std::uint64_t argument = 0) { blackout_op_begin(name, argument); }
  ~Operation() { blackout_op_end(result_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  void result(std::uint64_t value) { result_ = value; }

 private:
  std::uint64_t result_ = 0;
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
