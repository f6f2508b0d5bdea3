// Data in the text that looks like fences. With TOUCHES the library works on PM, and its real fence is followed.
#include <stdint.h>

__asm__(
    ".text\n"
    ".type table, @object\n"
    "table: .byte 0x0f, 0xae, 0xf8, 0x06, 0x0f, 0xae, 0xf0, 0x06\n"
    ".size table, 8\n");

extern const unsigned char table[] __attribute__((visibility("hidden")));

int sum(void) {
  int s = 0;
  for (int i = 0; i < 8; ++i) s += ((const volatile unsigned char*)table)[i];
  return s;
}

void keep(volatile uint64_t* p, uint64_t value) {
#ifdef TOUCHES
  *p = value;
  __asm__ volatile("clflush %0\n sfence" : : "m"(*p) : "memory");
#endif
}
