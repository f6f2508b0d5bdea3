// Work on input from outside by code that trusts it. LLVM's reader of bitcode may crash on damaged input, hang, or end
// the process: so what is asked of such input first is asked in a process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace blackout {

struct ChildLimits {
  unsigned seconds = 60;         // 0: no bound
  std::function<bool()> giveUp;  // once it is true, nobody waits any more; empty: never
};

// What the function says; nothing if its process crashed, ended otherwise or met a limit.
std::optional<std::string> inChild(const std::function<std::string()>& ask, const ChildLimits& limits = {});

}  // namespace blackout
