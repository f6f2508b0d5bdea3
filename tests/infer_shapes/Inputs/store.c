#include "store.h"

#include "pm.h"

int store_is_valid(const struct Store* s) { return s->valid == 1; }

void store_set(struct Store* s, uint64_t payload) {
  s->payload = payload;
  persist(&s->payload);
  s->valid = 1;
  persist(&s->valid);
}
