// Every form of instruction against its native effect: executed on ordinary memory, trapped on the same memory under
// protection, and as a stub in each of the ways that a stub has, with the same random registers, flags, vector state
// and bytes.

#include "instruction_forms.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "instruction_trapping.h"
#include "runtime/trap/access_stub.h"
#include "runtime/trap/pm_table.h"
#include "runtime/trap/stub_memory.h"

namespace {

using namespace blackout::rt;

constexpr int kRounds = 6;
constexpr uint64_t kArithmetic = 0x8d5;
constexpr uint64_t kZero = 0x40;
constexpr uint64_t kDirection = 0x400;
constexpr uint8_t kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRsi = 6, kRdi = 7;

// Memory that never traps: the stack, and sources that aren't PM.
alignas(64) uint8_t ordinary[kBufferSize];

// The stack of stubs, with the red zone of whoever is there.
alignas(64) uint8_t stubStack[1 << 18];
constexpr size_t kRedZone = 128;

// How the actions of a stub have the access done.
enum class Ask { Light, Full, Whole };
Ask ask;
int asked;
int wrongFrames;
uint64_t expectedRsp;
thread_local bool cleared[2];
thread_local bool waiting = false;

ucontext_t contextOf(AccessFrame& frame) {
  ucontext_t context{};
  for (uint8_t n = 0; n < 16; ++n) setRegister(context, n, n == 4 ? frame.sp() : frame.at(n));
  context.uc_mcontext.gregs[REG_EFL] = greg_t(frame.flags);
  return context;
}

// What the actions are compiled to may use any register; the stub's must not.
alignas(64) uint8_t vectors[16384];
template <auto action>
uintptr_t withVectorsKept(AccessFrame& frame) {
  asm volatile("xsave64 %0" : "=m"(vectors) : "a"(~0u), "d"(0) : "memory");
  uintptr_t to = action(frame);
  asm volatile("xrstor64 %0" : : "m"(vectors), "a"(~0u), "d"(0) : "memory");
  return to;
}

[[gnu::noinline]] uintptr_t begun(AccessFrame& frame) {
  ++asked;
  const PatchedAccess& a = *frame.access;
  if (frame.sp() != expectedRsp) ++wrongFrames;
  ucontext_t context = contextOf(frame);
  uintptr_t address = accessOf(*a.instruction, context).operands[0].address;
  uintptr_t place = secondOf(address);
  if (place == address) return a.native;
  if (ask == Ask::Whole) return a.whole;
  if (a.plainStore && ask == Ask::Light) {
    uint64_t value = a.source == kNoRegister ? a.number : frame.at(a.source);
    memcpy(reinterpret_cast<void*>(place), &value, a.instruction->operands[0].size);
    return a.done;
  }
  frame.place = place;
  cleared[0] = cleared[1] = true;
  return ask == Ask::Light ? a.light : a.full;
}
[[gnu::noinline]] uintptr_t ended(AccessFrame& frame) {
  cleared[0] = cleared[1] = false;
  waiting = false;
  if (frame.sp() != expectedRsp) ++wrongFrames;
  return frame.access->done;
}
bool whole(const PatchedAccess& a, ucontext_t& context) {
  ++asked;
  Access access = accessOf(*a.instruction, context);
  uintptr_t places[kMaxOperands] = {};
  for (int n = 0; n < access.count; ++n) places[n] = secondOf(access.operands[n].address);
  uint64_t iterations = access.iterations < iterationsPerTrap ? access.iterations : iterationsPerTrap;
  Stored stored;
  return execute(*a.instruction, context, places, iterations, stored) == Executed::Done;
}

using Bytes = std::vector<uint8_t>;

struct Image {  // of all memory that a form can reach
  Bytes trapped = Bytes(kBufferSize);
  Bytes ordinary = Bytes(kBufferSize);
  bool operator==(const Image&) const = default;
};

class Forms : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(prepareInstructions());
    ASSERT_TRUE(prepareAccessStubs());
    accessActions = {withVectorsKept<begun>, withVectorsKept<ended>, whole};
    buffer = trappedMemory(kBuffer, kBufferSize);
    notePm(kBuffer, kBuffer + kBufferSize);
    catchTraps();
  }
  static Trapped buffer;
};
Trapped Forms::buffer;

class Round {
 public:
  Round(const Form& form, int number, const Trapped& memory)
      : form_(form), memory_(memory), everyElement_(number % kRounds == 0), random_(uint32_t(number)) {
    before_.trapped = randomBytes();
    before_.ordinary = randomBytes();
    fillState();
    prepare();
  }

  // What is wrong; empty: nothing.
  std::string check() {
    State native = start_;
    Image nativeImage = executeOn(native, before_);

    State trapped = start_;
    trap = {};
    iterationsPerTrap = random_() % 2 == 0 ? ~uint64_t{0} : 1 + random_() % 5;
    protect(memory_, true);
    Image trappedImage = executeOn(trapped, before_);
    protect(memory_, false);

    compareStates(native, trapped);
    expect(nativeImage == trappedImage, "memory differs ", difference(nativeImage, trappedImage));
    int most = form_.repeated ? 70 : form_.setup == Setup::Indices ? 16 : 1;
    expect(trap.count <= most, "number of traps: ", trap.count);
    if (form_.setup == Setup::Compare && trap.count == 1)
      expect(trap.stored.any == ((native.flags & kZero) != 0), "says that it stored: ", trap.stored.any);
    // A state is saved with gaps between its parts; nothing else is.
    if (trap.count != 1 || trap.access.iterations > iterationsPerTrap || form_.setup == Setup::SaveState) return wrong_;
    checkWritten(nativeImage);
    checkRead(native, nativeImage);
    return wrong_;
  }

  static bool trapped() { return trap.count != 0; }

  // The same as a stub: true if a stub can have it.
  bool checkStub(std::string& wrong) {
    const Instruction* i = instructionAt(reinterpret_cast<uintptr_t>(form_.code));
    if (i == nullptr || !canBeTested(*i)) return false;
    auto way = ask;
    size_t room = 4096;
    auto code = reinterpret_cast<uintptr_t>(form_.code);
    keepStubMemory(code, code + 1);
    uintptr_t at = takeStubMemory(code, {}, room, 1);
    if (at == 0) {
      wrong = "no memory for a stub";
      return true;
    }
    auto offset = [](const bool* byte) {
      uintptr_t thread;
      asm("movq %%fs:0, %0" : "=r"(thread));
      return int32_t(reinterpret_cast<intptr_t>(byte) - intptr_t(thread));
    };
    PatchedAccess access{};
    access.instruction = i;
    access.pc = reinterpret_cast<uintptr_t>(form_.code);
    AccessStub stub(at, {offset(cleared), offset(&waiting)});
    stub.access(access, true);
    stub.leave(reinterpret_cast<uintptr_t>(form_.end));
    stub.finish(&access, 1);
    expect(stub.good() && stub.size() <= room, "its stub can't be written");

    if (!form_.stack)
      start_.registers[kRsp] = reinterpret_cast<uintptr_t>(stubStack) + sizeof stubStack / 2 + random_() % 64 * 8;
    expectedRsp = start_.registers[kRsp];
    State native = start_;
    Image nativeImage = executeOn(native, before_);
    State stubbed = start_;
    asked = 0;
    wrongFrames = 0;
    iterationsPerTrap = random_() % 2 == 0 ? ~uint64_t{0} : 1 + random_() % 5;
    waiting = way == Ask::Light && random_() % 2 == 0;
    auto* zone = reinterpret_cast<uint8_t*>(expectedRsp - kRedZone);
    protect(memory_, true);
    if (!form_.stack) memset(zone, 0x5a, kRedZone);
    Image stubbedImage = executeOn(stubbed, before_, reinterpret_cast<const uint8_t*>(at));
    protect(memory_, false);
    for (size_t n = 0; !form_.stack && n < kRedZone; ++n) expect(zone[n] == 0x5a, "wrote to the red zone");
    compareStates(native, stubbed);
    expect(nativeImage == stubbedImage, "memory differs ", difference(nativeImage, stubbedImage));
    expect(wrongFrames == 0, "the stack pointer was wrong");
    expect(!cleared[0] && !cleared[1], "the thread's bytes were not cleared");
    giveStubMemory(at, room);
    forgetInstructions(at, at + room);
    waiting = false;
    wrong = wrong_;
    return true;
  }

 private:
  // The first thing that is wrong says enough.
  template <typename... Parts>
  void expect(bool right, const Parts&... parts) {
    if (right || !wrong_.empty()) return;
    std::ostringstream text;
    text << form_.text << ": ";
    (text << ... << parts);
    wrong_ = text.str();
  }

  Bytes randomBytes() {
    Bytes bytes(kBufferSize);
    // Strings of few different bytes, so that comparisons go on for a while.
    bool few = form_.setup == Setup::String;
    for (uint8_t& b : bytes) b = few ? uint8_t(random_() % 16 == 0) : uint8_t(random_());
    return bytes;
  }

  template <typename T>
  void put(size_t offset, T value) {
    memcpy(start_.vectors + offset, &value, sizeof value);
  }

  void fillState() {
    for (uint8_t& b : start_.vectors) b = uint8_t(random_());
    memset(start_.vectors + 512, 0, 64);
    put<uint64_t>(512, stateComponents());
    put<uint16_t>(0, 0x37f);   // x87: exceptions masked,
    put<uint16_t>(2, 0x2000);  // four registers in use,
    put<uint16_t>(4, 0xf0);
    put<uint16_t>(6, 0);
    put<uint64_t>(8, 0);
    put<uint64_t>(16, 0);
    put<uint32_t>(24, 0x1f80 | uint32_t(random_() % 4) << 13);  // MXCSR: any rounding
    for (int n = 0; n < 8; ++n) memset(start_.vectors + 32 + n * 16 + 10, 0, 6);
    for (uint64_t& r : start_.registers) r = uint64_t{random_()} << 32 | random_();
    // One time all masks are set.
    if (everyElement_ && (stateComponents() >> 5 & 1) != 0) memset(start_.vectors + componentOffset(5), 0xff, 64);
    start_.registers[kRsp] &= 0x7fffffff;
    start_.flags = (random_() & kArithmetic) | 0x202;
  }

  void prepare() {
    auto& r = start_.registers;
    // The operand's place; what is large lies in the middle.
    target_ = kBuffer + 4096 + random_() % 4000;
    target_ -= target_ % form_.align;
    if (form_.base != kNone) {
      if (form_.index != kNone) r[form_.index] = random_() % 64;
    } else if (form_.index != kNone) {
      target_ -= target_ % form_.scale;
      r[form_.index] = (target_ - uint64_t(int64_t{form_.displacement})) / form_.scale;
    }
    switch (form_.setup) {
      case Setup::String: {
        auto place = [&] {
          bool trapping = random_() % 4 != 0;
          return (trapping ? kBuffer : reinterpret_cast<uintptr_t>(ordinary)) + 4096 + random_() % 4000;
        };
        r[kRsi] = place();
        r[kRdi] = place();
        if (form_.repeated) r[kRcx] = random_() % 70;
        r[kRax] = random_() % 2 == 0 ? 0 : 0x0101010101010101;
        if (random_() % 2 == 0) start_.flags |= kDirection;
        return;
      }
      case Setup::BitString:
        r[form_.special] = uint64_t(int64_t(random_() % 8192) - 4096);
        break;
      case Setup::Divide: {  // no quotient may overflow
        r[kRdx] = 0;
        r[kRax] = random_() % 120;
        before_.trapped[target_ - kBuffer] |= 1;
        break;
      }
      case Setup::Compare:
        if (random_() % 2 == 0) {
          memcpy(&r[kRax], &before_.trapped[target_ - kBuffer], 8);
          bool eight = strstr(form_.text, "8b") != nullptr;
          if (eight) r[kRax] = uint32_t(r[kRax]);
          memcpy(&r[kRdx], &before_.trapped[target_ - kBuffer + (eight ? 4 : 8)], eight ? 4 : 8);
        }
        break;
      case Setup::Indices: {  // far from each other, or all within 64 bytes
        uint32_t span = random_() % 2 == 0 ? 200 : 7;
        for (int n = 0; n < 64 / form_.indexSize; ++n) putIndex(n, int64_t(random_() % span) - span / 2);
        break;
      }
      case Setup::Jump:
      case Setup::Call: {
        uint64_t end = reinterpret_cast<uint64_t>(form_.end);
        memcpy(&before_.trapped[target_ - kBuffer], &end, 8);
        break;
      }
      case Setup::Table:
        r[kRbx] = target_;
        break;
      case Setup::SaveState:
      case Setup::LoadState: {
        r[kRax] = random_() & stateComponents();
        r[kRdx] = 0;
        // A valid area: this state with other vectors.
        State other = start_;
        fillState();
        uint8_t* to = &before_.trapped[target_ - kBuffer];
        memcpy(to, start_.vectors, sizeof start_.vectors);
        memset(to + 520, 0, 56);
        if (form_.setup == Setup::LoadState) memset(to + 464, 0, 48);
        uint64_t components = random_() & stateComponents();
        memcpy(to + 512, &components, 8);
        start_ = other;
        break;
      }
      case Setup::Mxcsr: {
        uint32_t value = 0x1f80 | (random_() & 0xe03f);
        memcpy(&before_.trapped[target_ - kBuffer], &value, 4);
        break;
      }
      case Setup::X87Control: {
        uint16_t value = uint16_t(0x7f | (random_() & 0xf00));
        memcpy(&before_.trapped[target_ - kBuffer], &value, 2);
        break;
      }
      case Setup::Direct64:
        r[form_.special] = kBuffer + 0x800 + (random_() % 8) * 64;
        break;
      case Setup::Plain:
        break;
    }
    if (form_.stack) r[kRsp] = reinterpret_cast<uintptr_t>(ordinary) + 4096 + random_() % 64 * 8;
    if (form_.base != kNone) {
      uint64_t index = form_.index != kNone ? r[form_.index] * form_.scale : 0;
      r[form_.base] = target_ - uint64_t(int64_t{form_.displacement}) - index;
    }
  }

  void putIndex(int n, int64_t value) {
    size_t offset = size_t(n) * form_.indexSize;
    size_t at = 0;
    unsigned v = form_.vector;
    if (v >= 16)
      at = componentOffset(7) + (v - 16) * 64 + offset;
    else if (offset < 16)
      at = 160 + v * 16 + offset;
    else if (offset < 32)
      at = componentOffset(2) + v * 16 + offset - 16;
    else
      at = componentOffset(6) + v * 32 + offset - 32;
    memcpy(start_.vectors + at, &value, form_.indexSize);
  }

  static size_t componentOffset(unsigned n) {
    static size_t offsets[8];  // asking is slow under a hypervisor
    if (offsets[n] == 0) {
      unsigned a = 13, b, c = n, d;
      __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
      offsets[n] = b;
    }
    return offsets[n];
  }

  // Through the second mapping, so that protection doesn't matter.
  Image executeOn(State& state, const Image& image, const uint8_t* code = nullptr) {
    memcpy(memory_.second, image.trapped.data(), kBufferSize);
    memcpy(ordinary, image.ordinary.data(), kBufferSize);
    execute(state, code == nullptr ? form_.code : code);
    Image after;
    memcpy(after.trapped.data(), memory_.second, kBufferSize);
    memcpy(after.ordinary.data(), ordinary, kBufferSize);
    return after;
  }

  // An unused component may be stored or not: what counts is its value.
  static void normalise(State& s) {
    uint64_t inUse;
    memcpy(&inUse, s.vectors + 512, 8);
    memcpy(s.vectors + 512, "\xe7\0\0\0\0\0\0\0", 8);
    memset(s.vectors + 464, 0, 48);
    // Where the last x87 instruction and its operand were: some processors keep it always, some only for an exception.
    // Ours is executed elsewhere, on the second mapping.
    memset(s.vectors + 8, 0, 16);
    uint32_t mxcsr;
    memcpy(&mxcsr, s.vectors + 24, 4);
    if ((inUse & 1) == 0) {
      memset(s.vectors, 0, 24);
      memcpy(s.vectors, "\x7f\x03", 2);
      memset(s.vectors + 32, 0, 128);
    }
    if ((inUse & 2) == 0) memset(s.vectors + 160, 0, 256);
    size_t sizes[8] = {0, 0, 256, 0, 0, 64, 512, 1024};
    for (unsigned n : {2u, 5u, 6u, 7u})
      if ((stateComponents() >> n & 1) != 0 && (inUse >> n & 1) == 0)
        memset(s.vectors + componentOffset(n), 0, sizes[n]);
  }

  void compareStates(State native, State trapped) {
    for (int n = 0; n < 16; ++n)
      expect(native.registers[n] == trapped.registers[n], "general register ", n, " is ", trapped.registers[n],
             ", not ", native.registers[n]);
    uint64_t defined = (kArithmetic | kDirection) & ~uint64_t{form_.undefined};
    expect(((native.flags ^ trapped.flags) & defined) == 0, "flags differ: ", (native.flags ^ trapped.flags) & defined);
    normalise(native);
    normalise(trapped);
    for (size_t n = 0; n < sizeof native.vectors; ++n)
      expect(native.vectors[n] == trapped.vectors[n], "vector state differs at ", n);
  }

  static std::string difference(const Image& a, const Image& b) {
    for (size_t n = 0; n < kBufferSize; ++n)
      if (a.trapped[n] != b.trapped[n]) return "at " + std::to_string(n) + " of the trapped memory";
    for (size_t n = 0; n < kBufferSize; ++n)
      if (a.ordinary[n] != b.ordinary[n]) return "at " + std::to_string(n) + " of the ordinary memory";
    return "nowhere";
  }

  // Bytes of the trapped memory that the last trap's operands name.
  std::vector<bool> namedBytes(bool written) const {
    std::vector<bool> named(kBufferSize);
    const Access& a = trap.access;
    for (int n = 0; n < a.count; ++n) {
      const Operand& o = a.operands[n];
      if (written ? !o.written : !o.read) continue;
      for (uint64_t k = 0; k < a.iterations; ++k)
        for (uint32_t b = 0; b < o.size; ++b) {
          bool masked = written && o.size <= 64 && a.iterations == 1 && (trap.stored.mask >> b & 1) == 0;
          uintptr_t offset = o.address + (a.downwards ? 0 - k * o.size : k * o.size) + b - kBuffer;
          if (!masked && offset < kBufferSize) named[offset] = true;
        }
    }
    return named;
  }

  // What changed is named as written; and of an instruction that only writes, what is named has been written: it is
  // the same whatever was there before.
  void checkWritten(const Image& after) {
    std::vector<bool> named = namedBytes(true);
    for (size_t n = 0; n < kBufferSize; ++n)
      expect(named[n] || before_.trapped[n] == after.trapped[n], "wrote byte ", n, ", which it doesn't name");
    bool writes = false, reads = false;
    for (int n = 0; n < trap.access.count; ++n) {
      writes = writes || trap.access.operands[n].written;
      reads = reads || trap.access.operands[n].read;
    }
    expect(trap.stored.any || before_.trapped == after.trapped, "stored, and says that it didn't");
    if (!writes || reads) return;
    Image inverse = before_;
    for (uint8_t& b : inverse.trapped) b = uint8_t(~b);
    State state = start_;
    Image other = executeOn(state, inverse);
    for (size_t n = 0; n < kBufferSize; ++n)
      expect((other.trapped[n] == after.trapped[n]) == named[n], "byte ", n, " is said to be written: ", named[n]);
  }

  // Bytes that aren't named as read have no influence.
  void checkRead(const State& native, const Image& after) {
    std::vector<bool> read = namedBytes(false);
    Image other = before_;
    for (size_t n = 0; n < kBufferSize; ++n)
      if (!read[n]) other.trapped[n] = uint8_t(random_());
    State state = start_;
    Image result = executeOn(state, other);
    compareStates(native, state);
    std::vector<bool> written = namedBytes(true);
    for (size_t n = 0; n < kBufferSize; ++n)
      expect(!written[n] || result.trapped[n] == after.trapped[n], "reads more than it names");
  }

  const Form& form_;
  std::string wrong_;
  const Trapped& memory_;
  bool everyElement_;
  std::mt19937 random_;
  uintptr_t target_ = 0;
  State start_ = {};
  Image before_;
};

TEST_F(Forms, HaveTheirNativeEffectInStubs) {
  int without = 0, supportedForms = 0;
  for (uint64_t n = 0; n < formCount; ++n) {
    if (!supported(forms[n])) continue;
    ++supportedForms;
    bool any = false, can = false;
    std::string wrong;
    for (int round = 0; round < kRounds && wrong.empty(); ++round) {
      ask = Ask(round % 3);
      can = Round(forms[n], int(n) * kRounds + round, buffer).checkStub(wrong);
      any = any || asked != 0;
      if (!can) break;
    }
    if (!can) ++without;
    EXPECT_EQ(wrong, "");
    if (can) EXPECT_TRUE(any) << forms[n].text << " was never asked for";
  }
  printf("%d forms, of which %d have no stub\n", supportedForms, without);
  // Stack instructions, calls and jumps, segments, addresses without a register, and what names the stack pointer.
  EXPECT_LT(without, supportedForms / 5);
}

TEST_F(Forms, HaveTheirNativeEffect) {
  int missing = 0;
  for (uint64_t n = 0; n < formCount; ++n) {
    if (!supported(forms[n])) {
      ++missing;
      continue;
    }
    bool trapped = false;
    std::string wrong;
    for (int round = 0; round < kRounds && wrong.empty(); ++round) {
      wrong = Round(forms[n], int(n) * kRounds + round, buffer).check();
      trapped = trapped || Round::trapped();
    }
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(trapped) << forms[n].text << " never trapped";
  }
  printf("%d forms, of which the processor lacks %d\n", int(formCount), missing);
}

}  // namespace
