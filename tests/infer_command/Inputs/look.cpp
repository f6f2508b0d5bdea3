#include "slot.h"

static uint64_t look(const Slot& slot) {
  if (slot.valid == 0) return 0;
  return slot.key * 100 + slot.value;
}

int main() {
  static Slot slot;
  store(&slot, 1, 2);
  return look(slot) == 102 ? 0 : 1;
}
