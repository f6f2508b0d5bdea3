#include "runtime/unfollowed.h"

#include <string.h>

#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

void unfollowed(const char* what) {
  static const char* said[32];
  if (!recording()) return;
  for (const char*& s : said) {
    if (s == what) return;
    if (s != nullptr) continue;
    s = what;
    break;
  }
  if (recovering()) return note("A restart does what is not followed:", what);
  Scope scope;
  if (!scope.nested) appendBlob(BLACKOUT_EV_Unfollowed, 0, 0, what, strlen(what));
}

}  // namespace blackout::rt
