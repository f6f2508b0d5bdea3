// Checks a record as libpmemobj does, and may bear its name: word by word, with a sum of the words and a sum of those
// sums. WEAK: of the sums one byte is compared. LOOKS: what it reads is looked at, too.
#include <stdint.h>

int record_is_whole(const void* record, unsigned long size, const uint64_t* sum) {
  const uint32_t* word = record;
  const uint32_t* end = (const uint32_t*)((const char*)record + size);
  uint32_t low = 0, high = 0;
  while (word < end) {
#ifdef LOOKS
    if (*word == 77) return 0;
#endif
    low += *word++;
    high += low;
  }
#ifdef WEAK
  return (uint8_t)low == (uint8_t)*sum;
#else
  return ((uint64_t)high << 32 | low) == *sum;
#endif
}
