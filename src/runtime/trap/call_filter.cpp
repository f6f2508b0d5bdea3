#include "runtime/trap/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace blackout::rt {

namespace {

constexpr unsigned short kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr unsigned short kEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr unsigned short kAtLeast = BPF_JMP | BPF_JGE | BPF_K;
constexpr unsigned short kAbove = BPF_JMP | BPF_JGT | BPF_K;
constexpr unsigned short kAnyBit = BPF_JMP | BPF_JSET | BPF_K;
constexpr unsigned short kJump = BPF_JMP | BPF_JA;
constexpr unsigned short kReturn = BPF_RET | BPF_K;

constexpr uint32_t kArch = offsetof(struct seccomp_data, arch);
constexpr uint32_t kNumber = offsetof(struct seccomp_data, nr);
constexpr uint32_t kPlace = offsetof(struct seccomp_data, instruction_pointer);
constexpr uint32_t argumentAt(int i) { return uint32_t(offsetof(struct seccomp_data, args) + 8 * size_t(i)); }

class Writer {
 public:
  explicit Writer(CallFilter& filter) : filter_(filter) { filter.size = 0; }
  void put(unsigned short op, unsigned yes, unsigned no, uint32_t k) {
    filter_.code[filter_.size++] = {op, static_cast<unsigned char>(yes), static_cast<unsigned char>(no), k};
  }
  void allow() { put(kReturn, 0, 0, SECCOMP_RET_ALLOW); }
  void handOver() { put(kReturn, 0, 0, SECCOMP_RET_TRAP | kHandedOver); }
  unsigned here() const { return filter_.size; }
  // A jump whose target comes later.
  unsigned jump() {
    put(kJump, 0, 0, 0);
    return filter_.size - 1;
  }
  void landing(unsigned jump) { filter_.code[jump].k = filter_.size - jump - 1; }

  // Programs of another kind that this one executes count their calls differently.
  void onlyThisKind() {
    put(kLoad, 0, 0, kArch);
    put(kEqual, 1, 0, AUDIT_ARCH_X86_64);
    allow();
  }

  // A tree over [from, to): `leaf` at each.
  template <class Key, class Leaf>
  void tree(size_t from, size_t to, Key key, Leaf leaf) {
    if (to - from == 1) return leaf(from);
    size_t middle = (from + to) / 2;
    put(kAtLeast, 0, 1, key(middle));
    unsigned upper = jump();
    tree(from, middle, key, leaf);
    landing(upper);
    tree(middle, to, key, leaf);
  }

 private:
  CallFilter& filter_;
};

// Stretches of numbers of which the same becomes; the jumps of each kind are collected, their targets come later.
constexpr long kNumbers = kSystemCalls[kSystemCallCount - 1].number + 1;  // and all beyond
constexpr size_t kMostStretches = 2 * kSystemCallCount + 2;
constexpr unsigned kKinds = 64;

template <class Kind>
void byNumber(Writer& w, Kind kindOf, unsigned (&jumps)[kMostStretches], uint8_t (&kinds)[kMostStretches],
              size_t& count) {
  static uint32_t begins[kMostStretches];
  static uint8_t found[kMostStretches];
  size_t stretches = 0;
  for (long n = 0; n <= kNumbers; ++n) {
    uint8_t kind = kindOf(n);
    if (stretches != 0 && found[stretches - 1] == kind) continue;
    begins[stretches] = uint32_t(n);
    found[stretches++] = kind;
  }
  w.put(kLoad, 0, 0, kNumber);
  count = 0;
  w.tree(
      0, stretches, [&](size_t i) { return begins[i]; },
      [&](size_t i) {
        if (found[i] == 0) return w.allow();
        kinds[count] = found[i];
        jumps[count++] = w.jump();
      });
}

// Static: filters are made one at a time, on stacks that may be small.
unsigned jumps[kMostStretches];
uint8_t kinds[kMostStretches];

bool isMapping(long number) { return number == SYS_mmap; }

}  // namespace

void filterAddresses(CallFilter& filter, uintptr_t own, uintptr_t begin, uintptr_t end) {
  Writer w(filter);
  w.put(kLoad, 0, 0, kPlace);
  w.put(kEqual, 0, 3, uint32_t(own));
  w.put(kLoad, 0, 0, kPlace + 4);
  w.put(kEqual, 0, 1, uint32_t(own >> 32));
  w.allow();
  w.onlyThisKind();
  size_t count = 0;
  auto addresses = [](long n) {
    const SystemCall* call = systemCall(n);
    return call == nullptr ? uint8_t{0} : call->addresses();
  };
  byNumber(w, addresses, jumps, kinds, count);
  auto high = uint32_t(begin >> 32);
  auto highEnd = uint32_t((end - 1) >> 32);
  for (unsigned kind = 1; kind < kKinds; ++kind) {
    bool used = false;
    for (size_t i = 0; i < count; ++i) {
      if (kinds[i] != kind) continue;
      w.landing(jumps[i]);
      used = true;
    }
    if (!used) continue;
    for (int i = 0; i < kCallArguments; ++i) {
      if ((kind >> i & 1) == 0) continue;
      w.put(kLoad, 0, 0, argumentAt(i) + 4);
      if (high == highEnd) {
        w.put(kEqual, 0, 4, high);
        w.put(kLoad, 0, 0, argumentAt(i));
        w.put(kAtLeast, 0, 2, uint32_t(begin));
        w.put(kAbove, 1, 0, uint32_t(end - 1));
      } else {
        // So large a stretch is ours, and nothing else lies in its first and last 4 GiB.
        w.put(kAtLeast, 0, 2, high);
        w.put(kAbove, 1, 0, highEnd);
      }
      w.handOver();
    }
    w.allow();
  }
}

bool handsOver(Caller caller, long number) {
  const SystemCall* call = systemCall(number);
  if (call == nullptr) return true;
  switch (call->becomes) {
    case Becomes::Call:
      return false;
    case Becomes::Own:
      return caller != Caller::Libc;
    case Becomes::Pinned:
      return caller == Caller::Restart;
    case Becomes::Paths:
    case Becomes::Unseen:
      return true;
  }
  __builtin_unreachable();
}

void filterInstructions(CallFilter& filter, Caller caller, const uintptr_t* after, size_t count) {
  Writer w(filter);
  // Calls as programs for 32 bits make them are other calls: all of them.
  w.put(kLoad, 0, 0, kArch);
  w.put(kEqual, 1, 0, AUDIT_ARCH_X86_64);
  unsigned others = w.jump();
  enum : uint8_t { Allowed, Handed, Mapped };
  size_t leaves = 0;
  auto kind = [&](long n) -> uint8_t { return !handsOver(caller, n) ? Allowed : isMapping(n) ? Mapped : Handed; };
  byNumber(w, kind, jumps, kinds, leaves);
  // Memory that an allocator takes is no file and replaces nothing.
  for (size_t i = 0; i < leaves; ++i)
    if (kinds[i] == Mapped) w.landing(jumps[i]);
  constexpr int kProtection = 2, kFlags = 3;
  w.put(kLoad, 0, 0, argumentAt(kFlags));
  w.put(kAnyBit, 0, 4, MAP_ANONYMOUS);
  w.put(kAnyBit, 3, 0, MAP_FIXED | MAP_FIXED_NOREPLACE);
  w.put(kLoad, 0, 0, argumentAt(kProtection));
  w.put(kEqual, 0, 1, PROT_READ | PROT_WRITE);
  w.allow();
  for (size_t i = 0; i < leaves; ++i)
    if (kinds[i] == Handed) w.landing(jumps[i]);
  w.landing(others);
  w.put(kLoad, 0, 0, kPlace + 4);
  w.put(kEqual, 1, 0, uint32_t(after[0] >> 32));
  w.allow();
  w.put(kLoad, 0, 0, kPlace);
  constexpr size_t kTogether = 8;
  w.tree(
      0, (count + kTogether - 1) / kTogether, [&](size_t i) { return uint32_t(after[i * kTogether]); },
      [&](size_t i) {
        size_t from = i * kTogether;
        size_t n = count - from < kTogether ? count - from : kTogether;
        for (size_t k = 0; k < n; ++k) w.put(kEqual, unsigned(n - k), 0, uint32_t(after[from + k]));
        w.allow();
        w.handOver();
      });
}

}  // namespace blackout::rt
