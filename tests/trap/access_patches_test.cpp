// Accesses of accessed_code.c are patched at their first fault: from then on none faults, and all have the same effect;
// whoever enters where a jump lies, by whatever way, while it is put there or later.
#include "runtime/trap/access_patches.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "accessed_code.h"
#include "loaded_file.h"
#include "runtime/recorder.h"
#include "runtime/trap/frame_entry.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/pm_table.h"
#include "runtime/trap/stub_memory.h"

namespace blackout::rt {
constinit thread_local ThreadState self = {};
}  // namespace blackout::rt

using namespace blackout::rt;

namespace {

constexpr uintptr_t kMemory = 0x200000000000;
constexpr size_t kSize = 1 << 20;
uint8_t* second = nullptr;
std::atomic<int> faults, traps, asked;
std::atomic<bool> patching = true;
dl_phdr_info library;

uintptr_t placeOf(uintptr_t address) {
  return address - kMemory < kSize ? reinterpret_cast<uintptr_t>(second) + (address - kMemory) : address;
}

bool done(const Instruction& i, ucontext_t& context) {
  Access access = accessOf(i, context);
  uintptr_t places[kMaxOperands] = {};
  for (int n = 0; n < access.count; ++n) places[n] = placeOf(access.operands[n].address);
  Stored stored;
  return execute(i, context, places, access.iterations, stored) == Executed::Done;
}

void onFault(int, siginfo_t*, void* c) {
  auto& context = *static_cast<ucontext_t*>(c);
  if (executionFaulted(context)) return;
  ++faults;
  auto pc = uintptr_t(context.uc_mcontext.gregs[REG_RIP]);
  const Instruction* i = instructionAt(pc);
  if (i == nullptr || !done(*i, context)) _exit(3);
  if (patching) patchAccess(pc);
}

void onTrap(int, siginfo_t*, void* c) {
  ++traps;
  if (!accessTrapped(*static_cast<ucontext_t*>(c))) _exit(4);
}

uintptr_t begun(AccessFrame& frame) {
  ++asked;
  const PatchedAccess& a = *frame.access;
  const Address& where = a.instruction->operands[0].address;
  uint64_t address = uint64_t(where.displacement);
  if (where.base != kNoRegister) address += frame.at(where.base);
  if (where.index != kNoRegister) address += frame.at(where.index) * where.scale;
  frame.place = placeOf(address);
  return address % 16 == 0 ? a.light : a.full;
}
uintptr_t ended(AccessFrame& frame) { return frame.access->done; }
bool whole(const PatchedAccess& a, ucontext_t& context) { return done(*a.instruction, context); }

bool fileOf(uintptr_t pc, CodeFile& file) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = library.dlpi_phdr[i];
    uintptr_t begin = library.dlpi_addr + p.p_vaddr;
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || pc < begin || pc >= begin + p.p_filesz) continue;
    file = {begin, begin + p.p_filesz, false};
    return true;
  }
  return false;
}

int32_t offsetOf(const bool* byte) {
  uintptr_t thread;
  asm("movq %%fs:0, %0" : "=r"(thread));
  return int32_t(reinterpret_cast<intptr_t>(byte) - intptr_t(thread));
}

void prepareOnce() {
  if (second != nullptr) return;
  int file = memfd_create("accessed", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kSize), 0);
  void* first = mmap(reinterpret_cast<void*>(kMemory), kSize, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(first), kMemory);
  second = static_cast<uint8_t*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  close(file);
  ASSERT_TRUE(prepareInstructions());
  accessActions = {begun, ended, whole};
  ASSERT_TRUE(prepareAccessPatches({true, {offsetOf(&self.busy), offsetOf(&self.deferred)}, fileOf, nullptr}));
  notePm(kMemory, kMemory + kSize);
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  action.sa_sigaction = onFault;
  sigaction(SIGSEGV, &action, nullptr);
  action.sa_sigaction = onTrap;
  sigaction(SIGTRAP, &action, nullptr);
}

// A library with its tables; gone when it is.
class Code {
 public:
  explicit Code(const std::string& compiler)
      : file_(std::string(ACCESSED_CODE_FOLDER "/libaccessed_code_") + compiler + ".so") {
    prepareOnce();
    if (!file_.loaded()) return;
    library = *file_.target().info;
    addFrameTable(frameTableOf(library));
    keepStubMemory(file_.target().begin, file_.target().end);
    faults = traps = asked = 0;
    patching = true;
    memset(second, 0, kSize);
  }
  ~Code() {
    forgetAccessPatches(file_.target().begin, file_.target().end);
    forgetFrameTables(file_.target().begin, file_.target().end);
    forgetInstructions(file_.target().begin, file_.target().end);
  }
  template <typename T>
  T find(const char* name) const {
    return file_.find<T>(name);
  }
  bool loaded() const { return file_.loaded(); }

 private:
  LoadedFile file_;
};

uint64_t* pm(size_t offset = 0) { return reinterpret_cast<uint64_t*>(kMemory + offset); }

class AccessPatches : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Compilers, AccessPatches, ::testing::Values("gcc", "clang"));

TEST_P(AccessPatches, FaultOnceAndHaveTheirEffect) {
  Code code(GetParam());
  ASSERT_TRUE(code.loaded());
  auto* last = code.find<decltype(&storeLast)>("storeLast");
  auto* many = code.find<decltype(&storeMany)>("storeMany");
  auto* add = code.find<decltype(&sum)>("sum");
  auto* table = code.find<decltype(&byTable)>("byTable");
  std::vector<uint8_t> ordinary(kSize), expected(kSize);
  auto run = [&](uint64_t* p) {
    uint64_t all = 0;
    for (uint64_t i = 0; i < 200; ++i) {
      last(p + i, i * 77);
      many(p + 300 + i, i * 12345);
      table(p + 700, i);
      all = all * 7 + add(p, 800);
    }
    return all;
  };
  uint64_t natively = run(reinterpret_cast<uint64_t*>(expected.data()));
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(run(pm()), natively);
  EXPECT_EQ(memcmp(second, expected.data(), kSize), 0);
  // Each instruction once, or a few times if another one had to make room.
  EXPECT_GT(faults, 8);
  EXPECT_LT(faults, 60);
  EXPECT_GT(asked, 1000);
  AccessPatchCount count = accessPatchCount();
  EXPECT_GE(count.patched, 15u);
  // The same once more, on ordinary memory too.
  int before = faults;
  EXPECT_EQ(run(reinterpret_cast<uint64_t*>(ordinary.data())), natively);
  EXPECT_EQ(memcmp(ordinary.data(), expected.data(), kSize), 0);
  memset(second, 0, kSize);
  EXPECT_EQ(run(pm()), natively);
  EXPECT_EQ(memcmp(second, expected.data(), kSize), 0);
  EXPECT_EQ(faults, before);
}

TEST_P(AccessPatches, AJumpIntoTheirBytesIsSentOn) {
  Code code(GetParam());
  ASSERT_TRUE(code.loaded());
  auto* enter = code.find<decltype(&entered)>("entered");
  enter(pm(), 5, 0);
  enter(pm(), 6, 0);
  // Behind the instruction that was just patched the program went on in the middle, too.
  traps = 0;
  int before = faults;
  enter(pm(), 7, 0);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[0], 7u);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[1], 10u);
  EXPECT_EQ(traps, 0);
  EXPECT_EQ(faults, before);
  enter(pm(64), 10, 1);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[8], 0u);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[9], 13u);
  EXPECT_EQ(traps, 1);
  EXPECT_EQ(faults, before);
  // Behind the jump is nothing that could run: what is left of the instructions' bytes.
  const auto* jump =
      std::find(reinterpret_cast<const uint8_t*>(enter), reinterpret_cast<const uint8_t*>(enter) + 20, 0xe9);
  ASSERT_LT(jump, reinterpret_cast<const uint8_t*>(enter) + 20);
  EXPECT_EQ(jump[5], 0xcc);
  EXPECT_EQ(jump[6], 0xcc);
}

TEST_P(AccessPatches, ThreadsMayBeAnywhereWhileTheyArePutInPlace) {
  for (int round = 0; round < 20; ++round) {
    Code code(GetParam());
    ASSERT_TRUE(code.loaded());
    auto* many = code.find<decltype(&storeMany)>("storeMany");
    auto* last = code.find<decltype(&storeLast)>("storeLast");
    constexpr int kThreads = 4;
    std::atomic<int> ready = 0;
    std::atomic<int> wrong = 0;
    patching = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        std::vector<uint8_t> own(4096);
        ++ready;
        while (ready != kThreads) sched_yield();
        for (uint64_t i = 0; i < 3000; ++i) {
          if (t == 0 && i == 20) patching = true;
          // Ordinary memory most of the time: at full speed.
          bool trapped = i % 50 == 0;
          auto* p = trapped ? pm(size_t(t) * 65536) : reinterpret_cast<uint64_t*>(own.data());
          auto* seen = trapped ? reinterpret_cast<uint64_t*>(second + t * 65536) : p;
          seen[4] = 1;
          many(p, i * 3);
          last(p + 9, i);
          if (seen[0] != i * 3 || seen[1] != i * 3 + 1 || seen[4] != i * 3 + 1 || seen[9] != i) ++wrong;
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(accessPatchCount().patched, 0u);
  }
}

TEST_P(AccessPatches, AFileThatComesBackIsPatchedAnew) {
  for (int round = 0; round < 5; ++round) {
    Code code(GetParam());
    ASSERT_TRUE(code.loaded());
    auto* last = code.find<decltype(&storeLast)>("storeLast");
    for (uint64_t i = 0; i < 10; ++i) last(pm(8 * i), i + 1);
    EXPECT_EQ(faults, 1);
    EXPECT_EQ(asked, 9);
    for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[i], i + 1);
  }
}

TEST_P(AccessPatches, AChildGoesItsOwnWay) {
  Code code(GetParam());
  ASSERT_TRUE(code.loaded());
  auto* last = code.find<decltype(&storeLast)>("storeLast");
  auto* many = code.find<decltype(&storeMany)>("storeMany");
  last(pm(), 1);
  pid_t child = fork();
  if (child == 0) {
    // What was patched is, and more can be.
    faults = 0;
    last(pm(), 2);
    if (faults != 0) _exit(1);
    many(pm(64), 2);
    int before = faults;
    many(pm(64), 3);
    _exit(before == 0 || faults != before ? 2 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  int before = faults;
  many(pm(64), 4);
  EXPECT_GT(faults, before);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(second)[8], 4u);
}

}  // namespace
