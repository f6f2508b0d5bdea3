// CLI11, not optimised: it is all inline, so every source that declares an option compiles a good part of it, and
// nothing in it has to be fast. What it includes is included before, and is compiled like everything else.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma clang optimize off
#include <CLI/CLI.hpp>
#pragma clang optimize on
