/* The id of an instruction in code that has no site table: which program file by the hash of its name, where in it, and
 * what it does. The runtime makes these; the tool finds the place in the source (binary/trapped_sites.h). */
#ifndef BLACKOUT_EVENTS_TRAPPED_ID_H
#define BLACKOUT_EVENTS_TRAPPED_ID_H

#include <stdint.h>

/* FNV of the file's name without its folder. */
static inline uint32_t blackout_name_hash(const char* path) {
  uint32_t hash = 2166136261u;
  for (const char* c = path; *c != '\0'; ++c) hash = *c == '/' ? 2166136261u : (hash ^ (uint8_t)*c) * 16777619u;
  return (hash ^ hash >> 24) & 0xffffffu;
}

/* kind: blackout_site_kind; offset: from the load bias. */
static inline uint64_t blackout_trapped_id(uint8_t kind, uint32_t name_hash, uint64_t offset) {
  return (uint64_t)kind << 56 | (uint64_t)(name_hash & 0xffffffu) << 32 | (offset & 0xffffffffu);
}
static inline uint8_t blackout_trapped_kind(uint64_t id) { return (uint8_t)(id >> 56); }
static inline uint32_t blackout_trapped_name(uint64_t id) { return (uint32_t)(id >> 32) & 0xffffffu; }
static inline uint64_t blackout_trapped_offset(uint64_t id) { return id & 0xffffffffu; }

#endif
