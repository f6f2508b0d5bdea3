// The code that a patched place jumps to when its instructions access memory: each of them asks whether its address is
// PM, and is executed as it was if not. If it is, a function is called with the program's registers, which either has
// done the access when it returns, or says where its memory is: then a copy of the instruction is executed there, with
// the program's registers and vector state, and a second function is called behind it if that is wanted. None of these
// functions may touch a vector register. What they can't do is done by a third, with all of the state in a context as a
// signal has it.
//
// Nothing is written within 128 bytes below the program's stack pointer. Stubs never change once they are written.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/trap/instruction_parts.h"

namespace blackout::rt {

struct PatchedAccess {
  const Instruction* instruction;
  uintptr_t pc;     // of the original
  uintptr_t place;  // where the program has it, if that is another
  uint64_t id;      // of its site, for who observes
  // In the stub: where it is tested; as it was; as it was, with the program's registers still on the stack; the copy,
  // with nothing behind it; the copy, with a call behind it; behind all of it; and with all of the state.
  uintptr_t test;
  uintptr_t original;
  uintptr_t native;
  uintptr_t light;
  uintptr_t full;
  uintptr_t done;
  uintptr_t whole;
  uintptr_t next;
  uintptr_t block;  // the first of what lies behind the stub's straight way
  bool simple;      // the first function may be asked
  bool runtime;     // it is libc's
  // A store of one register or an immediate number, of at most 8 bytes: what is stored.
  bool plainStore;
  uint8_t source;  // kNoRegister: the number
  uint64_t number;
};

// The program's registers, on its stack.
struct AccessFrame {
  uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rax;
  uint64_t flags;
  uintptr_t back;
  union {
    const PatchedAccess* access;
    uintptr_t place;  // for light and full
    const void* row;  // of a fence's stub
  };
  uint64_t rcx;

  uint64_t& at(uint8_t number) {
    constexpr uint8_t kWords[16] = {13, 17, 12, 11, 0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    return reinterpret_cast<uint64_t*>(this)[kWords[number]];
  }
  uintptr_t sp() { return reinterpret_cast<uintptr_t>(this) + sizeof *this + 128; }
};
static_assert(sizeof(AccessFrame) == 18 * 8);

struct AccessActions {
  // Returns where to go on: one of the places in the stub. For light and full, frame.place is where the memory is.
  uintptr_t (*begun)(AccessFrame& frame);
  uintptr_t (*ended)(AccessFrame& frame);
  // Whether it has done all or a part of it; false: the program may not, or nobody can here. Vector registers are its
  // own business; the context has them.
  bool (*whole)(const PatchedAccess& access, ucontext_t& context);
};
extern constinit AccessActions accessActions;

// Bytes of the thread's state, from fs: two that are cleared when a copy is done with nothing behind it, and one that
// says whether something is to be done then all the same.
struct StubBytes {
  int32_t busy;
  int32_t waiting;
};

// Whether a stub can ask for it, and have it done.
bool canBeTested(const Instruction& i);

// False: the processor has no BMI2 or no XSAVE, or there is no room for the table of PM.
bool prepareAccessStubs();

// One stub: instructions of the program, one behind the other.
class AccessStub {
 public:
  // Writes to `at`; every address in it is as if it were there.
  AccessStub(uintptr_t at, StubBytes thread) : begin_(at), at_(at), thread_(thread) {}

  uintptr_t here() const { return at_; }
  size_t size() const { return at_ - begin_; }
  bool good() const { return good_; }

  // An instruction of the program at pc, whose bytes are these: as it was, at another place. Branches too.
  void move(uintptr_t pc, const uint8_t* bytes);
  // The same, tested. Its blocks are written by finish().
  void access(PatchedAccess& a, bool reads);
  // Goes on in the program.
  void leave(uintptr_t pc);
  void finish(PatchedAccess* accesses, int count);

 private:
  void bytes(const void* p, size_t n);
  template <size_t N>
  void code(const uint8_t (&b)[N]) {
    bytes(b, N);
  }
  template <typename T>
  void value(T v) {
    bytes(&v, sizeof v);  // NOLINT(bugprone-sizeof-expression): a pointer is stored as such
  }
  uintptr_t distance();
  void aim(uintptr_t end, uintptr_t target);
  void jump(uintptr_t target);
  void address(const Address& a, int32_t lowered);
  void slot(uint8_t opcode, uint8_t number, uint8_t offset);
  void call(const PatchedAccess& a, void (*entry)());
  void copied(const PatchedAccess& a);

  uintptr_t begin_;
  uintptr_t at_;
  StubBytes thread_;
  bool good_ = true;
  static constexpr int kMost = 16;
  uintptr_t islands_[kMost] = {};
  int count_ = 0;
};

}  // namespace blackout::rt
