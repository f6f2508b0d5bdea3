#include "runtime/role.h"

namespace blackout::rt {

Role role = Role::Idle;
bool privatePools = false;
bool trapping = false;
bool plainCode = false;

}  // namespace blackout::rt
