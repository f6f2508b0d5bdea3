// Which bytes an instruction touches, with the registers that the program has at it.

#include <asm/prctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/trap/instruction_parts.h"
#include "runtime/trap/vector_state.h"

namespace blackout::rt {

namespace {

constexpr int kContextRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

constexpr uint64_t kDirection = 1u << 10;

uintptr_t segmentBase(uint8_t segment) {
  unsigned long base = 0;
  if (segment != 0) syscall(SYS_arch_prctl, segment == 1 ? ARCH_GET_FS : ARCH_GET_GS, &base);
  return base;
}

int64_t signedPart(uint64_t value, uint32_t bytes) {
  int unused = 64 - int(bytes) * 8;
  return int64_t(value << unused) >> unused;
}

// The bit string's word that the register's bit is in, in bytes from the base.
int64_t bitStringOffset(const Instruction& i, const ucontext_t& context) {
  uint32_t size = i.operands[0].size;
  int64_t bit = signedPart(registerOf(context, i.special), size);
  return (bit >> (size == 2 ? 4 : size == 4 ? 5 : 6)) * int64_t(size);
}

// The elements of a masked operand whose mask is set.
uint64_t maskedElements(const Instruction& i, const ucontext_t& context) {
  uint64_t all = i.elements == 64 ? ~uint64_t{0} : (uint64_t{1} << i.elements) - 1;
  if (!i.maskIsVector) return readMask(context, i.maskRegister) & all;
  uint8_t signs[64];
  readVector(context, i.maskRegister, signs);
  uint64_t set = 0;
  for (int n = 0; n < i.elements; ++n)
    if ((signs[n * i.elementSize + i.elementSize - 1] & 0x80) != 0) set |= uint64_t{1} << n;
  return set;
}

}  // namespace

uint64_t registerOf(const ucontext_t& context, uint8_t number) {
  return uint64_t(context.uc_mcontext.gregs[kContextRegisters[number]]);
}

void setRegister(ucontext_t& context, uint8_t number, uint64_t value) {
  context.uc_mcontext.gregs[kContextRegisters[number]] = greg_t(value);
}

uintptr_t baseAddressOf(const Address& a, const ucontext_t& context) {
  uint64_t sum = uint64_t(a.displacement);
  if (a.base != kNoRegister) sum += registerOf(context, a.base);
  if (a.index != kNoRegister) sum += registerOf(context, a.index) * a.scale;
  if (a.narrow) sum = uint32_t(sum);
  if (__builtin_expect(a.segment != 0, 0)) sum += segmentBase(a.segment);
  return sum;
}

Elements elementsOf(const Instruction& i, const ucontext_t& context) {
  uint8_t indices[64];
  readVector(context, i.indexRegister, indices);
  Elements e = {};
  e.set = uint32_t(maskedElements(i, context));
  int64_t high = 0;
  int64_t offsets[16];
  bool room = true;
  for (int n = 0; n < i.elements; ++n) {
    if ((e.set >> n & 1) == 0) continue;
    uint64_t index = 0;
    memcpy(&index, indices + n * i.indexSize, i.indexSize);
    int64_t offset = signedPart(index, i.indexSize) * i.operands[0].address.scale;
    int64_t low = e.now == 0 || offset < e.low ? offset : e.low;
    int64_t end = offset + i.elementSize;
    if (e.now != 0 && high > end) end = high;
    room = room && end - low <= 64;
    if (!room) continue;
    e.now |= 1u << n;
    e.low = low;
    high = end;
    offsets[n] = offset;
  }
  e.size = uint32_t(high - e.low);
  for (int n = 0; n < i.elements; ++n)
    if ((e.now >> n & 1) != 0) e.bytes |= ((uint64_t{1} << i.elementSize) - 1) << (offsets[n] - e.low);
  return e;
}

Access accessOf(const Instruction& i, const ucontext_t& context) {
  Access a = {};
  a.count = i.operandCount;
  a.iterations = 1;
  for (int n = 0; n < a.count; ++n) {
    const MemoryOperand& m = i.operands[n];
    a.operands[n] = {baseAddressOf(m.address, context), m.size, m.read, m.written};
  }
  Operand& first = a.operands[0];
  switch (i.extent) {
    case Extent::Fixed:
      break;
    case Extent::BitString:
      first.address += uintptr_t(bitStringOffset(i, context));
      break;
    case Extent::Table:
      first.address += uint8_t(registerOf(context, kRax));
      break;
    case Extent::Line:
      first.address &= ~uintptr_t{63};
      break;
    case Extent::StateSave:
    case Extent::StateSaveCompact: {
      uint64_t wanted = registerOf(context, kRdx) << 32 | uint32_t(registerOf(context, kRax));
      first.size = saveSizeOf(wanted, i.extent == Extent::StateSaveCompact);
      break;
    }
    case Extent::Masked:
    case Extent::Packed: {
      if (context.uc_mcontext.fpregs == nullptr) break;
      uint64_t set = maskedElements(i, context);
      if (set == 0) {
        a.count = 0;
        break;
      }
      bool packed = i.extent == Extent::Packed;
      int begin = packed ? 0 : __builtin_ctzll(set);
      int end = packed ? __builtin_popcountll(set) : 64 - __builtin_clzll(set);
      first.address += uint32_t(begin) * i.elementSize;
      first.size = uint32_t(end - begin) * i.elementSize;
      if (packed) break;
      first.bytes = 0;
      for (int n = begin; n < end; ++n)
        if ((set >> n & 1) != 0) first.bytes |= ((uint64_t{1} << i.elementSize) - 1) << ((n - begin) * i.elementSize);
      break;
    }
    case Extent::Vector: {
      Elements e = elementsOf(i, context);
      if (e.now == 0) a.count = 0;
      first.address += uintptr_t(e.low);
      first.size = e.size;
      first.bytes = e.bytes;
      break;
    }
  }
  if (i.way == Way::String) {
    if (i.repeated) a.iterations = registerOf(context, kRcx);
    a.downwards = (uint64_t(context.uc_mcontext.gregs[REG_EFL]) & kDirection) != 0;
  }
  return a;
}

}  // namespace blackout::rt
