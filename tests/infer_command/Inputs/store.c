#include "slot.h"

void store(struct Slot* slot, uint64_t key, uint64_t value) {
  slot->key = key;
  slot->value = value;
  persist(slot, sizeof *slot);
  slot->valid = 1;
  persist(&slot->valid, sizeof slot->valid);
}
