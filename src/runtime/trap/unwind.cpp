// The way up the stack. Nearly all rules are of one form, which fits into a word: the CFA is a register plus a number,
// the return address lies right below it, and saved registers below that. Such words are kept by address, so that a
// walk looks into the tables only where it has never been.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/own_memory.h"
#include "runtime/trap/frame_rules.h"

namespace blackout::rt {

namespace {

constexpr int kSaved = 6;  // rbp to r15, in the order of FrameRegister
static_assert(kRbp == 1 && kR15 == kSaved);

// From the lowest bit: three of the register that the CFA is relative to; for each saved register, five of its distance
// below the CFA in words, or 0 if it still has its value; the rest: the signed offset of the CFA.
using Word = uint64_t;
constexpr int kRegisterBits = 3;
constexpr int kDistanceBits = 5;
constexpr int kOffsetShift = kRegisterBits + kSaved * kDistanceBits;
constexpr int64_t kMaxDistance = (1 << kDistanceBits) - 1;
constexpr int64_t kMaxOffset = (int64_t(1) << (63 - kOffsetShift)) - 1;
constexpr Word kEnd = kPc;  // nothing is above this frame

bool endsWalk(const FrameRules& rules) {
  return rules.registers[kPc].kind == Rule::Undefined || rules.registers[kPc].kind == Rule::Same;
}

bool fits(const FrameRules& rules, Word& word) {
  if (rules.cfa.kind != Rule::Register || rules.cfa.other == kLostRegister || rules.cfa.other > kR15) return false;
  if (rules.cfaOffset > kMaxOffset || rules.cfaOffset < -kMaxOffset) return false;
  if (rules.registers[kPc].kind != Rule::At || rules.registers[kPc].offset != -8) return false;
  if (rules.registers[kSp].kind != Rule::Same) return false;
  word = Word(rules.cfa.other) | Word(rules.cfaOffset) << kOffsetShift;
  for (int i = 0; i < kSaved; ++i) {
    const Rule& rule = rules.registers[kRbp + i];
    if (rule.kind == Rule::Same || rule.kind == Rule::Undefined) continue;
    if (rule.kind != Rule::At || rule.offset >= 0 || rule.offset % 8 != 0 || rule.offset < -8 * kMaxDistance)
      return false;
    word |= Word(-rule.offset / 8) << (kRegisterBits + i * kDistanceBits);
  }
  return true;
}

// A key is an address and the generation of tables that its word comes from. Under one key there is only ever one word,
// and a key is replaced only by one of a later generation: a reader that finds it before and after the word has the
// right one.
struct Remembered {
  uint64_t key;
  Word word;
};
constexpr int kAddressBits = 47;  // the user's half: no other address has a table
constexpr uint64_t kLastGeneration = (uint64_t(1) << (64 - kAddressBits)) - 2;
constexpr uint64_t kBeingWritten = UINT64_MAX;  // of a generation after the last
constexpr int kIndexBits = 16;
constexpr int kProbes = 8;
constexpr size_t kCacheSize = ((size_t(1) << kIndexBits) + kProbes) * sizeof(Remembered);
Remembered* cache = nullptr;

// What lies on a stack is nearly always aligned, but nothing says so.
struct [[gnu::packed]] Unaligned {
  uintptr_t value;
};

// Mapped by the first walk: most programs are never trapped. Who comes second gives its memory back.
Remembered* cacheMemory() {
  Remembered* now = __atomic_load_n(&cache, __ATOMIC_ACQUIRE);
  if (now != nullptr) return now;
  auto* mine = static_cast<Remembered*>(takeMemory(kCacheSize));
  if (mine == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(&cache, &now, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return mine;
  syscall(SYS_munmap, mine, kCacheSize);
  return now;
}

class Memory {
 public:
  // Must come before the tables are looked at: what is concluded from older ones is then kept under an older number.
  Memory() : generation_(tablesGeneration()) {
    if (generation_ <= kLastGeneration) entries_ = cacheMemory();
  }

  bool find(uintptr_t pc, Word& word) const {
    if (entries_ == nullptr) return false;
    uint64_t key = keyOf(pc);
    const Remembered* entry = home(pc);
    for (int i = 0; i < kProbes; ++i, ++entry) {
      uint64_t found = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
      if (found == 0) return false;
      if (found != key) continue;
      word = __atomic_load_n(&entry->word, __ATOMIC_RELAXED);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      return __atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key;
    }
    return false;
  }

  void keep(uintptr_t pc, Word word) {
    if (entries_ == nullptr) return;
    Remembered* entry = home(pc);
    for (int i = 0; i < kProbes; ++i, ++entry) {
      uint64_t found = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
      if (found == keyOf(pc)) return;
      if (found >> kAddressBits >= generation_) continue;
      if (!__atomic_compare_exchange_n(&entry->key, &found, kBeingWritten, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
      __atomic_thread_fence(__ATOMIC_RELEASE);
      __atomic_store_n(&entry->word, word, __ATOMIC_RELAXED);
      __atomic_store_n(&entry->key, keyOf(pc), __ATOMIC_RELEASE);
      return;
    }
  }

 private:
  uint64_t keyOf(uintptr_t pc) const { return generation_ << kAddressBits | pc; }
  Remembered* home(uintptr_t pc) const { return entries_ + (pc * 0x9e3779b97f4a7c15 >> (64 - kIndexBits)); }

  uint64_t generation_;
  Remembered* entries_ = nullptr;
};

// What is known of the frame at pc: a word, or rules that fit into none.
bool wordAt(Memory& memory, uintptr_t pc, Word& word, FrameRules& rules) {
  if (memory.find(pc, word)) return true;
  FrameTable table;
  FrameEntry entry;
  bool known = findTable(pc, table) && findEntry(table, pc, entry) && !entry.signal && rulesAt(entry, pc, rules);
  if (!known || endsWalk(rules))
    word = kEnd;
  else if (!fits(rules, word))
    return false;
  memory.keep(pc, word);
  return true;
}

// The caller's registers take the place of the callee's; false: the stack isn't as the word says.
bool applyWord(Word word, uintptr_t registers[kFrameRegisters], const StackBounds& stack) {
  uintptr_t cfa = registers[word & ((1 << kRegisterBits) - 1)] + uintptr_t(int64_t(word) >> kOffsetShift);
  if (cfa > stack.top || cfa <= registers[kSp] || cfa < stack.low + 8) return false;
  auto below = [&](uint64_t distance) { return reinterpret_cast<const Unaligned*>(cfa - 8 * distance)->value; };
  uint64_t distances = word >> kRegisterBits;
  uint64_t room = (cfa - stack.low) / 8;
  for (int i = 0; i < kSaved; ++i, distances >>= kDistanceBits) {
    uint64_t distance = distances & kMaxDistance;
    if (distance == 0) continue;
    if (distance > room) return false;
    registers[kRbp + i] = below(distance);
  }
  registers[kPc] = below(1);
  registers[kSp] = cfa;
  return true;
}

bool applyAny(const FrameRules& rules, uintptr_t registers[kFrameRegisters], const StackBounds& stack) {
  Frame callee;
  Frame caller;
  for (int r = 0; r < kFrameRegisters; ++r) callee.*kFrameFields[r] = registers[r];
  if (!applyRules(rules, callee, stack, caller) || caller.sp <= callee.sp || caller.sp > stack.top) return false;
  for (int r = 0; r < kFrameRegisters; ++r) registers[r] = caller.*kFrameFields[r];
  return true;
}

// Whether code that is known calls something just before the address.
bool isBehindCall(uintptr_t address) {
  FrameTable table;
  FrameEntry entry;
  if (address >> kAddressBits != 0 || !findTable(address - 1, table) || !findEntry(table, address - 1, entry))
    return false;
  auto isCall = [&](unsigned size) {
    if (address - size < entry.range.begin) return false;
    const auto* code = reinterpret_cast<const uint8_t*>(address - size);
    return size == 5 ? code[0] == 0xe8 : code[0] == 0xff && (code[1] >> 3 & 7) == 2;
  };
  return isCall(5) || isCall(2) || isCall(3) || isCall(4) || isCall(6) || isCall(7);
}

// Code that the program made at run time has no table. It was called by somebody who has: the address is on top of the
// stack, if it has pushed nothing, or above the frame that it keeps.
bool leaveMadeCode(uintptr_t pc, uintptr_t registers[kFrameRegisters], const StackBounds& stack) {
  FrameTable table;
  if (findTable(pc, table)) return false;
  auto returnsTo = [&](uintptr_t at) {
    if (at < registers[kSp] || at < stack.low || at > stack.top - 8) return uintptr_t{0};
    uintptr_t address = reinterpret_cast<const Unaligned*>(at)->value;
    return isBehindCall(address) ? address : 0;
  };
  if (uintptr_t caller = returnsTo(registers[kSp]); caller != 0) {
    registers[kPc] = caller;
    registers[kSp] += 8;
    return true;
  }
  uintptr_t frame = registers[kRbp];
  uintptr_t caller = frame < stack.top - 16 ? returnsTo(frame + 8) : 0;
  if (caller == 0) return false;
  registers[kPc] = caller;
  registers[kRbp] = reinterpret_cast<const Unaligned*>(frame)->value;
  registers[kSp] = frame + 16;
  return true;
}

}  // namespace

namespace {

// Which words of the stack a step reads: of the register that the CFA is relative to, where that was saved by a frame
// below. `saved`: where each register was saved; 0: it still has the first frame's value.
void follow(Word word, uintptr_t cfa, uintptr_t returnAddress, uintptr_t saved[kFrameRegisters], uintptr_t base,
            Trail& trail) {
  auto from = int(word & ((1 << kRegisterBits) - 1));
  if (from != kSp) {
    if (saved[from] != 0)
      trail.add(saved[from], base);
    else if (from == kRbp)
      trail.usesRbp = true;
    else
      trail.complete = false;
  }
  trail.add(cfa - 8, returnAddress);
  uint64_t distances = word >> kRegisterBits;
  for (int i = 0; i < kSaved; ++i, distances >>= kDistanceBits)
    if (uint64_t distance = distances & kMaxDistance) saved[kRbp + i] = cfa - 8 * distance;
}

}  // namespace

int unwind(Frame from, uintptr_t stackLow, uintptr_t stackTop, uint64_t* returnAddresses, int limit, Trail* trail) {
  Memory memory;
  StackBounds stack{stackLow, stackTop};
  uintptr_t registers[kFrameRegisters];
  for (int r = 0; r < kFrameRegisters; ++r) registers[r] = from.*kFrameFields[r];
  int count = 0;
  uintptr_t saved[kFrameRegisters] = {};
  // A return address may be the first of the next function, where the call is the last instruction of its own.
  for (uintptr_t pc = from.pc; count < limit; pc = registers[kPc] - 1) {
    if (pc >> kAddressBits != 0) break;
    Word word = kEnd;
    FrameRules rules;
    bool fit = wordAt(memory, pc, word, rules);
    if (fit && word == kEnd && count == 0 && leaveMadeCode(pc, registers, stack)) {
      returnAddresses[count++] = registers[kPc];
      continue;
    }
    if (fit && word == kEnd) break;
    uintptr_t base = fit ? registers[word & ((1 << kRegisterBits) - 1)] : 0;
    if (!(fit ? applyWord(word, registers, stack) : applyAny(rules, registers, stack)) || registers[kPc] == 0) break;
    if (trail != nullptr) {
      if (fit)
        follow(word, registers[kSp], registers[kPc], saved, base, *trail);
      else
        trail->complete = false;
    }
    registers[kR10] = 0;
    returnAddresses[count++] = registers[kPc];
  }
  return count;
}

}  // namespace blackout::rt
