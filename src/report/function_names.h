// Names of functions as reports print them. A demangled name of a template can be longer than the rest of the report;
// what tells functions apart for a reader is their path, so of long names the return type goes, and what is inside long
// brackets. The JSON report has names as they are.
#pragma once

#include <string>
#include <string_view>

namespace blackout {

// "kv::tree<...>::insert<...>(...)"; names that are not long stay as they are.
std::string readableName(std::string_view function);

}  // namespace blackout
