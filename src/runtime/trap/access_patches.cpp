#include "runtime/trap/access_patches.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/own_memory.h"
#include "runtime/trap/frame_entry.h"
#include "runtime/trap/patches.h"
#include "runtime/trap/stub_memory.h"
#include "runtime/trap/sweep.h"

namespace blackout::rt {

namespace {

constexpr uint8_t kBreakpoint = 0xcc;
constexpr uintptr_t kPage = 4096;
constexpr int kMostPieces = 16;
constexpr int kMostAccesses = 12;
constexpr uintptr_t kLongest = 96;  // of what is replaced at once
constexpr size_t kMostFunction = size_t{256} << 10;
constexpr int kMostBack = 6;  // instructions before the one that faulted
constexpr size_t kMostStub = 8192;
constexpr int kMostPatches = 16384;
constexpr uintptr_t kNear = 8192;  // where branches of other functions are looked for

struct Piece {
  uint8_t offset;
  uint8_t length;
  int8_t access;      // -1: none is asked
  uint16_t at;        // in the stub
  uint16_t original;  // as it was
};

struct AccessPatch {
  uintptr_t begin;
  uintptr_t end;  // 0: gone
  uintptr_t stub;
  uint32_t stubSize;
  uint32_t blocks;  // behind the pieces
  int count;
  int accessCount;
  Piece pieces[kMostPieces];
  PatchedAccess accesses[kMostAccesses];
  uint8_t bytes[kLongest + 16];
};

constinit AccessPatching patching = {};
AccessPatch* patches = nullptr;
int patchCount = 0;
uint32_t refused = 0;
constexpr size_t kRefused = 8192;  // as many as are kept, so that they are not tried again
uintptr_t refusedAt[kRefused] = {};
uint8_t* pristine = nullptr;  // a function as it was before it was patched
uint8_t* measured = nullptr;
uint8_t* around = nullptr;
Sweep sweep;
pid_t owner = 0;  // whose thread patches; another process's number is of one that was forked meanwhile

bool lock() {
  auto mine = pid_t(syscall(SYS_getpid));
  pid_t other = 0;
  if (__atomic_compare_exchange_n(&owner, &other, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return true;
  return other != mine && __atomic_compare_exchange_n(&owner, &other, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
void unlock() { __atomic_store_n(&owner, 0, __ATOMIC_RELEASE); }

// --- which instructions go together ---

// A stretch of code that is one function, or the copy in the stub of another patch; and where its bytes are as they
// were.
struct Code {
  uintptr_t begin;
  uintptr_t end;
  CodeFile file;
  const uint8_t* bytes(uintptr_t pc) const { return pristine + (pc - begin); }
  uintptr_t shifted(uintptr_t pc) const { return reinterpret_cast<uintptr_t>(pristine) + (pc - begin); }
};

// The bytes of [begin, end) without the jumps that were put there.
void copyOriginal(uint8_t* to, uintptr_t begin, uintptr_t end) {
  memcpy(to, reinterpret_cast<const void*>(begin), end - begin);
  for (int i = 0; i < patchCount; ++i) {
    const AccessPatch& p = patches[i];
    if (p.end == 0 || p.end <= begin || p.begin >= end) continue;
    uintptr_t at = p.begin > begin ? p.begin : begin;
    for (; at < p.end && at < end; ++at) to[at - begin] = p.bytes[at - p.begin];
  }
}

bool codeAround(uintptr_t pc, Code& code) {
  FunctionRange stub;
  if (copyOfPatch(pc, stub)) {
    code = {stub.begin, stub.end, {stub.begin, stub.end, false}};
  } else {
    FrameTable table;
    FrameEntry entry;
    if (!patching.file(pc, code.file) || !findTable(pc, table) || !findEntry(table, pc, entry)) return false;
    code.begin = entry.range.begin;
    code.end = entry.range.end;
    if (code.begin < code.file.begin || code.end > code.file.end) return false;
  }
  size_t size = code.end - code.begin;
  if (code.begin >= code.end || size > kMostFunction) return false;
  copyOriginal(pristine, code.begin, code.end);
  memset(pristine + size, 0, 16);
  // Breakpoints of fences, too: what is behind one would be taken for other instructions.
  for (size_t n = 0; n < size; ++n)
    if (const Patch* fence = pristine[n] == kBreakpoint ? patchAt(code.begin + n) : nullptr)
      pristine[n] = fence->original[0];
  auto from = reinterpret_cast<uintptr_t>(pristine);
  return sweep.over({from, from + size}) && sweep.starts.get(code.shifted(pc)) &&
         (!code.file.runtime || !sweep.jumpsAnywhere);
}

enum class Moves : uint8_t { Not, On, Ends };

Moves movesOf(const Code& code, uintptr_t pc, uint8_t& length) {
  Decoded d;
  if (patchAt(pc) != nullptr || !d.at(code.shifted(pc), code.shifted(code.end))) return Moves::Not;
  length = d.instruction.length;
  switch (d.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RET:
      return length == 1 ? Moves::Ends : Moves::Not;
    case ZYDIS_MNEMONIC_JMP:
      return d.relative() ? Moves::Ends : Moves::Not;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JRCXZ:
      return Moves::Not;
    default:
      break;
  }
  if (d.instruction.meta.category == ZYDIS_CATEGORY_COND_BR) return d.relative() ? Moves::On : Moves::Not;
  if (movable(d)) return Moves::On;
  uint8_t kind = fenceKind(d);
  bool locked = kind == BLACKOUT_SITE_Rmw || kind == BLACKOUT_SITE_CmpXchg;
  return locked && !d.relativeTo(ZYDIS_REGISTER_EIP) ? Moves::On : Moves::Not;
}

// Behind the end of a function: bytes that only fill up.
bool fillsUp(const Code& code, uintptr_t pc, uintptr_t end) {
  Decoded d;
  while (pc < end) {
    FrameTable table;
    FrameEntry entry;
    if (pc >= code.file.end || (findTable(pc, table) && findEntry(table, pc, entry))) return false;
    if (*bytesAt(pc) == kBreakpoint) {
      ++pc;
      continue;
    }
    if (!d.at(pc, code.file.end) || d.instruction.mnemonic != ZYDIS_MNEMONIC_NOP) return false;
    pc += d.instruction.length;
  }
  return true;
}

struct Stretch {
  uintptr_t begin;
  uintptr_t end;
  bool ends;  // nothing goes on behind it
  int count;
  uintptr_t starts[kMostPieces];
  uint8_t lengths[kMostPieces];
};

// From `begin` on, with pc in it, and whole: no patch that is there already is cut.
bool stretchFrom(const Code& code, uintptr_t begin, uintptr_t pc, Stretch& s) {
  s = {};
  s.begin = begin;
  uintptr_t least = begin + kJumpLength;
  uintptr_t at = begin;
  while (at <= pc || at < least) {
    if (s.ends || at >= code.end) {
      // Only filling may be left.
      s.end = at;
      return at > pc && s.ends && at == code.end && fillsUp(code, at, least);
    }
    uint8_t length = 0;
    Moves moves = movesOf(code, at, length);
    if (moves == Moves::Not || s.count == kMostPieces || at + length - begin > kLongest) return false;
    if (at != begin && sweep.targets.get(code.shifted(at))) return false;
    s.starts[s.count] = at;
    s.lengths[s.count++] = length;
    s.ends = moves == Moves::Ends;
    for (int i = 0; i < patchCount; ++i) {
      const AccessPatch& p = patches[i];
      if (p.end == 0 || p.end <= at || p.begin >= at + length) continue;
      if (p.begin < begin) return false;
      if (p.end > least) least = p.end;
    }
    at += length;
  }
  s.end = at;
  return true;
}

// Branches of other functions that lead into it: such are near, as they are in hand-written code.
bool enteredFromNear(const Code& code, const Stretch& s) {
  if (s.count < 2) return false;
  uintptr_t from = s.begin - code.file.begin > kNear ? s.begin - kNear : code.file.begin;
  uintptr_t to = code.file.end - s.end > kNear ? s.end + kNear : code.file.end;
  auto inside = [&](uintptr_t target) {
    if (target <= s.begin || target >= s.end) return false;
    for (int n = 1; n < s.count; ++n)
      if (s.starts[n] == target) return true;
    return false;
  };
  copyOriginal(around, from, to);
  for (uintptr_t p = from; p + 6 <= to; ++p) {
    if (p >= code.begin && p < code.end) continue;  // the sweep knows these
    const uint8_t* b = around + (p - from);
    bool one = b[0] == 0xe8 || b[0] == 0xe9;
    bool two = b[0] == 0x0f && (b[1] & 0xf0) == 0x80;
    bool brief = (b[0] & 0xf0) == 0x70 || b[0] == 0xeb;
    if (one || two) {
      int32_t distance;
      memcpy(&distance, b + (one ? 1 : 2), sizeof distance);
      if (inside(p + (one ? 5 : 6) + uintptr_t(intptr_t(distance)))) return true;
    } else if (brief && inside(p + 2 + uintptr_t(intptr_t(int8_t(b[1]))))) {
      return true;
    }
  }
  return false;
}

// --- the stub ---

GivenBytes givenBy(const Stretch& s) {
  GivenBytes given;
  for (int n = 1; n < s.count; ++n) {
    uintptr_t offset = s.starts[n] - s.begin;
    if (offset >= kJumpLength) continue;
    uint32_t shift = 8 * uint32_t(offset - 1);
    given.mask |= uint32_t{0xff} << shift;
    given.value |= uint32_t{kBreakpoint} << shift;
  }
  return given;
}

// Writes it as if it lay at `at`. False: an instruction of it can't lie there.
bool write(const Code& code, const Stretch& s, uintptr_t at, AccessPatch& patch) {
  AccessStub stub(at, patching.thread);
  patch.count = s.count;
  patch.accessCount = 0;
  for (int n = 0; n < s.count; ++n) {
    uintptr_t pc = s.starts[n];
    Piece& piece = patch.pieces[n];
    piece = {uint8_t(pc - s.begin), s.lengths[n], -1, uint16_t(stub.size()), uint16_t(stub.size())};
    const Instruction* i = instructionAt(pc, code.bytes(pc));
    if (i == nullptr) return false;
    bool writes = false;
    for (int o = 0; o < i->operandCount; ++o) writes = writes || i->operands[o].written;
    if ((writes || patching.reads) && canBeTested(*i)) {
      if (patch.accessCount == kMostAccesses) return false;
      piece.access = int8_t(patch.accessCount);
      PatchedAccess& a = patch.accesses[patch.accessCount++];
      a = {};
      a.instruction = i;
      a.pc = pc;
      a.place = placeInProgram(pc);
      a.id = patching.id == nullptr ? 0 : patching.id(a.place, *i);
      a.runtime = code.file.runtime;
      stub.access(a, patching.reads);
      piece.original = uint16_t(a.original - at);
    } else {
      stub.move(pc, code.bytes(pc));
    }
  }
  if (!s.ends) stub.leave(s.end);
  patch.blocks = uint32_t(stub.size());
  stub.finish(patch.accesses, patch.accessCount);
  patch.stubSize = uint32_t(stub.size());
  return stub.good();
}

// --- putting it in place ---

bool serialise() {
  if (__libc_single_threaded != 0) return true;
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

bool canSerialise() {
  if (__libc_single_threaded != 0) return true;
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

void put(uintptr_t at, uint8_t byte) { *reinterpret_cast<volatile uint8_t*>(at) = byte; }

// Other threads may be at any of the instructions. From when each of them begins with a breakpoint's byte, whoever
// comes is sent to the stub; then the rest is written; then the jump's own byte.
bool install(const AccessPatch& patch) {
  uintptr_t end = patch.end > patch.begin + kJumpLength ? patch.end : patch.begin + kJumpLength;
  uintptr_t pages = patch.begin & -kPage;
  size_t size = ((end + kPage - 1) & -kPage) - pages;
  if (!canSerialise() || syscall(SYS_mprotect, pages, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  for (int n = 0; n < patch.count; ++n) put(patch.begin + patch.pieces[n].offset, kBreakpoint);
  serialise();
  auto distance = uint32_t(patch.stub - (patch.begin + kJumpLength));
  for (uintptr_t at = patch.begin + 1; at < end; ++at) {
    uintptr_t n = at - patch.begin - 1;
    put(at, n < 4 ? uint8_t(distance >> (8 * n)) : kBreakpoint);
  }
  serialise();
  put(patch.begin, 0xe9);
  serialise();
  syscall(SYS_mprotect, pages, size, PROT_READ | PROT_EXEC);
  return true;
}

bool patchStretch(const Code& code, const Stretch& s) {
  if (patchCount == kMostPatches || enteredFromNear(code, s)) return false;
  AccessPatch& patch = patches[patchCount];
  patch = {};
  write(code, s, reinterpret_cast<uintptr_t>(measured), patch);
  if (patch.stubSize == 0 || patch.stubSize > kMostStub) return false;
  uintptr_t at = takeStubMemory(s.begin + kJumpLength, givenBy(s), patch.stubSize, uint16_t(patchCount + 1));
  if (at == 0) return false;
  if (!write(code, s, at, patch)) {
    giveStubMemory(at, patch.stubSize);
    return false;
  }
  patch.begin = s.begin;
  patch.stub = at;
  memcpy(patch.bytes, code.bytes(s.begin), s.end - s.begin);
  __atomic_store_n(&patch.end, s.end, __ATOMIC_RELEASE);
  __atomic_store_n(&patchCount, patchCount + 1, __ATOMIC_RELEASE);
  if (!install(patch)) {
    // Its place in the table is lost: whoever was sent to the stub may still be there.
    __atomic_store_n(&patch.end, uintptr_t(0), __ATOMIC_RELEASE);
    return false;
  }
  // What lay there before is a part of it.
  for (int i = 0; i < patchCount - 1; ++i)
    if (patches[i].end != 0 && patches[i].begin >= patch.begin && patches[i].begin < patch.end)
      __atomic_store_n(&patches[i].end, uintptr_t(0), __ATOMIC_RELEASE);
  return true;
}

// Where an instruction that was replaced is in its stub; 0: none was here.
uintptr_t placeInStub(uintptr_t pc) {
  for (int i = __atomic_load_n(&patchCount, __ATOMIC_ACQUIRE) - 1; i >= 0; --i) {
    const AccessPatch& patch = patches[i];
    uintptr_t end = __atomic_load_n(&patch.end, __ATOMIC_ACQUIRE);
    if (pc < patch.begin || pc >= end) continue;
    for (int n = 0; n < patch.count; ++n)
      if (patch.begin + patch.pieces[n].offset == pc) return patch.stub + patch.pieces[n].at;
  }
  return 0;
}

size_t refusedEntry(uintptr_t pc) { return (pc * 0x9e3779b97f4a7c15u) >> 51; }
static_assert(kRefused == size_t{1} << (64 - 51));
bool wasRefused(uintptr_t pc) { return refusedAt[refusedEntry(pc)] == pc; }
void refuse(uintptr_t pc) {
  ++refused;
  refusedAt[refusedEntry(pc)] = pc;
}

const AccessPatch* patchOfStub(uintptr_t pc) {
  uint16_t n = ownerAt(pc);
  if (n == 0) return nullptr;
  const AccessPatch& patch = patches[n - 1];
  return pc - patch.stub < patch.stubSize ? &patch : nullptr;
}

}  // namespace

const uint8_t* originalAt(uintptr_t pc) {
  for (int i = __atomic_load_n(&patchCount, __ATOMIC_ACQUIRE) - 1; i >= 0; --i) {
    const AccessPatch& patch = patches[i];
    if (pc >= patch.begin && pc < __atomic_load_n(&patch.end, __ATOMIC_ACQUIRE))
      return patch.bytes + (pc - patch.begin);
  }
  return nullptr;
}

bool prepareAccessPatches(const AccessPatching& wanted) {
  if (patches != nullptr) return true;
  if (!prepareAccessStubs()) return false;
  patching = wanted;
  pristine = static_cast<uint8_t*>(takeMemory(kMostFunction + kPage));
  measured = static_cast<uint8_t*>(takeMemory(2 * kMostStub));
  around = static_cast<uint8_t*>(takeMemory(2 * kNear + kPage));
  auto* table = static_cast<AccessPatch*>(takeMemory(kMostPatches * sizeof(AccessPatch)));
  if (pristine == nullptr || measured == nullptr || around == nullptr || table == nullptr) return false;
  patches = table;
  return true;
}

namespace {

// The program's own stack for signals may be small. (Another one would not do: a signal there would begin at the top of
// theirs.)
bool hasStack() {
  constexpr uintptr_t kNeeded = 16384;
  stack_t stack{};
  if (syscall(SYS_sigaltstack, nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0) return true;
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - reinterpret_cast<uintptr_t>(stack.ss_sp) >= kNeeded;
}

bool patchThere(uintptr_t pc) {
  bool done = false;
  Code code;
  // Itself first, then with what is before it.
  if (codeAround(pc, code)) {
    const Instruction* i = instructionAt(pc, code.bytes(pc));
    uintptr_t begin = pc;
    for (int back = 0; i != nullptr && canBeTested(*i) && back <= kMostBack && !done; ++back) {
      Stretch s;
      if (stretchFrom(code, begin, pc, s)) done = patchStretch(code, s);
      if (begin == code.begin || sweep.targets.get(code.shifted(begin))) break;
      do --begin;
      while (begin > code.begin && !sweep.starts.get(code.shifted(begin)));
    }
  }
  if (!done) refuse(pc);
  return done;
}

}  // namespace

bool patchAccess(uintptr_t pc) {
  if (patches == nullptr || ownerAt(pc) != 0) return false;
  if (originalAt(pc) != nullptr) return true;
  if (wasRefused(pc) || !hasStack() || !lock()) return false;
  int before = errno;
  bool done = patchThere(pc);
  errno = before;
  unlock();
  return done;
}

bool accessTrapped(ucontext_t& context) {
  greg_t& rip = context.uc_mcontext.gregs[REG_RIP];
  uintptr_t place = placeInStub(uintptr_t(rip) - 1);
  if (place != 0) rip = greg_t(place);
  return place != 0;
}

void enterPatch(ucontext_t& context) {
  greg_t& rip = context.uc_mcontext.gregs[REG_RIP];
  if (uintptr_t place = placeInStub(uintptr_t(rip))) rip = greg_t(place);
}

uintptr_t placeOfAccess(uintptr_t pc, bool* exact) {
  if (exact != nullptr) *exact = true;
  const AccessPatch* patch = patches == nullptr ? nullptr : patchOfStub(pc);
  if (patch == nullptr) return pc;
  auto offset = uint32_t(pc - patch->stub);
  int n = patch->count - 1;
  if (offset >= patch->blocks) {
    int a = patch->accessCount - 1;
    while (a > 0 && patch->accesses[a].block > pc) --a;
    if (exact != nullptr) *exact = false;
    return patch->accesses[a].pc;
  }
  while (n > 0 && patch->pieces[n].at > offset) --n;
  const Piece& piece = patch->pieces[n];
  uintptr_t at = patch->begin + piece.offset;
  if (offset >= piece.original && offset < uint32_t(piece.original) + piece.length)
    return at + (offset - piece.original);
  if (exact != nullptr) *exact = offset == piece.at;
  return offset > piece.original ? at + piece.length : at;
}

uintptr_t programPlace(uintptr_t pc) { return placeInProgram(placeOfAccess(pc)); }

const PatchedAccess* copyAt(uintptr_t pc) {
  const AccessPatch* patch = patches == nullptr ? nullptr : patchOfStub(pc);
  if (patch == nullptr) return nullptr;
  for (int n = 0; n < patch->accessCount; ++n) {
    const PatchedAccess& a = patch->accesses[n];
    if (a.simple && pc > a.light && pc < a.whole) return &a;
  }
  return nullptr;
}

void forgetAccessPatches(uintptr_t begin, uintptr_t end) {
  for (uintptr_t& pc : refusedAt)
    if (pc >= begin && pc < end) pc = 0;
  for (int i = 0; i < patchCount; ++i) {
    AccessPatch& p = patches[i];
    if (p.stub == 0 || p.begin < begin || p.begin >= end) continue;
    __atomic_store_n(&p.end, uintptr_t(0), __ATOMIC_SEQ_CST);
    forgetInstructions(p.stub, p.stub + p.stubSize);
    giveStubMemory(p.stub, p.stubSize);
    p.stub = 0;
  }
}

AccessPatchCount accessPatchCount() {
  uint32_t n = 0;
  for (int i = 0; i < patchCount; ++i) n += patches[i].end != 0 ? uint32_t(patches[i].accessCount) : 0;
  return {n, refused};
}

}  // namespace blackout::rt
