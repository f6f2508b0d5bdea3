// Executing the copy of an instruction: which registers it must see, and what of the result is the program's.

#include <string.h>

#include "runtime/trap/instruction_parts.h"
#include "runtime/trap/instruction_run.h"
#include "runtime/trap/vector_state.h"

namespace blackout::rt {

namespace {

constexpr uint64_t kZero = 1u << 6;
constexpr uint64_t kDirection = 1u << 10;
constexpr uint64_t kArithmetic = 0x8d5;  // cf, pf, af, zf, sf, of
constexpr uint64_t kAlwaysSet = 2;

uint64_t flagsOf(const ucontext_t& context) { return uint64_t(context.uc_mcontext.gregs[REG_EFL]); }

void setFlags(ucontext_t& context, uint64_t flags) {
  context.uc_mcontext.gregs[REG_EFL] = greg_t((flagsOf(context) & ~kArithmetic) | (flags & kArithmetic));
}

void moveOn(const Instruction& i, ucontext_t& context) { context.uc_mcontext.gregs[REG_RIP] = greg_t(i.pc + i.length); }

// False: the frame doesn't have the state that the instruction wants.
bool prepareRun(const Instruction& i, ucontext_t& context, Run& r) {
  for (uint8_t n = 0; n < 16; ++n) r.registers[n] = registerOf(context, n);
  // Neither a single step nor anything else that isn't the instruction's.
  r.flags = (flagsOf(context) & (kArithmetic | kDirection)) | kAlwaysSet;
  r.code = i.code;
  r.loadFlags = i.flags;
  r.fxsave = false;
  r.faulted = false;
  r.restored = r.saved = 0;
  r.state = nullptr;
  if (i.restored == 0) return true;
  bool xsave;
  uint64_t present = componentsOf(context, xsave);
  r.state = context.uc_mcontext.fpregs;
  r.restored = i.restored & present;
  r.saved = i.saved & present;
  r.fxsave = !xsave;
  return r.restored != 0 && (xsave || (i.restored & ~(kStateX87 | kStateSse)) == 0);
}

// An x87 instruction remembers where it and its operand are (fnstenv shows it): the program's addresses, not ours.
void correctX87(const Instruction& i, ucontext_t& context, const Access& a, uintptr_t place) {
  auto* state = context.uc_mcontext.fpregs;
  if (state->rip == reinterpret_cast<uintptr_t>(i.code)) state->rip = i.pc;
  if (state->rdp == place) state->rdp = a.operands[0].address;
}

// Which of the operand's bytes are stored: those that become the same in two memories that differ everywhere. The
// second memory has the operand's alignment.
bool findStored(const Instruction& i, const ucontext_t& context, const Run& prepared, uint8_t holder, const Access& a,
                uint64_t& mask) {
  alignas(64) uint8_t memory[2][128];
  // The operand may begin behind the address that the instruction has.
  uintptr_t base = i.way == Way::Implicit ? a.operands[0].address : baseAddressOf(i.operands[0].address, context);
  uintptr_t within = base & 63;
  uintptr_t from = within + (a.operands[0].address - base);
  for (int n = 0; n < 2; ++n) {
    memset(memory[n], n == 0 ? 0x00 : 0xff, sizeof memory[n]);
    Run r = prepared;
    r.saved = 0;
    r.registers[holder] = reinterpret_cast<uintptr_t>(memory[n]) + within;
    run(&r);
    if (r.faulted) return false;
  }
  mask = 0;
  for (uint32_t n = 0; n < a.operands[0].size; ++n)
    if (memory[0][from + n] == memory[1][from + n]) mask |= uint64_t{1} << n;
  return true;
}

// Sets the mask of a gather or scatter to what it was, for these elements only.
void maskElements(const Instruction& i, ucontext_t& context, uint64_t mask, const uint8_t signs[64],
                  uint32_t elements) {
  if (!i.maskIsVector) return writeMask(context, i.maskRegister, mask & elements);
  uint8_t kept[32] = {};
  for (int n = 0; n < i.elements; ++n)
    if ((elements >> n & 1) != 0) memcpy(kept + n * i.elementSize, signs + n * i.elementSize, i.elementSize);
  writeVector(context, i.maskRegister, kept);
}

Executed executeCopy(const Instruction& i, ucontext_t& context, Run& r, const uintptr_t places[kMaxOperands],
                     Stored& stored) {
  const Access a = accessOf(i, context);
  if (a.count == 0) stored = {0, false};
  // Registers that don't hold the program's values.
  uint32_t ours = 1u << kRsp;
  auto set = [&](uint8_t number, uint64_t value) {
    r.registers[number] = value;
    ours |= 1u << number;
  };
  if (i.substitute != kNoRegister) set(i.substitute, registerOf(context, kRsp));
  if (i.scratch != kNoRegister) {
    int n = i.way == Way::Direct64 ? 1 : 0;
    uintptr_t shift = a.count != 0 ? places[n] - a.operands[n].address : 0;
    set(i.scratch, baseAddressOf(i.operands[n].address, context) + shift);
  }
  if (i.way == Way::Implicit || i.way == Way::Direct64) set(i.special == kRsp ? i.substitute : i.special, places[0]);
  if (i.partial && a.count != 0) {
    if (!findStored(i, context, r, i.way == Way::Implicit ? i.special : i.scratch, a, stored.mask))
      return Executed::Faulted;
    stored.any = stored.mask != 0;
  }
  run(&r);
  if (r.faulted) return Executed::Faulted;
  for (uint8_t n = 0; n < 16; ++n)
    if ((ours & 1u << n) == 0) setRegister(context, n, r.registers[n]);
  if (i.substitute != kNoRegister && i.way != Way::Direct64) setRegister(context, kRsp, r.registers[i.substitute]);
  if (i.flags) setFlags(context, r.flags);
  moveOn(i, context);
  if (i.compares) stored.any = (r.flags & kZero) != 0;
  if (i.x87) correctX87(i, context, a, places[0]);
  return Executed::Done;
}

// A gather or scatter, or its first elements: then it is executed again, for those that are left.
Executed executeElements(const Instruction& i, ucontext_t& context, Run& r, const uintptr_t places[kMaxOperands],
                         Stored& stored) {
  const Elements e = elementsOf(i, context);
  if (i.operands[0].written) stored.mask = e.bytes;
  if (e.now == e.set) return executeCopy(i, context, r, places, stored);
  uint8_t signs[64];
  readVector(context, i.maskRegister, signs);
  uint64_t mask = readMask(context, i.maskRegister);
  maskElements(i, context, mask, signs, e.now);
  Executed executed = executeCopy(i, context, r, places, stored);
  bool done = executed == Executed::Done;
  maskElements(i, context, mask, signs, done ? e.set & ~e.now : e.set);
  if (done) context.uc_mcontext.gregs[REG_RIP] = greg_t(i.pc);
  return executed;
}

Executed executeString(const Instruction& i, ucontext_t& context, Run& r, const uintptr_t places[kMaxOperands],
                       uint64_t iterations, Stored& stored) {
  uint64_t left = i.repeated ? registerOf(context, kRcx) : 1;
  if (iterations > left) iterations = left;
  if (left == 0) moveOn(i, context);
  if (iterations == 0) {
    stored.any = false;
    return Executed::Done;
  }
  for (int n = 0; n < i.operandCount; ++n) r.registers[i.operands[n].address.base] = places[n];
  if (i.repeated) r.registers[kRcx] = iterations;
  run(&r);
  // A fault leaves a repeated instruction at the iteration that it couldn't have, any other as it was.
  if (r.faulted && !i.repeated) return Executed::Faulted;
  for (int n = 0; n < i.operandCount; ++n) {
    uint8_t number = i.operands[n].address.base;
    setRegister(context, number, registerOf(context, number) + (r.registers[number] - places[n]));
  }
  setRegister(context, kRax, r.registers[kRax]);
  setFlags(context, r.flags);
  if (i.repeated) {
    uint64_t done = iterations - r.registers[kRcx];
    setRegister(context, kRcx, left - done);
    stored.any = stored.any && done != 0;
    if (r.faulted) return Executed::Faulted;
    bool ended = i.endsByFlag && ((r.flags & kZero) != 0) == i.endsAtEqual;
    if (left != done && !ended) return Executed::Done;
  }
  moveOn(i, context);
  return Executed::Done;
}

// push, pop, call and jmp of memory, and xlat: their accesses are made by a copy, the rest here.
Executed executeByHand(const Instruction& i, ucontext_t& context, Run& r, const uintptr_t places[kMaxOperands]) {
  bool pops = i.way == Way::Pop;
  r.registers[kRsi] = places[pops ? 1 : 0];
  r.registers[kRdi] = places[pops ? 0 : 1];
  r.registers[kRcx] = i.pc + i.length;
  run(&r);
  if (r.faulted) return Executed::Faulted;
  uint64_t sp = registerOf(context, kRsp);
  uint32_t size = i.operands[0].size;
  moveOn(i, context);
  if (i.way == Way::Translate) setRegister(context, kRax, r.registers[kRax]);
  if (i.way == Way::Push || i.way == Way::Call) setRegister(context, kRsp, sp - size);
  if (i.way == Way::Pop) setRegister(context, kRsp, sp + size);
  if (i.way == Way::Call || i.way == Way::Jump) context.uc_mcontext.gregs[REG_RIP] = greg_t(r.registers[kRax]);
  return Executed::Done;
}

}  // namespace

Executed execute(const Instruction& i, ucontext_t& context, const uintptr_t places[kMaxOperands], uint64_t iterations,
                 Stored& stored) {
  stored = {~uint64_t{0}, i.operands[0].written || i.operands[1].written};
  Run r;
  if (i.way == Way::None || !prepareRun(i, context, r)) return Executed::Unsupported;
  switch (i.way) {
    case Way::String:
      return executeString(i, context, r, places, iterations, stored);
    case Way::Push:
    case Way::Pop:
    case Way::Call:
    case Way::Jump:
    case Way::Translate:
      return executeByHand(i, context, r, places);
    case Way::Vsib:
      return executeElements(i, context, r, places, stored);
    case Way::None:
    case Way::ModRm:
    case Way::Implicit:
    case Way::Direct64:
    case Way::Plain:
      break;
  }
  return executeCopy(i, context, r, places, stored);
}

bool executionFaulted(ucontext_t& context) {
  auto& registers = context.uc_mcontext.gregs;
  if (!inSlots(uintptr_t(registers[REG_RIP]))) return false;
  auto sp = uintptr_t(registers[REG_RSP]);
  Run* r = runAt(sp);
  for (uint8_t n = 0; n < 16; ++n) r->registers[n] = registerOf(context, n);
  r->flags = flagsOf(context);
  r->faulted = true;
  registers[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(r->resume));
  registers[REG_RSP] = greg_t(sp + kResumeAbove);
  registers[REG_RDI] = greg_t(reinterpret_cast<uintptr_t>(r));
  registers[REG_EFL] &= ~greg_t(kDirection);
  return true;
}

}  // namespace blackout::rt
