// Restarts with other addresses. Restarts have their code, heap and stacks where the recorded process had them, so a
// pointer of that process which is kept encoded (XORed with a key, cut in parts) leads to the right place, and nobody
// can tell it from a number. A few restarts that read numbers of such a size are run once more in a process with random
// addresses, as any real restart has. One that ends well with the recorded addresses and faults with others follows a
// pointer of the earlier process. Pointers that are stored as such are stale_pointers.h.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "judge/state_probe.h"
#include "run/patience.h"

namespace blackout {

struct FailsElsewhere {
  std::string symptom;     // "crashes with SIGSEGV"
  std::uint64_t read = 0;  // site of the last read of such a number, 0: not known
};

// A runner of the same program with random addresses; asked for once there is something to run. It must live as long
// as what gives it.
using RunnerElsewhere = std::function<Result<Runner*>()>;

// None: no restart that was tried differs.
Result<std::optional<FailsElsewhere>> failsElsewhere(StateProbe& probe, const Index& recording,
                                                     const RunnerElsewhere& elsewhere, const Patience& patience);

}  // namespace blackout
