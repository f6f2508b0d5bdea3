// Reading the bytes of unwind tables, which may be damaged: every read stays inside [at, end). The first one that does
// not fails the reader and leaves it at its end, so that loops over it finish; what it returned since then counts
// nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

// DW_EH_PE_*: how a pointer is written (low four bits), what it is relative to, and whether it points at the pointer.
constexpr uint8_t kOmitted = 0xff;
constexpr uint8_t kFormat = 0x0f;
constexpr uint8_t kRelation = 0x70;
constexpr uint8_t kIndirect = 0x80;

// Bytes of a pointer of this encoding; 0: no fixed number.
constexpr size_t sizeOfEncoded(uint8_t encoding) {
  switch (encoding & kFormat) {
    case 0x02:  // udata2
    case 0x0a:  // sdata2
      return 2;
    case 0x03:  // udata4
    case 0x0b:  // sdata4
      return 4;
    case 0x00:  // absptr
    case 0x04:  // udata8
    case 0x08:  // signed
    case 0x0c:  // sdata8
      return 8;
    default:
      return 0;
  }
}

struct Reader {
  const uint8_t* at;
  const uint8_t* end;
  bool sound = true;

  void fail() {
    sound = false;
    at = end;
  }

  template <typename T>
  T take() {
    if (size_t(end - at) < sizeof(T)) {
      fail();
      return 0;
    }
    T value;
    __builtin_memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }

  // A block of n bytes.
  const uint8_t* skip(uint64_t n) {
    const uint8_t* block = at;
    if (n > uint64_t(end - at))
      fail();
    else
      at += n;
    return block;
  }

  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t(0) << shift;
      return int64_t(value);
    }
  }

  // A pointer; an indirect one isn't followed. dataBase: what "relative to data" means here, 0 where it means nothing.
  uintptr_t encoded(uint8_t encoding, uintptr_t dataBase = 0) {
    auto here = reinterpret_cast<uintptr_t>(at);
    uintptr_t value = 0;
    switch (encoding & kFormat) {
      case 0x00:
      case 0x04:
      case 0x08:
      case 0x0c:
        value = take<uint64_t>();
        break;
      case 0x01:
        value = uleb();
        break;
      case 0x02:
        value = take<uint16_t>();
        break;
      case 0x03:
        value = take<uint32_t>();
        break;
      case 0x09:
        value = uintptr_t(sleb());
        break;
      case 0x0a:
        value = uintptr_t(intptr_t(take<int16_t>()));
        break;
      case 0x0b:
        value = uintptr_t(intptr_t(take<int32_t>()));
        break;
      default:
        fail();
    }
    switch (encoding & kRelation) {
      case 0x00:  // to nothing
        return value;
      case 0x10:  // to its own place
        return value + here;
      case 0x30:  // to data
        if (dataBase == 0) fail();
        return value + dataBase;
      default:  // to text or to the function; no program file of this architecture has them
        fail();
        return 0;
    }
  }
};

}  // namespace blackout::rt
