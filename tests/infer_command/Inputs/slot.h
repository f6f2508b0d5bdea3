#ifndef SLOT_H
#define SLOT_H
#include "persist.h"
struct Slot {
  uint64_t valid;
  uint64_t key;
  uint64_t value;
};
#ifdef __cplusplus
extern "C"
#endif
void store(struct Slot* slot, uint64_t key, uint64_t value);
#endif
