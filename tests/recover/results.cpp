// A restart asks what the recorded operations returned, and compares it with what it finds. What they returned is told
// after a crash behind their end only; a replay of one failure alone knows it too.
//
// RUN: %cxx -O1 -g -I%include %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: %blackout check --detect=none --no-tree --pm %t.img -- %t %t.img right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings;
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: shown: {{.*}}[missing-flush]
// WRONG: 'an entry is what append returned' does not hold
// WRONG: SUMMARY: blackout: 1 shown;
// RUN: not %blackout replay blackout-findings/finding-1.blackout 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY: 'an entry is what append returned'
// Asking is all that is needed of a plain compiler's program, too.
// RUN: g++ -O1 -g -D__BLACKOUT__=1 -DPLAIN -I%include %s -o %t.plain
// RUN: %blackout check --detect=none --pm %t.img -- %t.plain %t.img right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %blackout check --detect=none --pm %t.img -- %t.plain %t.img wrong 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: 'an entry is what append returned' does not hold
// Outside of a restart nothing is known.
// RUN: rm -f %t.img && %t %t.img right && rm %t.img
#include <blackout/harness.hpp>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef PLAIN
#pragma weak blackout_recovering
#pragma weak blackout_expect
#pragma weak blackout_op_begin
#pragma weak blackout_op_end
#pragma weak blackout_op_begin_values
#pragma weak blackout_op_end_values
#pragma weak blackout_op_ended
#pragma weak blackout_op_result
#endif

struct Entry {
  alignas(64) volatile uint64_t number;
  char text[8];
};
constexpr int kEntries = 3;

static void append(Entry& e, uint64_t number, bool wrong) {
  blackout::Operation op("append", number, "entry");
  char text[8];
  snprintf(text, sizeof text, "%d", int(number));
  memcpy(e.text, text, sizeof text);
  e.number = number;
  if (!wrong || number != 101) _mm_clflush(const_cast<uint64_t*>(&e.number));
  op.end(number, std::string_view(text));
}

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* entries = static_cast<Entry*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  blackout_value values[3];
  if (!blackout_recovering()) {
    if (blackout_op_result(0, values, 3) != -1) return 8;
    for (int i = 0; i < kEntries; ++i) append(entries[i], uint64_t(100 + i), strcmp(argv[2], "wrong") == 0);
    blackout_op_begin("open", 0);  // ends never
    return 0;
  }
  for (int i = 0; i < kEntries; ++i) {
    uint64_t number = entries[i].number;
    char text[8];
    memcpy(text, entries[i].text, sizeof text);
    memset(values, 0, sizeof values);
    int n = blackout_op_result(uint64_t(i), values, 3);
    blackout_expect((n != -1) == (blackout_op_ended(uint64_t(i)) != 0), "only what has ended has returned");
    if (n == -1) continue;
    blackout_expect(n == 2 && values[0].kind == BLACKOUT_VALUE_UNSIGNED && values[1].kind == BLACKOUT_VALUE_TEXT,
                    "append returns a number and a text");
    blackout_expect(number == values[0].number && strlen(text) == values[1].size &&
                        memcmp(text, values[1].data, values[1].size) == 0,
                    "an entry is what append returned");
    // With less room the rest is only counted.
    blackout_value one[1] = {blackout_uint(7)};
    blackout_expect(blackout_op_result(uint64_t(i), nullptr, 0) == 2 && blackout_op_result(uint64_t(i), one, 1) == 2 &&
                        one[0].number == number,
                    "the first fits");
  }
  blackout_expect(blackout_op_result(kEntries, values, 3) == -1, "what never ended has no result");
  blackout_expect(blackout_op_result(1000, values, 3) == -1, "what never was has no result");
  return 0;
}
