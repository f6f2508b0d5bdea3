#include "runtime/trap/stubs.h"

#include <errno.h>
#include <string.h>

#include "runtime/recorder.h"
#include "runtime/trap/access_stub.h"
#include "runtime/trap/saved_registers.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {

constinit QuickAction quickAction = nullptr;

namespace {

BLACKOUT_NO_VECTORS uintptr_t reachedQuickly(AccessFrame* frame) {
  const Row& row = *static_cast<const Row*>(frame->row);
  return quickAction != nullptr && quickAction(row.patch, *frame) ? row.done : row.full;
}
[[gnu::naked]] void enterQuickly() { BLACKOUT_CALL_WITHOUT_VECTORS(reachedQuickly); }

[[gnu::used]] void reached(const Row* row, ucontext_t* context) {
  context->uc_flags = 0;
  context->uc_link = nullptr;
  context->uc_stack = {};
  greg_t* gregs = context->uc_mcontext.gregs;
  gregs[REG_RIP] = greg_t(row->patch.pc);
  for (int i = REG_EFL + 1; i < NGREG; ++i) gregs[i] = 0;
  context->uc_mcontext.fpregs = nullptr;
  __builtin_memset_inline(&context->uc_sigmask, 0, sizeof context->uc_sigmask);
  act(*row, row->action, *context);
}

// Called by stubs, below the red zone, with the row on the stack.
[[gnu::naked]] void enter() {
  asm volatile(BLACKOUT_SAVE_REGISTERS
               R"(
      movq 24(%%rbp), %%rdi
      movq %%rbx, %%rsi
      call %P[reached]
      )" BLACKOUT_RESTORE_REGISTERS
               R"(
      retq $8
      )"
               :
               : BLACKOUT_SAVED_OPERANDS, [reached] "i"(&reached));
}

// ThreadState::active seen from fs: the same number in every thread.
int32_t activeOffset() {
  uintptr_t thread;
  asm("movq %%fs:0, %0" : "=r"(thread));
  return int32_t(reinterpret_cast<intptr_t>(&self.active) - intptr_t(thread));
}

class Writer {
 public:
  explicit Writer(uintptr_t at) : at_(at) {}

  uintptr_t here() const { return at_; }
  bool reaches() const { return reaches_; }

  void bytes(const void* p, size_t n) {
    memcpy(reinterpret_cast<void*>(at_), p, n);
    at_ += n;
  }
  template <size_t N>
  void code(const uint8_t (&b)[N]) {
    bytes(b, N);
  }
  template <typename T>
  void value(T v) {
    bytes(&v, sizeof v);  // NOLINT(bugprone-sizeof-expression): a pointer is stored as such
  }
  // The last four bytes of an instruction: a distance that is filled in later.
  uintptr_t distance() {
    value<int32_t>(0);
    return at_;
  }
  void aim(uintptr_t end, uintptr_t target) {
    auto far = intptr_t(target - end);
    auto near = int32_t(far);
    reaches_ = reaches_ && near == far;
    memcpy(reinterpret_cast<void*>(end - 4), &near, sizeof near);
  }
  void jump(uintptr_t target) {
    code({0xe9});
    aim(distance(), target);
  }
  // From memory that may be anywhere.
  void jumpFar(uintptr_t target) {
    code({0xff, 0x25, 0, 0, 0, 0});
    value(target);
  }
  // Instructions of the program, with what they address relative to themselves.
  void copy(uintptr_t pc, uint8_t length) {
    for (uintptr_t end = pc + length; pc < end;) {
      ZydisDecodedInstruction i;
      ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
      if (!decode(reinterpret_cast<const void*>(pc), end - pc, i, operands)) {
        reaches_ = false;
        return;
      }
      uintptr_t from = at_;
      bytes(reinterpret_cast<const void*>(pc), i.length);
      bool relative = false;
      for (int n = 0; n < i.operand_count; ++n)
        relative =
            relative || (operands[n].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[n].mem.base == ZYDIS_REGISTER_RIP);
      if (relative) {
        // It counts from the instruction's end, and an immediate may stand between.
        auto far = intptr_t(pc - from) + i.raw.disp.value;
        auto near = int32_t(far);
        reaches_ = reaches_ && near == far;
        memcpy(reinterpret_cast<void*>(from + i.raw.disp.offset), &near, sizeof near);
      }
      pc += i.length;
    }
  }

  void belowRedZone() { code({0x48, 0x8d, 0x64, 0x24, 0x80}); }                        // lea -128(%rsp), %rsp
  void aboveRedZone() { code({0x48, 0x8d, 0xa4, 0x24, kRedZone, 0x00, 0x00, 0x00}); }  // lea 128(%rsp), %rsp

  // The call of the action. Returns where two addresses are to be aimed at: the row's, and the entry's.
  struct Call {
    uintptr_t row;
    uintptr_t entry;
  };
  Call callWithRow() {
    Call call;
    code({0xff, 0x35});  // pushq row(%rip)
    call.row = distance();
    code({0xff, 0x15});  // call *entry(%rip)
    call.entry = distance();
    return call;
  }
  Call call() {
    belowRedZone();
    Call call = callWithRow();
    aboveRedZone();
    return call;
  }
  // The quick one, which goes on at row.done or row.full; and there the other.
  struct Calls {
    Call quick;
    Call full;
  };
  Calls calls(Row& row) {
    constexpr uint8_t kRcx[] = {0x48, 0x8b, 0x4c, 0x24, 8};  // mov 8(%rsp), %rcx
    Calls calls;
    belowRedZone();
    code({0x51});  // push %rcx
    calls.quick = callWithRow();
    row.full = at_;
    code(kRcx);
    code({0x48, 0x8d, 0x64, 0x24, 16});  // lea 16(%rsp), %rsp
    calls.full = callWithRow();
    aboveRedZone();
    code({0xeb, 13});
    row.done = at_;
    code(kRcx);
    code({0x48, 0x8d, 0xa4, 0x24, kRedZone + 16, 0x00, 0x00, 0x00});  // lea 144(%rsp), %rsp
    return calls;
  }
  void addresses(const Call& call, const Row& row, void (*entry)()) {
    aim(call.row, at_);
    value(&row);
    aim(call.entry, at_);
    value(entry);
  }

 private:
  uintptr_t at_;
  bool reaches_ = true;
};

bool locked(const Patch& patch) { return patch.kind == BLACKOUT_SITE_Rmw || patch.kind == BLACKOUT_SITE_CmpXchg; }

// Jumps away, with all registers and flags as they were (or, with writesFlags, all flags written by what follows), if
// the thread has something to order. Returns the end of the jump.
uintptr_t writeTest(Writer& w, bool writesFlags) {
  if (writesFlags) {
    w.code({0x64, 0x80, 0x3c, 0x25});  // cmpb $0, %fs:active
    w.value(activeOffset());
    w.code({0x00, 0x0f, 0x85});  // jne
    return w.distance();
  }
  w.belowRedZone();
  w.code({0x51, 0x64, 0x0f, 0xb6, 0x0c, 0x25});  // push %rcx; movzbl %fs:active, %ecx
  w.value(activeOffset());
  w.code({0xe3, 14, 0x59});  // jrcxz over the following 14 bytes; pop %rcx
  w.aboveRedZone();
  w.code({0xe9});
  uintptr_t end = w.distance();
  w.code({0x59});
  w.aboveRedZone();
  return end;
}

}  // namespace

bool prepareStubs() { return prepareSaving(); }

size_t writeStub(const Fence& fence, Row& row) {
  row.patch = {fence.pc, {}, fence.length, fence.kind};
  memcpy(row.patch.original, reinterpret_cast<const void*>(fence.pc), fence.length);
  bool request = fence.kind == BLACKOUT_SITE_Request;
  row.copied = request ? 0 : row.breakpoint ? fence.length : fence.room;
  uintptr_t back = fence.pc + (request ? fence.length : row.copied);

  Writer w(row.stub);
  if (row.breakpoint) {
    row.copy = w.here();
    w.copy(fence.pc, row.copied);
    w.jumpFar(back);
  } else if (locked(row.patch)) {
    uintptr_t test = writeTest(w, fence.writesFlags);
    row.copy = w.here();
    w.copy(fence.pc, row.copied);
    w.jump(back);
    w.aim(test, w.here());
    Writer::Call call = w.call();
    w.jump(row.copy);
    w.addresses(call, row, enter);
  } else {
    Writer::Calls calls = w.calls(row);
    row.copy = w.here();
    w.copy(fence.pc, row.copied);
    w.jump(back);
    w.addresses(calls.quick, row, enterQuickly);
    w.addresses(calls.full, row, enter);
  }
  return w.reaches() ? w.here() - row.stub : 0;
}

void act(const Row& row, PatchAction action, ucontext_t& context) {
  // A breakpoint doesn't ask before.
  if (locked(row.patch) && !self.active) return;
  int before = errno;
  action(row.patch, context);
  errno = before;
}

}  // namespace blackout::rt
