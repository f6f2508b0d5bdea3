#include "runtime/trap/sweep.h"

#include <string.h>

#include "events/contract.h"
#include "runtime/trap/instruction_shape.h"

namespace blackout::rt {

namespace {

constexpr uint8_t kRequest[kRequestLength] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1,
                                              0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb};

// inc and dec leave the carry, bt* the zero flag, xchg and not all of them, and cmpxchg8b all but one.
bool writesAllFlags(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_XADD:
    case ZYDIS_MNEMONIC_CMPXCHG:
      return true;
    default:
      return false;
  }
}

// Not one that leads out of the function by a table of addresses, as the jumps of .plt.
bool leavesAnywhere(const Decoded& d) {
  if (d.instruction.meta.category != ZYDIS_CATEGORY_UNCOND_BR || d.relative()) return false;
  return !d.relativeTo(ZYDIS_REGISTER_RIP);
}

bool prefix(uint8_t b) {
  return (b & 0xf0) == 0x40 || b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x2e ||
         b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65;
}

// The opcodes that a lock prefix may precede.
bool lockable(const uint8_t* p, const uint8_t* end) {
  while (p < end && prefix(*p)) ++p;
  if (end - p < 2) return false;
  switch (*p) {
    case 0x80:
    case 0x81:
    case 0x83:
    case 0x86:
    case 0x87:
    case 0xf6:
    case 0xf7:
    case 0xfe:
    case 0xff:
      return true;
    case 0x0f:
      switch (p[1]) {
        case 0xab:
        case 0xb0:
        case 0xb1:
        case 0xb3:
        case 0xba:
        case 0xbb:
        case 0xc0:
        case 0xc1:
        case 0xc7:
          return true;
        default:
          return false;
      }
    default:
      return *p < 0x38 && (*p & 7) < 2;
  }
}

// Behind the last instruction there may be bytes to fill up with.
bool filling(uintptr_t begin, uintptr_t end) {
  uint8_t b = *bytesAt(begin);
  if (b != 0x00 && b != 0x90 && b != 0xcc) return false;
  for (; begin < end; ++begin)
    if (*bytesAt(begin) != b) return false;
  return true;
}

}  // namespace

bool isRequest(uintptr_t pc, uintptr_t end) {
  return end - pc >= kRequestLength && *bytesAt(pc) == kRequest[0] &&
         memcmp(bytesAt(pc), kRequest, kRequestLength) == 0;
}

uint8_t fenceKind(const Decoded& d) {
  switch (d.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_SFENCE:
      return BLACKOUT_SITE_Sfence;
    case ZYDIS_MNEMONIC_MFENCE:
      return BLACKOUT_SITE_Mfence;
    case ZYDIS_MNEMONIC_CLFLUSH:
      return BLACKOUT_SITE_Clflush;
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
      return BLACKOUT_SITE_Clflushopt;
    case ZYDIS_MNEMONIC_CLWB:
      return BLACKOUT_SITE_Clwb;
    case ZYDIS_MNEMONIC_PAUSE:
      return kPauseKind;
    case ZYDIS_MNEMONIC_XCHG:  // locked without saying so
      return d.touchesMemory() ? BLACKOUT_SITE_Rmw : 0;
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
      return (d.instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ? BLACKOUT_SITE_CmpXchg : 0;
    default:
      return (d.instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 && d.touchesMemory() ? BLACKOUT_SITE_Rmw : 0;
  }
}

bool movable(const Decoded& d) {
  switch (d.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
      return false;
    default:
      break;
  }
  switch (d.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:  // something jumps here
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return false;
    default:
      return !d.relative() && !d.relativeTo(ZYDIS_REGISTER_EIP) && fenceKind(d) == 0;
  }
}

static bool isPause(const uint8_t* p, const uint8_t* end) { return end - p >= 2 && p[0] == 0xf3 && p[1] == 0x90; }

bool looksLikeFence(const uint8_t* p, const uint8_t* end) {
  switch (*p) {
    case 0x0f:  // fences with a register form, flushes with a memory operand
      if (end - p < 3 || p[1] != 0xae) return false;
      return p[2] >= 0xf0 || (p[2] < 0xc0 && (p[2] & 0x38) >= 0x30);
    case 0xf0:
      return lockable(p + 1, end);
    case 0x86:
    case 0x87:
      return end - p >= 2 && (p[1] < 0xc0 || p[1] == 0xdb);
    case 0xf3:
      return isPause(p, end);
    default:
      return false;
  }
}

bool mayHaveFences(const FunctionRange& f) {
  const uint8_t* end = bytesAt(f.end);
  const uint8_t* p = bytesAt(f.begin);
  while (p < end && !looksLikeFence(p, end)) ++p;
  if (p == end) return false;
  for (p = bytesAt(f.begin); p < end;) {
    Shape shape = shapeOf(p, end);
    if (shape.length == 0 || shape.ordering || isPause(p, end)) return true;
    if (isRequest(reinterpret_cast<uintptr_t>(p), f.end)) return true;
    p += shape.length;
  }
  return false;
}

bool Sweep::over(const FunctionRange& f) {
  if (!starts.reset(f.begin, f.end) || !targets.reset(f.begin, f.end)) return false;
  outside.shrink(0);
  fences.shrink(0);
  jumpsAnywhere = false;
  Decoded d;
  for (uintptr_t pc = f.begin; pc < f.end;) {
    if (!d.at(pc, f.end)) {
      if (!filling(pc, f.end)) return false;
      break;
    }
    starts.set(pc);
    uint8_t length = d.instruction.length;
    if (d.relative()) {
      uintptr_t target = d.target(pc);
      if (target >= f.begin && target < f.end)
        targets.set(target);
      else if (d.instruction.meta.category != ZYDIS_CATEGORY_CALL && !outside.push(target))
        return false;
    }
    jumpsAnywhere = jumpsAnywhere || leavesAnywhere(d);
    uint8_t kind = fenceKind(d);
    if (kind != 0) {
      if (d.relativeTo(ZYDIS_REGISTER_EIP)) return false;
      Fence fence{pc, length, kind, length, writesAllFlags(d.instruction.mnemonic)};
      if (!fences.push(fence)) return false;
    } else if (isRequest(pc, f.end)) {
      if (!fences.push({pc, kRequestLength, BLACKOUT_SITE_Request, kRequestLength, false})) return false;
    }
    pc += length;
  }
  if (!targets.within(starts)) return false;
  for (const Fence& fence : fences)
    if (fence.kind == BLACKOUT_SITE_Request)
      for (int i = 1; i < kRequestLength; ++i)
        if (targets.get(fence.pc + i)) return false;
  return true;
}

}  // namespace blackout::rt
