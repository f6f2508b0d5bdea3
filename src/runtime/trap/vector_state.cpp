#include "runtime/trap/vector_state.h"

#include <cpuid.h>
#include <signal.h>
#include <string.h>

namespace blackout::rt {

namespace {

// Behind the legacy area (512 bytes) and the header (64 bytes).
constexpr uint32_t kFirstExtended = 576;
constexpr uint32_t kHeader = 512;
constexpr uint32_t kRegisters = 160;  // xmm0 to xmm15, in the legacy area
// The kernel's note in the legacy area's last bytes: _fpx_sw_bytes.
constexpr uint32_t kSoftware = 464;
constexpr uint32_t kMagic = 0x46505853;  // FP_XSTATE_MAGIC1

struct Component {
  uint32_t offset;  // in standard format
  uint32_t size;
  bool aligned;  // to 64 bytes, in compact format
};
constinit Component components[64] = {};
constinit uint64_t enabled = 0;  // XCR0

template <typename T>
T load(const uint8_t* p) {
  typedef T __attribute__((may_alias)) Any;
  return *reinterpret_cast<const Any*>(p);
}

const uint8_t* areaOf(const ucontext_t& context) {
  return reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs);
}

// A component of the frame; null: it is in its initial state, all zeros.
const uint8_t* componentOf(const ucontext_t& context, int bit) {
  bool xsave;
  if ((componentsOf(context, xsave) & uint64_t{1} << bit) == 0 || !xsave) return nullptr;
  return (load<uint64_t>(areaOf(context) + kHeader) & uint64_t{1} << bit) != 0
             ? areaOf(context) + components[bit].offset
             : nullptr;
}

// The same, to be changed: no more in its initial state.
uint8_t* changedComponentOf(ucontext_t& context, int bit, uint32_t offset, uint32_t size) {
  auto* area = reinterpret_cast<uint8_t*>(context.uc_mcontext.fpregs);
  auto inUse = load<uint64_t>(area + kHeader);
  if ((inUse >> bit & 1) == 0) {
    memset(area + offset, 0, size);
    inUse |= uint64_t{1} << bit;
    memcpy(area + kHeader, &inUse, 8);
  }
  return area + offset;
}

}  // namespace

void prepareVectorState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  enabled = uint64_t{high} << 32 | low;
  for (unsigned n = 2; n < 63; ++n) {
    if ((enabled >> n & 1) == 0) continue;
    __cpuid_count(0xd, n, a, b, c, d);
    components[n] = {b, a, (c & 2) != 0};
  }
}

uint64_t componentsOf(const ucontext_t& context, bool& xsave) {
  xsave = false;
  const uint8_t* area = areaOf(context);
  if (area == nullptr) return 0;
  if (load<uint32_t>(area + kSoftware) != kMagic) return kStateX87 | kStateSse;
  xsave = true;
  return load<uint64_t>(area + kSoftware + 8) & enabled;
}

void readVector(const ucontext_t& context, uint8_t number, uint8_t bytes[64]) {
  memset(bytes, 0, 64);
  if (number >= 16) {
    if (const uint8_t* from = componentOf(context, 7)) memcpy(bytes, from + (number - 16) * 64, 64);
    return;
  }
  if (areaOf(context) == nullptr) return;
  bool xsave;
  componentsOf(context, xsave);
  uint64_t inUse = xsave ? load<uint64_t>(areaOf(context) + kHeader) : uint64_t{kStateSse};
  if ((inUse & kStateSse) != 0) memcpy(bytes, areaOf(context) + kRegisters + number * 16, 16);
  if (const uint8_t* from = componentOf(context, 2)) memcpy(bytes + 16, from + number * 16, 16);
  if (const uint8_t* from = componentOf(context, 6)) memcpy(bytes + 32, from + number * 32, 32);
}

uint64_t readMask(const ucontext_t& context, uint8_t number) {
  const uint8_t* from = componentOf(context, 5);
  return from != nullptr ? load<uint64_t>(from + number * 8) : 0;
}

void writeMask(ucontext_t& context, uint8_t number, uint64_t mask) {
  memcpy(changedComponentOf(context, 5, components[5].offset, components[5].size) + number * 8, &mask, 8);
}

void writeVector(ucontext_t& context, uint8_t number, const uint8_t bytes[32]) {
  memcpy(changedComponentOf(context, 1, kRegisters, 16 * 16) + number * 16, bytes, 16);
  memcpy(changedComponentOf(context, 2, components[2].offset, components[2].size) + number * 16, bytes + 16, 16);
}

uint32_t saveSizeOf(uint64_t wanted, bool compact) {
  wanted &= enabled;
  uint32_t end = kFirstExtended;
  for (int n = 2; n < 63; ++n) {
    if ((wanted >> n & 1) == 0) continue;
    const Component& c = components[n];
    if (compact) {
      if (c.aligned) end = (end + 63) & ~63u;
      end += c.size;
    } else if (c.offset + c.size > end) {
      end = c.offset + c.size;
    }
  }
  return end;
}

}  // namespace blackout::rt
