// Functions of the standard library that only wrap an access: the members of std::atomic and std::array. An access
// inside one is told from the others there by the call in the program's own code, so the pass inlines them in every
// build, and the field that such an access touches is the program's, not the library's.
#pragma once

#include <string_view>

namespace blackout {

// By linkage name (Itanium mangling: _ZN, qualifiers, St, the length and name of the class).
constexpr bool isAccessWrapper(std::string_view function) {
  if (!function.starts_with("_ZN")) return false;
  function.remove_prefix(3);
  while (!function.empty() && (function[0] == 'V' || function[0] == 'K' || function[0] == 'r'))
    function.remove_prefix(1);
  if (!function.starts_with("St")) return false;
  function.remove_prefix(2);
  for (std::string_view name : {"6atomicI", "13__atomic_baseI", "14__atomic_floatI", "13__atomic_impl", "10atomic_refI",
                                "12__atomic_refI", "5arrayI", "14__array_traitsI"})
    if (function.starts_with(name)) return true;
  return false;
}

}  // namespace blackout
