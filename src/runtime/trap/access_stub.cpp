#include "runtime/trap/access_stub.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>

#include "runtime/trap/pm_table.h"
#include "runtime/trap/saved_registers.h"
#include "runtime/trap/vector_state.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {

constinit AccessActions accessActions = {};

namespace {

constexpr int kLowered = kRedZone + 8;  // the red zone, and a register

BLACKOUT_NO_VECTORS uintptr_t begunIn(AccessFrame* frame) { return accessActions.begun(*frame); }
BLACKOUT_NO_VECTORS uintptr_t endedIn(AccessFrame* frame) { return accessActions.ended(*frame); }

// Called by stubs below the red zone, with rcx and the access on the stack.
[[gnu::naked]] void enterBegun() { BLACKOUT_CALL_WITHOUT_VECTORS(begunIn); }
[[gnu::naked]] void enterEnded() { BLACKOUT_CALL_WITHOUT_VECTORS(endedIn); }

// The kernel's note in the area's last legacy bytes (_fpx_sw_bytes), as in a signal's frame.
constexpr uint32_t kSoftware = 464;
constexpr uint32_t kMagic = 0x46505853;

// Until the action is called nothing of libc may be: a function of it may be patched, and bring us here again.
[[gnu::used]] uintptr_t wholeIn(const PatchedAccess* access, ucontext_t* context, uint8_t* area) {
  int before = errno;
  const PatchedAccess& a = *access;
  context->uc_flags = 0;
  context->uc_link = nullptr;
  context->uc_stack = {};
  greg_t* gregs = context->uc_mcontext.gregs;
  gregs[REG_RIP] = greg_t(a.pc);
  for (int i = REG_EFL + 1; i < NGREG; ++i) gregs[i] = 0;
  __builtin_memset_inline(&context->uc_sigmask, 0, sizeof context->uc_sigmask);
  __builtin_memset_inline(area + kSoftware, 0, 48);
  uint64_t features = savedComponents;
  __builtin_memcpy_inline(area + kSoftware, &kMagic, sizeof kMagic);
  __builtin_memcpy_inline(area + kSoftware + 8, &features, sizeof features);
  context->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(area);
  greg_t first[3] = {gregs[REG_RCX], gregs[REG_RSI], gregs[REG_RDI]};
  bool did = accessActions.whole(a, *context);
  errno = before;
  auto pc = uintptr_t(gregs[REG_RIP]);
  if (did && pc == a.pc + a.instruction->length) return a.next;
  bool moved = first[0] != gregs[REG_RCX] || first[1] != gregs[REG_RSI] || first[2] != gregs[REG_RDI];
  return did && pc == a.pc && moved ? a.test : a.original;
}

// The same below the red zone, with the access alone on the stack.
[[gnu::naked]] void enterWhole() {
  asm volatile(BLACKOUT_SAVE_REGISTERS
               R"(
      movq 24(%%rbp), %%rdi
      movq %%rbx, %%rsi
      movq %%rsp, %%rdx
      call %P[whole]
      movq %%rax, 24(%%rbp)
      )" BLACKOUT_RESTORE_REGISTERS
               R"(
      leaq 8(%%rsp), %%rsp
      retq %[redZone]
      )"
               :
               : BLACKOUT_SAVED_OPERANDS, [whole] "i"(&wholeIn));
}

bool isSimple(const Instruction& i) {
  return i.way == Way::ModRm && i.extent == Extent::Fixed && i.operandCount == 1 && i.operands[0].size != 0 &&
         i.operands[0].size <= 64 && !i.x87 && i.substitute == kNoRegister && !i.partial;
}

// What a mov stores; false: it is something else.
bool storedBy(const Instruction& i, PatchedAccess& a) {
  ZydisDecodedInstruction d;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!decode(i.bytes, i.length, d, operands) || d.mnemonic != ZYDIS_MNEMONIC_MOV) return false;
  if (operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
  if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    a.source = kNoRegister;
    a.number = operands[1].imm.value.u;
    return true;
  }
  ZydisRegister r = operands[1].reg.value;
  int number = -1;
  if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15) number = r - ZYDIS_REGISTER_RAX;
  if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D) number = r - ZYDIS_REGISTER_EAX;
  if (r >= ZYDIS_REGISTER_AX && r <= ZYDIS_REGISTER_R15W) number = r - ZYDIS_REGISTER_AX;
  if (r >= ZYDIS_REGISTER_AL && r <= ZYDIS_REGISTER_BL) number = r - ZYDIS_REGISTER_AL;
  if (r >= ZYDIS_REGISTER_SPL && r <= ZYDIS_REGISTER_R15B) number = r - ZYDIS_REGISTER_SPL + 4;
  if (number < 0 || number == kRsp) return false;
  a.source = uint8_t(number);
  return true;
}

}  // namespace

bool canBeTested(const Instruction& i) {
  switch (i.way) {
    case Way::ModRm:
    case Way::Vsib:
    case Way::Implicit:
    case Way::Translate:
      break;
    case Way::String:
      return true;
    default:
      return false;
  }
  if (i.operandCount != 1 || i.substitute != kNoRegister) return false;  // the stack pointer is ours in a stub
  if (!i.operands[0].read && !i.operands[0].written) return false;       // a flush
  const Address& a = i.operands[0].address;
  // Stacks and what a file holds are no PM; if they are, they fault, as before.
  if (a.segment != 0 || a.base == kRsp || i.special == kRsp) return false;
  return (a.base != kNoRegister || a.index != kNoRegister) && a.displacement == int32_t(a.displacement);
}

bool prepareAccessStubs() {
  uint32_t a, b, c, d;
  bool bmi2 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_BMI2) != 0;
  return bmi2 && prepareSaving() && preparePmTable();
}

void AccessStub::bytes(const void* p, size_t n) {
  memcpy(reinterpret_cast<void*>(at_), p, n);
  at_ += n;
}

uintptr_t AccessStub::distance() {
  value<int32_t>(0);
  return at_;
}

void AccessStub::aim(uintptr_t end, uintptr_t target) {
  auto far = intptr_t(target - end);
  auto near = int32_t(far);
  good_ = good_ && near == far;
  memcpy(reinterpret_cast<void*>(end - 4), &near, sizeof near);
}

void AccessStub::jump(uintptr_t target) {
  code({0xe9});
  aim(distance(), target);
}

void AccessStub::leave(uintptr_t pc) { jump(pc); }

void AccessStub::move(uintptr_t pc, const uint8_t* original) {
  ZydisDecodedInstruction d;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!decode(original, ZYDIS_MAX_INSTRUCTION_LENGTH, d, operands)) {
    good_ = false;
    return;
  }
  if (d.raw.imm[0].is_relative) {
    // A branch: its long form.
    uintptr_t target = pc + d.length + uintptr_t(d.raw.imm[0].value.s);
    if (d.mnemonic == ZYDIS_MNEMONIC_JMP) return jump(target);
    uint8_t condition = original[d.raw.imm[0].offset - 1] & 0x0f;
    code({0x0f, uint8_t(0x80 | condition)});
    return aim(distance(), target);
  }
  uintptr_t from = at_;
  bytes(original, d.length);
  bool relative = false;
  for (int n = 0; n < d.operand_count; ++n)
    relative =
        relative || (operands[n].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[n].mem.base == ZYDIS_REGISTER_RIP);
  if (!relative) return;
  // It counts from the instruction's end, and an immediate may stand between.
  auto far = intptr_t(pc - from) + d.raw.disp.value;
  auto near = int32_t(far);
  good_ = good_ && near == far;
  memcpy(reinterpret_cast<void*>(from + d.raw.disp.offset), &near, sizeof near);
}

// lea of the operand to rcx, with the stack pointer so much lower.
void AccessStub::address(const Address& a, int32_t lowered) {
  if (a.narrow) code({0x67});
  bool base = a.base != kNoRegister;
  bool index = a.index != kNoRegister;
  uint8_t rex = 0x48;
  if (base && a.base >= 8) rex |= 1;
  if (index && a.index >= 8) rex |= 2;
  uint8_t scale = a.scale == 8 ? 3 : a.scale == 4 ? 2 : a.scale == 2 ? 1 : 0;
  auto sib = uint8_t(scale << 6 | (index ? a.index & 7 : 4) << 3 | (base ? a.base & 7 : 5));
  code({rex, 0x8d, uint8_t(base ? 0x8c : 0x0c), sib});
  value(int32_t(a.displacement) + (a.base == kRsp ? lowered : 0));
}

// mov between a general register and offset(%rsp).
void AccessStub::slot(uint8_t opcode, uint8_t number, uint8_t offset) {
  code({uint8_t(number >= 8 ? 0x4c : 0x48), opcode, uint8_t(0x44 | (number & 7) << 3), 0x24, offset});
}

void AccessStub::access(PatchedAccess& a, bool reads) {
  const Instruction& i = *a.instruction;
  if (count_ == kMost) {
    good_ = false;
    return;
  }
  a.simple = isSimple(i);
  a.plainStore = a.simple && i.operands[0].size <= 8 && storedBy(i, a);
  a.test = at_;
  code({0x48, 0x8d, 0xa4, 0x24});  // lea -136(%rsp), %rsp
  value<int32_t>(-kLowered);
  slot(0x89, kRcx, 0);
  uintptr_t jumps[kMaxOperands] = {};
  for (int n = 0; n < i.operandCount; ++n) {
    if (!i.operands[n].written && !reads) continue;
    Address where = i.operands[n].address;
    // The vector of indices is not asked: where the base says nothing of them, they fault as before.
    if (i.way == Way::Vsib) where.index = kNoRegister;
    address(where, kLowered);
    // Below the stack pointer, which is far enough from the program's: a signal leaves 128 bytes alone.
    constexpr auto kBelow = uint8_t(-8);
    slot(0x89, kRdx, kBelow);
    code({0xc4, 0xe3, 0xfb, 0xf0, 0xc9, kStretchBits});  // rorx $bits, %rcx, %rcx
    code({0x89, 0xc9});                                  // mov %ecx, %ecx
    code({0x48, 0xba});                                  // mov $pmTable, %rdx
    value(pmTable);
    code({0x0f, 0xb6, 0x0c, 0x0a});  // movzbl (%rdx, %rcx), %ecx
    slot(0x8b, kRdx, kBelow);
    code({0x8d, 0x49, 0xff, 0xe3, 0});  // lea -1(%rcx), %ecx; jrcxz island
    jumps[n] = at_;
  }
  slot(0x8b, kRcx, 0);
  code({0x48, 0x8d, 0xa4, 0x24});
  value<int32_t>(kLowered);
  a.original = at_;
  move(a.pc, i.bytes);
  code({0xeb, 5});
  for (uintptr_t end : jumps) {
    if (end == 0) continue;
    size_t over = at_ - end;
    good_ = good_ && over < 128;
    *reinterpret_cast<uint8_t*>(end - 1) = uint8_t(over);
  }
  code({0xe9});
  islands_[count_++] = distance();
  a.next = at_;
}

void AccessStub::call(const PatchedAccess& a, void (*entry)()) {
  code({0xff, 0x35});  // pushq access(%rip)
  uintptr_t which = distance();
  code({0xff, 0x15});  // call *entry(%rip)
  uintptr_t to = distance();
  // It returns elsewhere.
  aim(which, at_);
  value(&a);
  aim(to, at_);
  value(entry);
}

// The copy, where frame.place says; then all is as before but for the stack.
void AccessStub::copied(const PatchedAccess& a) {
  const Instruction& i = *a.instruction;
  slot(0x8b, kRcx, 8);
  slot(0x89, i.scratch, 8);
  slot(0x8b, i.scratch, 0);
  bytes(i.code, i.copySize);
  slot(0x8b, i.scratch, 8);
}

void AccessStub::finish(PatchedAccess* accesses, int count) {
  auto restored = [&] {
    slot(0x8b, kRcx, 8);
    code({0x48, 0x8d, 0xa4, 0x24});  // lea 144(%rsp), %rsp
    value<int32_t>(kLowered + 8);
  };
  for (int n = 0; n < count; ++n) {
    PatchedAccess& a = accesses[n];
    aim(islands_[n], at_);
    a.block = at_;
    if (a.simple) {
      call(a, enterBegun);
      a.done = at_;
      restored();
      jump(a.next);
      a.native = at_;
      restored();
      jump(a.original);
      a.light = at_;
      copied(a);
      code({0x66, 0x64, 0xc7, 0x04, 0x25});  // movw $0, %fs:busy
      value(thread_.busy);
      value<uint16_t>(0);
      slot(0x89, kRcx, 0);
      code({0x64, 0x0f, 0xb6, 0x0c, 0x25});  // movzbl %fs:waiting, %ecx
      value(thread_.waiting);
      code({0xe3, 0});  // jrcxz over the call
      uintptr_t over = at_;
      slot(0x8b, kRcx, 0);
      code({0x48, 0x8d, 0x64, 0x24, 16, 0x51});  // lea 16(%rsp), %rsp; push %rcx
      call(a, enterEnded);
      *reinterpret_cast<uint8_t*>(over - 1) = uint8_t(at_ - over);
      slot(0x8b, kRcx, 0);
      code({0x48, 0x8d, 0xa4, 0x24});
      value<int32_t>(kLowered + 8);
      jump(a.next);
      a.full = at_;
      copied(a);
      code({0x48, 0x8d, 0x64, 0x24, 16, 0x51});  // lea 16(%rsp), %rsp; push %rcx
      call(a, enterEnded);
      a.whole = at_;
      slot(0x8b, kRcx, 8);
      code({0x48, 0x8d, 0x64, 0x24, 16});
      call(a, enterWhole);
    } else {
      slot(0x8b, kRcx, 0);
      code({0x48, 0x8d, 0x64, 0x24, 8});
      call(a, enterWhole);
      a.done = a.native = a.light = a.full = a.whole = 0;
    }
  }
}

}  // namespace blackout::rt
