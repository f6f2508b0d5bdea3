#include "runtime/unfollowed.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "events/contract.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

void unfollowed(const char* what, bool flushes) {
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
  if (!scope.nested) appendBlob(BLACKOUT_EV_Unfollowed, flushes ? 1 : 0, 0, what, strlen(what));
}

}  // namespace blackout::rt

// The place of a site, as its record in the program file has it.
extern "C" __attribute__((visibility("default"))) void __blackout_unfollowed(blackout_site* site) {
  if (!blackout::rt::recording()) return;
  auto text = [](const int32_t& field) { return field == 0 ? "?" : reinterpret_cast<const char*>(&field) + field; };
  const auto* place =
      reinterpret_cast<const blackout_place*>(reinterpret_cast<const char*>(&site->places) + site->places);
  char what[600];
  snprintf(
      what, sizeof what,
      "the assembly at %.400s:%u may flush, fence or call the kernel in a way that can't be told; use clwb, sfence "
      "and libc's functions by name",
      site->place_count == 0 ? "?" : text(place->file), site->place_count == 0 ? 0 : place->line);
  blackout::rt::unfollowed(what, true);
}
