// The cache of decoded instructions: a table by address in which entries are only ever added, so that any number of
// threads may look up and add at once. Table, instructions and their copies are memory of the kernel's that is taken
// as it is used.

#include "runtime/trap/instruction.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/own_memory.h"
#include "runtime/trap/instruction_parts.h"
#include "runtime/trap/vector_state.h"

namespace blackout::rt {

namespace {

constexpr size_t kInstructions = size_t{1} << 17;
constexpr size_t kTable = kInstructions * 2;  // so a search always ends at an empty entry
constexpr size_t kLongest = ZYDIS_MAX_INSTRUCTION_LENGTH;
constexpr uintptr_t kPage = 4096;

Instruction** table = nullptr;
Instruction* instructions = nullptr;
uint8_t* slots = nullptr;
size_t used = 0;

// Asks the kernel to read there: the call is refused for its first argument, but only after the reading.
bool isReadable(uintptr_t page) {
  int before = errno;
  bool readable = syscall(SYS_rt_sigprocmask, ~0L, page, nullptr, size_t{8}) == -1 && errno != EFAULT;
  errno = before;
  return readable;
}

// Reads no byte behind the end of a page unless the instruction has to go on there.
bool decodeAt(uintptr_t pc, ZydisDecodedInstruction& decoded, ZydisDecodedOperand* operands) {
  const void* code = reinterpret_cast<const void*>(pc);
  size_t here = kPage - pc % kPage;
  if (here >= kLongest) return decode(code, kLongest, decoded, operands);
  if (decode(code, here, decoded, operands)) return true;
  return isReadable(pc + here) && decode(code, kLongest, decoded, operands);
}

size_t entryOf(uintptr_t pc) { return size_t(pc * 0x9e3779b97f4a7c15u >> 32) % kTable; }

bool isForgotten(const Instruction& i) { return __atomic_load_n(&i.forgotten, __ATOMIC_ACQUIRE); }

Instruction* make(uintptr_t pc, const uint8_t* bytes, const ZydisDecodedInstruction& decoded,
                  const ZydisDecodedOperand* operands) {
  size_t n = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
  if (n >= kInstructions) return nullptr;
  uint8_t* slot = slots + n * kSlotSize;
  auto* i = &instructions[n];
  *i = Instruction{};
  i->pc = pc;
  memcpy(i->bytes, bytes, decoded.length);
  i->length = decoded.length;
  i->code = slot;
  analyse(decoded, operands, *i);
  copyInto(slot, decoded, *i);
  return i;
}

__attribute__((noinline)) const Instruction* add(uintptr_t pc, const uint8_t* bytes) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (bytes != nullptr ? !decode(bytes, kLongest, decoded, operands) : !decodeAt(pc, decoded, operands)) return nullptr;
  if (bytes == nullptr) bytes = reinterpret_cast<const uint8_t*>(pc);
  Instruction* made = nullptr;
  for (size_t at = entryOf(pc);; at = (at + 1) % kTable) {
    Instruction* there = __atomic_load_n(&table[at], __ATOMIC_ACQUIRE);
    if (there == nullptr) {
      if (made == nullptr) made = make(pc, bytes, decoded, operands);
      if (made == nullptr) return nullptr;
      if (__atomic_compare_exchange_n(&table[at], &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    }
    // Another thread was first, or a file that was unloaded is back at its old place.
    if (there->pc != pc) continue;
    if (there->length == decoded.length && memcmp(there->bytes, bytes, decoded.length) == 0) {
      __atomic_store_n(&there->forgotten, false, __ATOMIC_RELEASE);
      return there;
    }
  }
}

}  // namespace

bool inSlots(uintptr_t pc) {
  return slots != nullptr && pc - reinterpret_cast<uintptr_t>(slots) < kInstructions * kSlotSize;
}

const Instruction* instructionAt(uintptr_t pc, const uint8_t* bytes) {
  for (size_t at = entryOf(pc);; at = (at + 1) % kTable) {
    const Instruction* there = __atomic_load_n(&table[at], __ATOMIC_ACQUIRE);
    if (there == nullptr) return add(pc, bytes);
    if (there->pc == pc && !isForgotten(*there)) return there;
  }
}

void forgetInstructions(uintptr_t begin, uintptr_t end) {
  size_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  if (count > kInstructions) count = kInstructions;
  for (size_t n = 0; n < count; ++n)
    if (instructions[n].pc >= begin && instructions[n].pc < end)
      __atomic_store_n(&instructions[n].forgotten, true, __ATOMIC_RELEASE);
}

uint8_t lengthOf(const Instruction& i) { return i.length; }

uint32_t countFault(const Instruction& i) {
  return __atomic_add_fetch(const_cast<uint32_t*>(&i.faults), 1, __ATOMIC_RELAXED);
}

blackout_site_kind kindOf(const Instruction& i) { return blackout_site_kind(i.kind); }

bool prepareInstructions() {
  if (slots != nullptr) return true;
  if (!loadZydis()) return false;
  prepareVectorState();
  table = static_cast<Instruction**>(takeMemory(kTable * sizeof(Instruction*)));
  instructions = static_cast<Instruction*>(takeMemory(kInstructions * sizeof(Instruction)));
  // Copies are written once and executed from then on. Private, because a fork goes its own way.
  auto* code = takeMemory(kInstructions * kSlotSize, PROT_READ | PROT_WRITE | PROT_EXEC);
  if (table == nullptr || instructions == nullptr || code == nullptr) return false;
  slots = static_cast<uint8_t*>(code);
  return true;
}

}  // namespace blackout::rt
