// What a run is for. The runtime inside the program learns it from its options.
#pragma once

#include <cstdint>

namespace blackout {

enum class Role : std::uint8_t {
  Recording,  // the program as it is, traced from its beginning, on copies of the user's own pools
  Recovery,   // a restart after a simulated crash, on what that left
};

}  // namespace blackout
