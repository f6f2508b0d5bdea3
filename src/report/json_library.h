// nlohmann's JSON, not optimised: it is all inline, so every source that writes JSON compiles a good part of it, and
// nothing in it has to be fast. What it includes is included before, and is compiled like everything else.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <istream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <vector>

#pragma clang optimize off
#include <nlohmann/json.hpp>
#pragma clang optimize on
