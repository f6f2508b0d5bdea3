#include "runtime/unfollowed.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "events/contract.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

namespace {

// What could not be said when it was noticed: before there is a trace, or inside an event.
struct Kept {
  char what[600];
  bool flushes;
};
constexpr uint32_t kMaxKept = 8;
Kept kept[kMaxKept];
uint32_t keptCount = 0;

bool say(const char* what, bool flushes) {
  if (!inRun()) return false;
  if (isRestart()) {
    unseen("A restart does what is not followed:", what);
    return true;
  }
  Scope scope;
  if (!scope.nested) appendBlob(BLACKOUT_EV_Unfollowed, flushes ? 1 : 0, 0, what, strlen(what));
  return !scope.nested;
}

__attribute__((destructor)) void sayAtEnd() { sayKept(); }

}  // namespace

void sayKept() {
  uint32_t count = __atomic_load_n(&keptCount, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < count && i < kMaxKept; ++i)
    if (kept[i].what[0] != '\0' && say(kept[i].what, kept[i].flushes)) kept[i].what[0] = '\0';
}

void unfollowed(const char* what, bool flushes) {
  static uint64_t said[32];  // by their hashes
  uint64_t hash = 14695981039346656037ull;
  for (const char* c = what; *c != '\0'; ++c) hash = (hash ^ uint8_t(*c)) * 1099511628211ull;
  for (uint64_t& s : said) {
    if (s == hash) return;
    if (s != 0) continue;
    s = hash;
    break;
  }
  sayKept();
  if (say(what, flushes)) return;
  uint32_t n = __atomic_fetch_add(&keptCount, 1, __ATOMIC_RELAXED);
  if (n >= kMaxKept) return;
  kept[n].flushes = flushes;
  snprintf(kept[n].what, sizeof kept[n].what, "%s", what);
}

}  // namespace blackout::rt

// The place of a site, as its record in the program file has it.
extern "C" __attribute__((visibility("default"))) void __blackout_unfollowed(blackout_site* site) {
  if (!blackout::rt::inRun()) return;
  auto text = [](const int32_t& field) { return field == 0 ? "?" : reinterpret_cast<const char*>(&field) + field; };
  const auto* place =
      reinterpret_cast<const blackout_place*>(reinterpret_cast<const char*>(&site->places) + site->places);
  char what[600];
  snprintf(what, sizeof what,
           "the assembly at %.400s:%u may flush or fence in a way that can't be told, or stores again after it did: "
           "name the "
           "instructions (clwb, sfence), and give what comes after them a string of its own",
           site->place_count == 0 ? "?" : text(place->file), site->place_count == 0 ? 0 : place->line);
  blackout::rt::unfollowed(what, true);
}
