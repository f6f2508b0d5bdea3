// Every function of patched_code.c has the same effect before and after it is patched: registers, flags, vector
// registers and memory, whether the thread has something to order or not.
#include "runtime/trap/patches.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "loaded_file.h"
#include "machine_state.h"
#include "patched_code.h"
#include "runtime/recorder.h"
#include "runtime/trap/access_stub.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/saved_registers.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {
constinit thread_local ThreadState self = {};
}  // namespace blackout::rt

using namespace blackout::rt;

namespace {

constexpr size_t kPage = 4096;
constexpr int kSeeds = 40;

alignas(kPage) uint8_t memory[2 * kPage];
MachineState input;
MachineState trash;

// What the actions saw since the last call.
std::atomic<uint64_t> actions;
std::atomic<uint64_t> lockedActions;
std::atomic<uint64_t> wrongContexts;
bool checkContexts = false;

void action(const Patch& patch, ucontext_t& context) {
  ++actions;
  if (patch.kind == BLACKOUT_SITE_Rmw || patch.kind == BLACKOUT_SITE_CmpXchg) ++lockedActions;
  const greg_t* gregs = context.uc_mcontext.gregs;
  bool right = uintptr_t(gregs[REG_RIP]) == patch.pc && patchAt(patch.pc) == &patch;
  if (checkContexts) {
    const MachineState::General& g = input.general;
    right = right && uint64_t(gregs[REG_RDI]) == g.rdi && uint64_t(gregs[REG_R8]) == g.r8 &&
            uint64_t(gregs[REG_RBP]) == g.rbp && uint64_t(gregs[REG_RBX]) == g.rbx && uint64_t(gregs[REG_RSP]) == g.rsp;
  }
  if (!right) ++wrongContexts;
  if (patch.kind == BLACKOUT_SITE_Request) {
    auto* arguments = reinterpret_cast<const uint64_t*>(gregs[REG_RAX]);
    context.uc_mcontext.gregs[REG_RDX] =
        greg_t(uint64_t(gregs[REG_RDX]) + arguments[0] + arguments[1] * arguments[2] + arguments[5]);
  }
  errno = EDOM;
  loadVectors(trash);
}

// Every second one is done here.
std::atomic<uint64_t> quick;
BLACKOUT_NO_VECTORS bool quickly(const Patch& patch, AccessFrame& f) {
  const MachineState::General& g = input.general;
  bool right = f.rdi == g.rdi && f.r8 == g.r8 && f.rbp == g.rbp && f.rbx == g.rbx && f.sp() == g.rsp &&
               patch.kind != BLACKOUT_SITE_Rmw && patch.kind != BLACKOUT_SITE_CmpXchg;
  if (checkContexts && !right) ++wrongContexts;
  if (++quick % 2 == 0) return false;
  ++actions;
  if (patch.kind == BLACKOUT_SITE_Request) f.rdx = 4711;
  return true;
}

void onTrap(int, siginfo_t*, void* context) {
  if (!patchTrapped(*static_cast<ucontext_t*>(context), action)) abort();
}

// Where the last fault was, as the program has it.
uintptr_t faultPlace;
void onFault(int, siginfo_t* info, void* context) {
  auto* address = static_cast<uint8_t*>(info->si_addr);
  if (address < memory || address >= std::end(memory)) abort();
  faultPlace = placeInProgram(uintptr_t(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]));
  mprotect(memory, sizeof memory, PROT_READ | PROT_WRITE);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction a = {};
  a.sa_sigaction = handler;
  a.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(signal, &a, nullptr);
}

bool supported(const patched_function& f) {
  uint32_t a, b = 0, c, d;
  __get_cpuid_count(7, 0, &a, &b, &c, &d);
  return ((f.flags & NEEDS_CLWB) == 0 || (b & bit_CLWB) != 0) &&
         ((f.flags & NEEDS_CLFLUSHOPT) == 0 || (b & bit_CLFLUSHOPT) != 0);
}

// All that a function leaves behind.
struct Effect {
  MachineState::General general;
  std::vector<uint8_t> bytes;  // vector registers, memory, the library's data
  bool operator==(const Effect& other) const {
    return memcmp(&general, &other.general, sizeof general) == 0 && bytes == other.bytes;
  }
};

class Patches : public testing::TestWithParam<const char*> {
 protected:
  Patches() : file_(std::string(PATCHED_CODE_FOLDER "/libpatched_code_") + GetParam() + ".so") {}

  void SetUp() override {
    ASSERT_TRUE(loadZydis());
    ASSERT_TRUE(file_.loaded()) << dlerror();
    handle(SIGTRAP, onTrap);
    handle(SIGSEGV, onFault);
    functions_ = file_.find<const patched_function*>("patched_functions");
    count_ = *file_.find<const int*>("patched_function_count");
    data_ = file_.find<uint64_t*>("patched_data");
    std::mt19937_64 random(99);
    fillRandomly(trash, random);
    self.active = false;
    checkContexts = false;
    wrongContexts = 0;
  }
  void TearDown() override {
    EXPECT_EQ(wrongContexts, 0u);
    signal(SIGTRAP, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    self.active = false;
  }

  void setInput(unsigned seed) {
    std::mt19937_64 random(seed);
    fillRandomly(input, random);
    input.general.rdi = reinterpret_cast<uintptr_t>(memory);
    input.general.r8 = reinterpret_cast<uintptr_t>(memory) + kPage;
    input.general.rsi &= 15;
    input.general.rbx &= 15;
    input.general.rcx &= 63;
    for (uint8_t& b : memory) b = uint8_t(random());
    // Half of the comparisons of swaps succeed.
    if (seed % 2 == 0) memcpy(memory + 4, &input.general.rax, 4);
    for (int i = 0; i < 16; ++i) data_[i] = random();
  }

  Effect effect(const patched_function& f, unsigned seed) {
    setInput(seed);
    static MachineState after;
    memset(after.vectors, 0, sizeof after.vectors);
    after.general = input.general;
    errno = ERANGE;
    call(f, after);
    EXPECT_EQ(errno, ERANGE) << f.name;
    Effect e;
    e.general = after.general;
    e.general.rsp = 0;
    e.bytes.assign(after.vectors + 24, after.vectors + 28);
    e.bytes.insert(e.bytes.end(), after.vectors + 160, after.vectors + 416);
    e.bytes.insert(e.bytes.end(), after.vectors + 576, std::end(after.vectors));
    e.bytes.insert(e.bytes.end(), memory, std::end(memory));
    auto* data = reinterpret_cast<uint8_t*>(data_);
    e.bytes.insert(e.bytes.end(), data, data + 128);
    return e;
  }

  // The stack pointer on entry, which the action compares with, is the same in both calls.
  void call(const patched_function& f, MachineState& after) {
    MachineState::General probe = after.general;
    callWith(&probe, [] {}, input.vectors, after.vectors);
    input.general.rsp = probe.rsp;
    callWith(&after.general, f.code, input.vectors, after.vectors);
  }

  std::map<std::string, std::vector<Effect>> allEffects(bool check) {
    std::map<std::string, std::vector<Effect>> effects;
    for (int i = 0; i < count_; ++i) {
      if (!supported(functions_[i])) continue;
      for (unsigned seed = 0; seed < kSeeds; ++seed) {
        actions = lockedActions = 0;
        checkContexts = check;
        effects[functions_[i].name].push_back(effect(functions_[i], seed));
        checkContexts = false;
        if (!check) continue;
        int patches = functions_[i].jumps + functions_[i].breakpoints;
        if (!self.active)
          EXPECT_EQ(lockedActions, 0u) << functions_[i].name;
        else if ((functions_[i].flags & VARIES) == 0)
          EXPECT_EQ(actions, uint64_t(patches)) << functions_[i].name;
      }
    }
    return effects;
  }

  void expectSame(const std::map<std::string, std::vector<Effect>>& before,
                  const std::map<std::string, std::vector<Effect>>& after) {
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [name, effects] : before)
      for (size_t i = 0; i < effects.size(); ++i) {
        const Effect& a = effects[i];
        const Effect& b = after.at(name)[i];
        if (a == b) continue;
        ADD_FAILURE() << name << " seed " << i;
        auto* x = &a.general.rax;
        auto* y = &b.general.rax;
        for (int r = 0; r < 16; ++r)
          if (x[r] != y[r]) printf("  register %d: %lx, now %lx\n", r, x[r], y[r]);
        for (size_t n = 0; n < a.bytes.size(); ++n)
          if (a.bytes[n] != b.bytes[n]) {
            printf("  byte %zu: %x, now %x\n", n, a.bytes[n], b.bytes[n]);
            break;
          }
        return;
      }
  }

  LoadedFile file_;
  const patched_function* functions_ = nullptr;
  int count_ = 0;
  uint64_t* data_ = nullptr;
};

TEST_P(Patches, FindsWhatIsProved) {
  PatchCount count = patchModule(file_.target(), action);
  uint32_t listed = 0;
  for (int i = 0; i < count_; ++i) {
    const patched_function& f = functions_[i];
    int jumps = 0;
    int breakpoints = 0;
    for (auto pc = reinterpret_cast<uintptr_t>(f.code); pc < reinterpret_cast<uintptr_t>(f.end); ++pc) {
      const Patch* patch = patchAt(pc);
      if (patch == nullptr) continue;
      EXPECT_EQ(patch->pc, pc);
      uint8_t byte = *reinterpret_cast<const uint8_t*>(pc);
      jumps += byte == 0xe9;
      breakpoints += byte == 0xcc;
    }
    EXPECT_EQ(jumps, f.jumps) << f.name;
    EXPECT_EQ(breakpoints, f.breakpoints) << f.name;
    listed += uint32_t(jumps + breakpoints);
  }
  EXPECT_GT(count.patched, listed);  // and those of the functions in C
  EXPECT_GT(count.jumps, 50u);
  EXPECT_LT(count.jumps, count.patched);
  EXPECT_EQ(int(count.unproved), *file_.find<const int*>("patched_unproved"));
  EXPECT_TRUE(count.requests);
}

TEST_P(Patches, HaveTheSameEffect) {
  auto before = allEffects(false);
  patchModule(file_.target(), action);
  auto idle = allEffects(true);
  expectSame(before, idle);
  self.active = true;
  auto active = allEffects(true);
  expectSame(before, active);
}

// The same where an action is asked first that leaves vector registers alone.
TEST_P(Patches, AreDoneQuickly) {
  auto before = allEffects(false);
  patchModule(file_.target(), action);
  self.active = true;
  quickAction = quickly;
  quick = 0;
  auto after = allEffects(true);
  auto request = file_.find<decltype(&patched_request)>("patched_request");
  quick = 0;
  uint64_t first = request(7, 2, 3);
  uint64_t second = request(7, 2, 3);
  quickAction = nullptr;
  expectSame(before, after);
  EXPECT_EQ(first, 4711u);
  EXPECT_EQ(second, 7 + 0x50430005 + 2 * 3 + 5u);
  EXPECT_EQ(quick, 2u);
}

TEST_P(Patches, AreForgotten) {
  PatchTarget target = file_.target();
  patchModule(target, action);
  auto pc = reinterpret_cast<uintptr_t>(functions_[0].code);
  ASSERT_NE(patchAt(pc), nullptr);
  EXPECT_EQ(patchAt(pc + 1), nullptr);
  // An instruction that was met in the stub, and another one in its place.
  int32_t distance;
  memcpy(&distance, reinterpret_cast<const void*>(pc + 1), sizeof distance);
  uintptr_t stub = pc + 5 + uintptr_t(intptr_t(distance));
  EXPECT_EQ(placeInProgram(stub), pc);
  ASSERT_TRUE(prepareInstructions());
  const Instruction* met = instructionAt(stub);
  ASSERT_NE(met, nullptr);
  EXPECT_NE(lengthOf(*met), 1);
  forgetPatches(target.begin, target.end);
  EXPECT_EQ(patchAt(pc), nullptr);
  EXPECT_EQ(placeInProgram(stub), stub);
  auto* page = reinterpret_cast<void*>(stub & -kPage);
  ASSERT_EQ(mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), page);
  memset(page, 0x90, kPage);
  EXPECT_EQ(lengthOf(*instructionAt(stub)), 1);
  forgetInstructions(stub, stub + 1);
  munmap(page, kPage);
}

TEST_P(Patches, AnswerRequests) {
  auto request = file_.find<decltype(&patched_request)>("patched_request");
  EXPECT_EQ(request(7, 2, 3), 7u);
  patchModule(file_.target(), action);
  EXPECT_EQ(request(7, 2, 3), 7 + 0x50430005 + 2 * 3 + 5u);
}

// Faults in a stub, at the original or at what moved, are faults of the program's own instruction.
TEST_P(Patches, KnowTheirPlaces) {
  patchModule(file_.target(), action);
  for (int i = 0; i < count_; ++i) {
    std::string name = functions_[i].name;
    if (name != "inc_moves" && name != "moves_access" && name != "before_return") continue;
    for (bool active : {false, true}) {
      setInput(1);
      self.active = active;
      faultPlace = 0;
      mprotect(memory, kPage, PROT_NONE);
      static MachineState after;
      after.general = input.general;
      callWith(&after.general, functions_[i].code, input.vectors, after.vectors);
      uintptr_t offset = name == "moves_access" ? 4 : 0;
      EXPECT_EQ(faultPlace, reinterpret_cast<uintptr_t>(functions_[i].code) + offset) << name;
    }
  }
  EXPECT_EQ(placeInProgram(reinterpret_cast<uintptr_t>(memory)), reinterpret_cast<uintptr_t>(memory));
}

// A signal may come behind the original in a stub, before the jump back: the program has executed it by then.
TEST_P(Patches, KnowThePlaceBehindAnOriginal) {
  patchModule(file_.target(), action);
  int seen = 0;
  for (int i = 0; i < count_; ++i) {
    auto pc = reinterpret_cast<uintptr_t>(functions_[i].code);
    const Patch* patch = patchAt(pc);
    // Nothing had to make room for those that are as long as a jump.
    if (patch == nullptr || *reinterpret_cast<const uint8_t*>(pc) != 0xe9 || patch->length < 5) continue;
    ++seen;
    int32_t distance;
    memcpy(&distance, reinterpret_cast<const void*>(pc + 1), sizeof distance);
    uintptr_t copy = pc + 5 + uintptr_t(intptr_t(distance));
    while (placeInProgram(copy) == pc && placeInProgram(copy + 1) != pc + 1) ++copy;
    for (uintptr_t n = 0; n <= patch->length; ++n) EXPECT_EQ(placeInProgram(copy + n), pc + n) << functions_[i].name;
    EXPECT_EQ(*reinterpret_cast<const uint8_t*>(copy + patch->length), 0xe9);
    EXPECT_EQ(placeInProgram(copy + patch->length + 1), pc) << "no place of the program's";
  }
  EXPECT_GT(seen, 5);
}

// With all space in reach taken: breakpoints, and their copies far away.
TEST_P(Patches, NeedNoMemoryNearby) {
  auto before = allEffects(false);
  std::vector<std::pair<uintptr_t, size_t>> taken;
  auto take = [&](uintptr_t begin, uintptr_t end) {
    if (begin >= end) return;
    void* p = mmap(reinterpret_cast<void*>(begin), end - begin, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED) taken.emplace_back(begin, end - begin);
  };
  PatchTarget target = file_.target();
  std::vector<std::pair<uintptr_t, uintptr_t>> maps;
  FILE* f = fopen("/proc/self/maps", "r");
  ASSERT_NE(f, nullptr);
  char line[1024];
  while (fgets(line, sizeof line, f) != nullptr) {
    uintptr_t begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin < uintptr_t(1) << 47) maps.emplace_back(begin, end);
  }
  fclose(f);
  constexpr uintptr_t kReach = uintptr_t(1) << 31;
  uintptr_t lowest = (target.begin - kReach) & -kPage;
  uintptr_t highest = (target.end + kReach) & -kPage;
  if (highest > (uintptr_t(1) << 47) - kPage) highest = (uintptr_t(1) << 47) - kPage;
  uintptr_t free = lowest;
  for (auto [begin, end] : maps) {
    take(std::max(free, lowest), std::min(begin, highest));
    free = std::max(free, end);
  }
  take(std::max(free, lowest), highest);
  PatchCount count = patchModule(target, action);
  for (auto [begin, size] : taken) munmap(reinterpret_cast<void*>(begin), size);
  EXPECT_EQ(count.jumps, 0u);
  EXPECT_GT(count.patched, 50u);
  // Those that address data relative to themselves stay as they are.
  EXPECT_GT(int(count.unproved), *file_.find<const int*>("patched_unproved"));
  EXPECT_EQ(file_.find<decltype(&patched_request)>("patched_request")(7, 2, 3), 7 + 0x50430005 + 2 * 3 + 5u);
  for (bool active : {false, true}) {
    self.active = active;
    expectSame(before, allEffects(false));
  }
}

// It is told how much was found, and nothing of it was replaced.
TEST_P(Patches, LeaveCodeThatCannotBeWrittenAsItIs) {
  PatchTarget target = file_.target();
  std::vector<ElfW(Phdr)> segments(target.info->dlpi_phdr, target.info->dlpi_phdr + target.info->dlpi_phnum);
  for (ElfW(Phdr) & p : segments)
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0) p.p_memsz = -2 * kPage;  // the kernel refuses such a range
  dl_phdr_info info = *target.info;
  info.dlpi_phdr = segments.data();
  PatchCount refused = patchModule({target.begin, target.end, &info}, action);
  EXPECT_EQ(refused.patched, 0u);
  EXPECT_EQ(refused.jumps, 0u);
  EXPECT_EQ(patchAt(reinterpret_cast<uintptr_t>(functions_[0].code)), nullptr);
  PatchCount count = patchModule(target, action);
  EXPECT_GT(count.patched, 50u);
  EXPECT_EQ(refused.unproved, count.unproved + count.patched);
}

uint64_t signalCounter;
uint64_t signals;
void (*signalLoop)(uint64_t*, uint64_t);
void onTimer(int, siginfo_t*, void*) {
  int before = errno;
  signalLoop(&signalCounter, 3);
  __atomic_fetch_add(&signals, 1, __ATOMIC_SEQ_CST);
  errno = before;
}

TEST_P(Patches, ServeThreadsAndSignals) {
  patchModule(file_.target(), action);
  auto hammer = file_.find<decltype(&patched_hammer)>("patched_hammer");
  signalLoop = file_.find<decltype(signalLoop)>("patched_xadd_loop");
  signalCounter = signals = 0;
  handle(SIGALRM, onTimer);
  itimerval timer = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  constexpr int kThreads = 4;
  constexpr int kTimes = 30000;
  uint64_t counters[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; i += 100) {
        self.active = (i / 100 + t) % 3 == 0;
        hammer(counters, 100);
      }
    });
  for (std::thread& t : threads) t.join();
  timer = {};
  setitimer(ITIMER_REAL, &timer, nullptr);
  signal(SIGALRM, SIG_DFL);
  uint64_t sum = 0;
  for (int i = 0; i < 100; ++i) sum += uint64_t(i) | 1;
  EXPECT_EQ(counters[0], sum * (kTimes / 100) * kThreads);
  for (int i : {1, 2, 3}) EXPECT_EQ(counters[i], uint64_t(kTimes) * kThreads);
  EXPECT_GT(signals, 5u);
  EXPECT_EQ(signalCounter, 3 * signals);
}

// The memory of stubs comes and goes with the file.
TEST_P(Patches, LeaveNothingMapped) {
  auto lines = [] {
    int n = 0;
    FILE* f = fopen("/proc/self/maps", "r");
    for (int c; (c = fgetc(f)) != EOF;) n += c == '\n';
    fclose(f);
    return n;
  };
  PatchTarget target = file_.target();
  int before = lines();
  PatchCount first = patchModule(target, action);
  forgetPatches(target.begin, target.end);
  EXPECT_EQ(lines(), before);
  EXPECT_GT(first.patched, 0u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Patches, testing::Values("gcc", "clang"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
