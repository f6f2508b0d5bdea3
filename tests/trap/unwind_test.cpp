// Walks up real stacks: from signal handlers at the bottom of chains of calls that several compilers built, compared
// with glibc's backtrace(); and at every single instruction of such a chain, compared with the calls and returns that
// were seen on the way.

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "call_chain.h"
#include "runtime/trap/eh_frame.h"

using namespace blackout::rt;

namespace {

using Addresses = std::vector<std::uint64_t>;
constexpr int kLimit = 400;

struct Stack {
  std::uintptr_t low;
  std::uintptr_t top;
};

Stack stackOfThread() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(low) + size};
}

thread_local Stack stack;  // a handler can't ask for it

Frame frameOf(const ucontext_t& context) {
  const greg_t* r = context.uc_mcontext.gregs;
  return {std::uintptr_t(r[REG_RIP]), std::uintptr_t(r[REG_RSP]), std::uintptr_t(r[REG_RBP]),
          std::uintptr_t(r[REG_RBX]), std::uintptr_t(r[REG_R12]), std::uintptr_t(r[REG_R13]),
          std::uintptr_t(r[REG_R14]), std::uintptr_t(r[REG_R15]), std::uintptr_t(r[REG_R10])};
}

void addAllTables() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void*) {
        addFrameTable(frameTableOf(*info));
        return 0;
      },
      nullptr);
}

// What a handler saw.
struct Seen {
  std::uint64_t ours[kLimit];
  int count = 0;
  void* theirs[kLimit];
  int theirCount = 0;
  std::uintptr_t pc = 0;
};
thread_local Seen seen[2];
thread_local int seenCount = 0;

void look(int, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  if (seenCount < 2) {
    Seen& s = seen[seenCount++];
    s.pc = std::uintptr_t(context.uc_mcontext.gregs[REG_RIP]);
    s.count = unwind(frameOf(context), stack.low, stack.top, s.ours, kLimit);
    s.theirCount = backtrace(s.theirs, kLimit);
  }
  if (info->si_signo == SIGSEGV) mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, nullptr);
}

std::string nameOf(std::uint64_t address) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return "?";
  std::string file = info.dli_fname;
  return file.substr(file.rfind('/') + 1) + "+" +
         std::to_string(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)) + " " +
         (info.dli_sname != nullptr ? info.dli_sname : "?");
}

std::string show(const std::uint64_t* addresses, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += nameOf(addresses[i]) + "\n";
  return out;
}
std::string show(const Addresses& addresses) { return show(addresses.data(), int(addresses.size())); }

Addresses ours(const Seen& s) { return {s.ours, s.ours + s.count}; }

// backtrace() in the handler: its own frames, the signal's, the place that was interrupted, and the ones above it.
Addresses theirs(const Seen& s) {
  Addresses out;
  for (int i = 0; i < s.theirCount; ++i)
    if (reinterpret_cast<std::uintptr_t>(s.theirs[i]) == s.pc) {
      for (++i; i < s.theirCount; ++i) out.push_back(reinterpret_cast<std::uint64_t>(s.theirs[i]));
      // Above the outermost frame it may report a zero.
      while (!out.empty() && out.back() == 0) out.pop_back();
    }
  return out;
}

class Unwind : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string file = std::string(CHAIN_FOLDER "/libchain_") + GetParam() + ".so";
    library =
        dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);  // lazy: the first call of each function is resolved on the way
    ASSERT_NE(library, nullptr) << dlerror();
    run = reinterpret_cast<chain_function>(dlsym(library, "chain_run"));
    recursion = reinterpret_cast<chain_deep_function>(dlsym(library, "chain_recursion"));
    addAllTables();
    stack = stackOfThread();
    void* warm[4];
    backtrace(warm, 4);  // loads what it needs
    page = static_cast<int*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override {
    munmap(page, 4096);
    forgetFrameTables(0, UINTPTR_MAX);
    dlclose(library);
  }

  void* library = nullptr;
  chain_function run = nullptr;
  chain_deep_function recursion = nullptr;
  int* page = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Compilers, Unwind, testing::Values(CHAIN_VARIANTS),
                         [](const auto& info) { return std::string(info.param); });

void compareChain(chain_function run, int* page, int throws) {
  seenCount = 0;
  chain c{page, [](chain*) { raise(SIGUSR1); }, nullptr, throws, 0};
  run(&c);
  ASSERT_EQ(seenCount, 2);
  for (const Seen& s : seen) {
    EXPECT_GE(s.count, 12);
    EXPECT_EQ(show(ours(s)), show(theirs(s)));
  }
}

TEST_P(Unwind, LikeBacktrace) {
  handle(SIGSEGV, look);
  handle(SIGUSR1, look);
  for (int throws = 0; throws < 2; ++throws)
    for (int again = 0; again < 2; ++again) {  // from the tables, and from what is remembered
      mprotect(page, 4096, PROT_NONE);
      compareChain(run, page, throws);
    }
  signal(SIGSEGV, SIG_DFL);
}

TEST_P(Unwind, InOtherThreads) {
  handle(SIGSEGV, look);
  handle(SIGUSR1, look);
  std::atomic<bool> ready = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      stack = stackOfThread();
      void* own = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      while (!ready) std::this_thread::yield();
      for (int n = 0; n < 50; ++n) {
        mprotect(own, 4096, PROT_NONE);
        compareChain(run, static_cast<int*>(own), 0);
      }
      munmap(own, 4096);
    });
  ready = true;
  // What is remembered counts no more, again and again, while they walk.
  FrameTable other;
  other.begin = 4096;
  other.end = 8192;
  other.header = reinterpret_cast<const std::uint8_t*>("");
  for (int n = 0; n < 200; ++n) {
    addFrameTable(other);
    std::this_thread::yield();
    forgetFrameTables(4096, 8192);
  }
  for (std::thread& t : threads) t.join();
  signal(SIGSEGV, SIG_DFL);
}

// What single steps saw. No containers: malloc itself is stepped through.
struct Frames {
  std::uint64_t at[kLimit];
  int count = 0;

  void add(std::uint64_t address) {
    if (count < kLimit) at[count++] = address;
  }
  bool operator==(const Frames& o) const {
    return count == o.count && std::memcmp(at, o.at, std::size_t(count) * 8) == 0;
  }
};
struct Steps {
  bool running = false;
  // The calls that have not returned, outermost first: where their return addresses lie.
  std::uint64_t* slots[kLimit];
  int depth = 0;
  Frames above;  // the first of them
  std::uintptr_t lastPc = 0;
  std::uintptr_t lastSp = 0;
  long count = 0;
  int deepest = 0;
  long wrong = 0;
  std::uintptr_t firstWrong = 0;
  Frames wrongFrames;
  Frames rightFrames;
};
Steps steps;

void step(int, siginfo_t*, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  Frame frame = frameOf(context);
  Steps& s = steps;
  auto* top = reinterpret_cast<std::uint64_t*>(frame.sp);
  // A call pushed the address behind itself, 2 to 8 bytes on, and went elsewhere.
  bool called =
      s.lastPc != 0 && frame.sp == s.lastSp - 8 && *top >= s.lastPc + 2 && *top <= s.lastPc + 8 && frame.pc != *top;
  if (called && s.depth < kLimit) s.slots[s.depth++] = top;
  while (s.depth > 0 && s.slots[s.depth - 1] < top) --s.depth;
  s.lastPc = frame.pc;
  s.lastSp = frame.sp;
  if (!s.running) {
    context.uc_mcontext.gregs[REG_EFL] &= ~greg_t(0x100);
    return;
  }
  if (s.depth == 0) return;  // on the way to the first call
  ++s.count;
  s.deepest = std::max(s.deepest, s.depth);
  Frames got;
  got.count = unwind(frame, stack.low, stack.top, got.at, kLimit);
  Frames right;
  for (int i = s.depth - 1; i >= 0; --i) right.add(*s.slots[i]);
  for (int i = 0; i < s.above.count; ++i) right.add(s.above.at[i]);
  if (got == right || s.wrong++ > 0) return;
  s.firstWrong = frame.pc;
  s.wrongFrames = got;
  s.rightFrames = right;
}

void startStepping() {
  steps.running = true;
  asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

__attribute__((noinline)) int steppedRun(chain_function run, chain* c) {
  void* here[kLimit];
  int n = backtrace(here, kLimit);
  for (int i = 1; i < n; ++i)
    if (here[i] != nullptr) steps.above.add(reinterpret_cast<std::uint64_t>(here[i]));
  startStepping();
  int result = run(c);
  steps.running = false;
  asm volatile("nop");
  return result;
}

TEST_P(Unwind, AtEveryInstruction) {
  handle(SIGTRAP, step);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  steps = {};
  chain c{page, [](chain*) {}, nullptr, 0, 0};
  EXPECT_NE(steppedRun(run, &c), 0);
  signal(SIGTRAP, SIG_DFL);
  std::printf("%ld instructions, at most %d calls deep\n", steps.count, steps.deepest);
  EXPECT_EQ(steps.wrong, 0) << "first at " << nameOf(steps.firstWrong) << "\nunwound:\n"
                            << show(steps.wrongFrames.at, steps.wrongFrames.count) << "called:\n"
                            << show(steps.rightFrames.at, steps.rightFrames.count);
  EXPECT_GT(steps.count, 1000);
  EXPECT_GE(steps.deepest, 12);
}

// Not a test of speed, which other programs on the machine decide: a figure to look at.
TEST_P(Unwind, Nanoseconds) {
  struct Measured {
    double perFrame = 0;
    int frames = 0;
  } measured;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  chain c{page,
          [](chain* self) {
            ucontext_t context;
            getcontext(&context);
            auto& m = *static_cast<Measured*>(self->argument);
            std::uint64_t found[kLimit];
            constexpr int kRounds = 2000;
            m.perFrame = 1e9;
            for (int attempt = 0; attempt < 5; ++attempt) {
              auto begin = std::chrono::steady_clock::now();
              for (int i = 0; i < kRounds; ++i)
                m.frames = unwind(frameOf(context), stack.low, stack.top, found, kLimit);
              std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
              m.perFrame = std::min(m.perFrame, time.count() / kRounds / m.frames);
            }
          },
          &measured, 0, 0};
  run(&c);
  std::printf("mixed chain: %d frames, %.1f ns per frame\n", measured.frames, measured.perFrame);
  EXPECT_GE(measured.frames, 12);
  recursion(&c, 100);
  std::printf("recursion: %d frames, %.1f ns per frame\n", measured.frames, measured.perFrame);
  EXPECT_GT(measured.frames, 100);
}

}  // namespace
