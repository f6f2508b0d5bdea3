// Letters published by std::atomic, in C++. A letter is written back, and `sent` is stored by an exchange (that is what
// a sequentially consistent store is on x86), which completes the write-back as a fence would. A restart expects every
// letter that counts as sent to be whole.
#include <atomic>

#include "pm.h"

static constexpr unsigned kLetters = 4;

struct alignas(PM_LINE) Letter {
  std::atomic<uint64_t> from;
  std::atomic<uint64_t> text;
};

struct Mailbox {
  std::atomic<uint64_t> sent;
  Letter letter[kLetters];
};

static const char* path;
static Mailbox* box;

static void send(uint64_t number) {
  Letter& letter = box->letter[number - 1];
#if BUG == 2
  box->sent.store(number);  // (relies 2)
#endif
  letter.from.store(number, std::memory_order_relaxed);        // (lost 1, 2, 3)
  letter.text.store(100 * number, std::memory_order_relaxed);  // (lost 1, 2, 3)
#if BUG != 1
  pm_flush(&letter, sizeof letter);
#endif
#if BUG == 3
  box->sent.store(number, std::memory_order_release);  // (relies 3)
#elif BUG != 2
  box->sent.store(number);  // (relies 1)
#endif
  pm_persist(&box->sent, sizeof box->sent);
}

static void setup() { box = static_cast<Mailbox*>(pm_map(path, sizeof *box)); }

static void operations() {
  for (uint64_t number = 1; number <= kLetters; ++number) send(number);
}

static void verify() {
  const uint64_t sent = box->sent.load();
  for (uint64_t number = 1; number <= sent; ++number) {
    const Letter& letter = box->letter[number - 1];
    pm_expect(letter.from.load() == number && letter.text.load() == 100 * number, "a letter that was sent is whole");
  }
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mailbox POOL");
  path = argv[1];
  return pm_test(setup, operations, setup, verify);
}
