#include "runtime/unfollowed.h"

#include <stdint.h>
#include <string.h>

#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

void unfollowed(const char* what) {
  static uint64_t said[32];  // by their hashes
  if (!recording()) return;
  uint64_t hash = 14695981039346656037ull;
  for (const char* c = what; *c != '\0'; ++c) hash = (hash ^ uint8_t(*c)) * 1099511628211ull;
  for (uint64_t& s : said) {
    if (s == hash) return;
    if (s != 0) continue;
    s = hash;
    break;
  }
  if (recovering()) return unseen("A restart does what is not followed:", what);
  Scope scope;
  if (!scope.nested) appendBlob(BLACKOUT_EV_Unfollowed, 0, 0, what, strlen(what));
}

}  // namespace blackout::rt
