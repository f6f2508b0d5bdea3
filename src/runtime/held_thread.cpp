#include "runtime/held_thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "runtime/processes.h"

namespace blackout::rt {

namespace {

constexpr int kAnyChild = 0x40000000;        // __WALL
constexpr unsigned long long kStep = 0x100;  // the trap flag

long trace(int request, pid_t thread, void* address, void* data) {
  return syscall(SYS_ptrace, request, thread, address, data);
}

// Where the runtime is loaded in a process; 0: not at all. A process that executed another program has it elsewhere.
uintptr_t baseOf(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", int(process));
  FILE* maps = fopen(path, "re");
  if (maps == nullptr) return 0;
  char line[4400];
  uintptr_t base = 0;
  while (base == 0 && fgets(line, sizeof line, maps) != nullptr)
    if (strstr(line, "/libblackout.so") != nullptr) base = strtoull(line, nullptr, 16);
  fclose(maps);
  return base;
}

void setRegisters(ucontext_t& to, const user_regs_struct& from) {
  greg_t* r = to.uc_mcontext.gregs;
  r[REG_RIP] = greg_t(from.rip), r[REG_RSP] = greg_t(from.rsp), r[REG_RBP] = greg_t(from.rbp);
  r[REG_RBX] = greg_t(from.rbx), r[REG_RAX] = greg_t(from.rax), r[REG_RCX] = greg_t(from.rcx);
  r[REG_RDX] = greg_t(from.rdx), r[REG_RSI] = greg_t(from.rsi), r[REG_RDI] = greg_t(from.rdi);
  r[REG_R8] = greg_t(from.r8), r[REG_R9] = greg_t(from.r9), r[REG_R10] = greg_t(from.r10);
  r[REG_R11] = greg_t(from.r11), r[REG_R12] = greg_t(from.r12), r[REG_R13] = greg_t(from.r13);
  r[REG_R14] = greg_t(from.r14), r[REG_R15] = greg_t(from.r15), r[REG_EFL] = greg_t(from.eflags);
}

// The last that ended instead of standing still: who waits for it finds nothing any more.
struct Ended {
  pid_t thread;
  int status;
  struct rusage usage;
};
Ended ended = {};

}  // namespace

bool endedWhileHeld(pid_t thread, int& status, struct rusage& usage) {
  if (thread == 0 || ended.thread != thread) return false;
  status = ended.status;
  usage = ended.usage;
  ended = {};
  return true;
}

// Waits until it stands still; for ever only where nothing can keep it from that.
bool HeldThread::waitForStop(int& status, bool patient) {
  constexpr int kTries = 20000;
  for (int i = 0; patient || i < kTries; ++i) {
    struct rusage usage{};
    long r = syscall(SYS_wait4, id_.thread, &status, kAnyChild | (patient ? 0 : WNOHANG), &usage);
    if (r == id_.thread && !WIFSTOPPED(status)) ended = {id_.thread, status, usage};
    if (r == id_.thread) return WIFSTOPPED(status);
    if (r < 0 && errno != EINTR) return false;
    if (r == 0) {
      struct timespec moment{0, 100000};
      syscall(SYS_nanosleep, &moment, nullptr);
    }
  }
  return false;
}

HeldThread::HeldThread(ThreadId id) : id_(id) {
  if (id.thread == 0 || trace(PTRACE_SEIZE, id.thread, nullptr, nullptr) != 0) return;
  int status;
  held_ = trace(PTRACE_INTERRUPT, id.thread, nullptr, nullptr) == 0 && waitForStop(status, false);
  // It may have stopped because a signal is about to be delivered, and would lose that by a step: a breakpoint or a
  // system call that the runtime handles. What faulted faults again.
  bool event = held_ && status >> 16 != 0;
  if (held_ && !event && WSTOPSIG(status) != SIGSEGV) signal_ = WSTOPSIG(status);
}

HeldThread::~HeldThread() {
  if (held_ && stepped_) clearStep();
  if (held_) trace(PTRACE_DETACH, id_.thread, nullptr, reinterpret_cast<void*>(uintptr_t(signal_)));
}

bool HeldThread::registers(user_regs_struct& to) const { return trace(PTRACE_GETREGS, id_.thread, nullptr, &to) == 0; }

bool HeldThread::registers(VectorRegisters& to) const {
  iovec room{to.bytes, sizeof to.bytes};
  constexpr uintptr_t kExtendedState = 0x202;  // NT_X86_XSTATE
  if (trace(PTRACE_GETREGSET, id_.thread, reinterpret_cast<void*>(kExtendedState), &room) != 0) return false;
  to.size = room.iov_len;
  return true;
}

bool VectorRegisters::operator==(const VectorRegisters& other) const {
  return size == other.size && memcmp(bytes, other.bytes, size) == 0;
}

// The kernel sends the trap of a step in any case: to a thread that blocks it, as handlers of the runtime do, only
// after it has taken the handler away for good.
bool HeldThread::blocksTrap() const {
  constexpr int kGetMask = 0x420a;  // PTRACE_GETSIGMASK
  uint64_t mask = 0;
  return trace(kGetMask, id_.thread, reinterpret_cast<void*>(sizeof mask), &mask) != 0 ||
         (mask >> (SIGTRAP - 1) & 1) != 0;
}

// pushf stores the flag that makes the step with all others: a popf long after the thread was let go would set it
// again, and nobody expects that trap.
bool HeldThread::pushesFlags() const {
  user_regs_struct now;
  uint8_t code[2] = {};
  if (!registers(now) || !readMemory(id_.process, now.rip, code, 1)) return false;
  if (code[0] == 0x66 && !readMemory(id_.process, now.rip + 1, code + 1, 1)) return false;
  return code[0] == 0x9c || (code[0] == 0x66 && code[1] == 0x9c);
}

bool HeldThread::clearPushedStep() const {
  user_regs_struct now;
  uint8_t second = 0;  // byte of the flags, whose lowest bit is the step's
  if (!registers(now) || !readMemory(id_.process, now.rsp + 1, &second, 1)) return false;
  second = uint8_t(second & ~1U);
  iovec from{&second, 1}, to{reinterpret_cast<void*>(now.rsp + 1), 1};
  return syscall(SYS_process_vm_writev, id_.process, &from, 1UL, &to, 1UL, 0UL) == 1;
}

// After a step over popf the kernel takes the flag of the steps for the program's own, and leaves it set for good.
void HeldThread::clearStep() const {
  user_regs_struct now;
  if (!registers(now) || (now.eflags & kStep) == 0) return;
  now.eflags &= ~kStep;
  trace(PTRACE_SETREGS, id_.thread, nullptr, &now);
}

bool HeldThread::step() {
  int status;
  if (signal_ != 0 || blocksTrap()) return false;
  if (user_regs_struct now; !stepped_ && (!registers(now) || (now.eflags & kStep) != 0)) return false;
  stepped_ = true;
  bool pushes = pushesFlags();
  if (trace(PTRACE_SINGLESTEP, id_.thread, nullptr, nullptr) != 0 || !waitForStop(status, true)) return false;
  bool event = status >> 16 != 0;
  if (WSTOPSIG(status) == SIGTRAP && !event) return !pushes || clearPushedStep();
  if (!event) signal_ = WSTOPSIG(status);
  return false;
}

void HeldThread::tellPlace() {
  uintptr_t theirs = baseOf(id_.process), ours = baseOf(pid_t(syscall(SYS_getpid)));
  user_regs_struct now;
  if (theirs == 0 || ours == 0 || !registers(now)) return;
  ucontext_t context{};
  setRegisters(context, now);
  auto moved = [&](uintptr_t address) { return address - ours + theirs; };
  uintptr_t at = (moved(reinterpret_cast<uintptr_t>(placeStackTop())) - sizeof context) & ~uintptr_t{15};
  iovec from{&context, sizeof context}, to{reinterpret_cast<void*>(at), sizeof context};
  if (syscall(SYS_process_vm_writev, id_.process, &from, 1UL, &to, 1UL, 0UL) != long(sizeof context)) return;
  now.rip = moved(reinterpret_cast<uintptr_t>(keepPlaceAndStop));
  now.rdi = at;
  now.rsp = at - 8;  // as behind a call
  now.rbp = 0;
  now.orig_rax = ~0ull;  // the call that it waits in is not made again
  int status = 0;
  // What stopped it before may be told first.
  constexpr int kEvents = 8;
  bool set = trace(PTRACE_SETREGS, id_.thread, nullptr, &now) == 0;
  for (int i = 0; set && i < kEvents && trace(PTRACE_CONT, id_.thread, nullptr, nullptr) == 0; ++i)
    if (!waitForStop(status, false) || status >> 16 == 0) break;
  held_ = false;  // it must not go on from there
}

void endTold(const ThreadId* threads, size_t count) {
  for (size_t i = 0; i < count; ++i) syscall(SYS_kill, threads[i].process, SIGKILL);
  // A thread that isn't its process's first is nobody's to wait for but ours.
  int status;
  for (size_t i = 0; i < count; ++i)
    if (threads[i].thread != threads[i].process) syscall(SYS_wait4, threads[i].thread, &status, kAnyChild, nullptr);
}

}  // namespace blackout::rt
