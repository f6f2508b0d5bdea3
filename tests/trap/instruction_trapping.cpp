#include "instruction_trapping.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

using namespace blackout::rt;

thread_local Trap trap;
thread_local uint64_t iterationsPerTrap = ~uint64_t{0};
void* volatile unexecuted = nullptr;

namespace {

constexpr int kMost = 8;
Trapped known[kMost];
int knownCount = 0;

uintptr_t placeOf(uintptr_t address) {
  for (int n = 0; n < knownCount; ++n) {
    uintptr_t offset = address - reinterpret_cast<uintptr_t>(known[n].memory);
    if (offset < known[n].size) return reinterpret_cast<uintptr_t>(known[n].second) + offset;
  }
  return address;
}

[[noreturn]] void stop(const char* why, const ucontext_t& context) {
  fprintf(stderr, "%s at %llx\n", why, static_cast<unsigned long long>(context.uc_mcontext.gregs[REG_RIP]));
  _exit(3);
}

void handle(int, siginfo_t*, void* c) {
  auto& context = *static_cast<ucontext_t*>(c);
  if (executionFaulted(context)) return;
  const Instruction* i = instructionAt(uintptr_t(context.uc_mcontext.gregs[REG_RIP]));
  if (i == nullptr) stop("no instruction", context);
  ++trap.count;
  if (trap.count > 100000) stop("traps without end", context);
  trap.kind = kindOf(*i);
  trap.access = accessOf(*i, context);
  uintptr_t places[kMaxOperands] = {};
  for (int n = 0; n < trap.access.count; ++n) places[n] = placeOf(trap.access.operands[n].address);
  uint64_t iterations = trap.access.iterations < iterationsPerTrap ? trap.access.iterations : iterationsPerTrap;
  trap.executed = execute(*i, context, places, iterations, trap.stored);
  if (trap.executed == Executed::Done) return;
  if (unexecuted == nullptr) stop(trap.executed == Executed::Faulted ? "faulted" : "unsupported", context);
  context.uc_mcontext.gregs[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(unexecuted));
}

}  // namespace

uintptr_t secondOf(uintptr_t address) { return placeOf(address); }

Trapped trappedMemory(uintptr_t address, size_t size) {
  int file = memfd_create("trapped", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(size)) != 0 || knownCount == kMost) abort();
  int fixed = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* memory = mmap(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, file, 0);
  void* second = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED || second == MAP_FAILED) abort();
  close(file);
  return known[knownCount++] = {static_cast<uint8_t*>(memory), static_cast<uint8_t*>(second), size};
}

void protect(const Trapped& memory, bool on) {
  if (mprotect(memory.memory, memory.size, on ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) abort();
}

void catchTraps() {
  constexpr size_t kStack = 256 << 10;
  stack_t stack = {};
  stack.ss_size = kStack;
  stack.ss_sp = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) abort();
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}
