#include "runtime/trap/instruction_shape.h"

#include <stddef.h>

#include <initializer_list>

namespace blackout::rt {

namespace {

// What follows an opcode (SDM volume 2, appendix A).
enum : uint8_t {
  kNothing = 0,
  kModRm = 1,
  kByte = 2,    // an immediate of one byte
  kWord = 4,    // of two
  kDouble = 8,  // of four, or two with the operand size prefix
  kUnknown = 16,
};

struct Opcodes {
  uint8_t of[256];
};

constexpr Opcodes oneByte() {
  Opcodes o = {};
  for (int b = 0; b < 256; ++b) {
    uint8_t& f = o.of[b];
    if (b < 0x40)
      f = (b & 7) < 4 ? kModRm : (b & 7) == 4 ? kByte : (b & 7) == 5 ? kDouble : kUnknown;
    else if (b < 0x70)
      f = b >= 0x50 && b < 0x60 ? kNothing : kUnknown;
    else if (b < 0x80)
      f = kByte;
    else if (b < 0x90)
      f = kModRm;
    else if (b < 0xb0)
      f = kNothing;
    else if (b < 0xc0)
      f = b < 0xb8 ? kByte : kDouble;
    else
      f = kUnknown;
  }
  for (int b : {0x63, 0xd0, 0xd1, 0xd2, 0xd3, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xf6, 0xf7, 0xfe, 0xff})
    o.of[b] = kModRm;
  for (int b : {0x6b, 0x80, 0x83, 0xc0, 0xc1, 0xc6}) o.of[b] = kModRm | kByte;
  for (int b : {0x69, 0x81, 0xc7}) o.of[b] = kModRm | kDouble;
  for (int b : {0x6a, 0xa8, 0xe0, 0xe1, 0xe2, 0xe3, 0xeb, 0xcd}) o.of[b] = kByte;
  for (int b : {0x68, 0xa9, 0xe8, 0xe9}) o.of[b] = kDouble;
  for (int b : {0xc3, 0xc9, 0xcc, 0xf4, 0xf5, 0xf8, 0xf9, 0xfc, 0xfd}) o.of[b] = kNothing;
  for (int b : {0x82, 0x9a, 0xa0, 0xa1, 0xa2, 0xa3}) o.of[b] = kUnknown;
  o.of[0xc2] = kWord;
  o.of[0xc8] = kWord | kByte;
  return o;
}

constexpr Opcodes twoByte() {
  Opcodes o = {};
  for (uint8_t& f : o.of) f = kModRm;
  for (int b = 0x80; b < 0x90; ++b) o.of[b] = kDouble;
  for (int b = 0xc8; b < 0xd0; ++b) o.of[b] = kNothing;
  for (int b : {0x05, 0x0b, 0x31, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9}) o.of[b] = kNothing;
  for (int b : {0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6}) o.of[b] = kModRm | kByte;
  for (int b = 0x20; b < 0x28; ++b) o.of[b] = kUnknown;
  for (int b = 0x30; b < 0x40; ++b)
    if (b != 0x31) o.of[b] = kUnknown;
  for (int b : {0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0c, 0x0e, 0x0f, 0x78, 0x79, 0xa6, 0xa7,
                0xaa, 0xff})
    o.of[b] = kUnknown;
  return o;
}

constexpr Opcodes kOneByte = oneByte();
constexpr Opcodes kTwoByte = twoByte();

// ModRM, SIB and displacement.
size_t operandLength(const uint8_t* p, const uint8_t* end) {
  uint8_t mode = *p >> 6;
  if (mode == 3) return 1;
  size_t length = mode == 1 ? 2 : mode == 2 ? 5 : 1;
  if ((*p & 7) == 4) {
    if (end - p < 2) return 16;
    return length + 1 + (mode == 0 && (p[1] & 7) == 5 ? 4 : 0);
  }
  return length + (mode == 0 && (*p & 7) == 5 ? 4 : 0);
}

}  // namespace

Shape shapeOf(const uint8_t* p, const uint8_t* end) {
  constexpr Shape kNotKnown = {0, true};
  const uint8_t* begin = p;
  bool narrow = false;
  bool wide = false;
  bool locked = false;
  for (; p < end; ++p) {
    if (*p == 0x66)
      narrow = true;
    else if (*p == 0xf0)
      locked = true;
    else if (*p != 0xf2 && *p != 0xf3 && *p != 0x2e && *p != 0x3e && *p != 0x64 && *p != 0x65)
      break;
  }
  if (p < end && (*p & 0xf0) == 0x40) wide = (*p++ & 8) != 0;
  if (end - p < 2) return p < end && kOneByte.of[*p] == kNothing ? Shape{uint8_t(p + 1 - begin), locked} : kNotKnown;

  uint8_t follows;
  uint8_t opcode = *p;
  bool ordering = locked;
  if (opcode == 0x0f) {
    opcode = p[1];
    p += 2;
    follows = kTwoByte.of[opcode];
    if (opcode == 0x38 || opcode == 0x3a) {
      follows = opcode == 0x38 ? kModRm : kModRm | kByte;
      ++p;
    }
    if (p < end && opcode == 0xae) ordering = ordering || *p >= 0xf0 || (*p < 0xc0 && (*p & 0x38) >= 0x30);
    if ((follows & kDouble) != 0 && narrow) return kNotKnown;       // processors differ
  } else if (opcode == 0xc5 || opcode == 0xc4 || opcode == 0x62) {  // VEX, EVEX
    size_t prefix = opcode == 0xc5 ? 2 : opcode == 0xc4 ? 3 : 4;
    if (size_t(end - p) < prefix + 2) return kNotKnown;
    uint8_t map = opcode == 0xc5 ? 1 : p[1] & (opcode == 0xc4 ? 0x1f : 0x07);
    opcode = p[prefix];
    p += prefix + 1;
    if (map == 0 || map > 3) return kNotKnown;
    follows = map == 1 ? kTwoByte.of[opcode] : map == 2 ? kModRm : kModRm | kByte;
    if (map == 1 && opcode != 0x77 && (follows & kModRm) == 0) return kNotKnown;
  } else {
    ++p;
    follows = kOneByte.of[opcode];
    if ((opcode == 0xe8 || opcode == 0xe9) && narrow && !wide) return kNotKnown;  // processors differ
    if (opcode == 0xe8 || opcode == 0xe9) narrow = false;
    if ((opcode == 0x86 || opcode == 0x87) && *p < 0xc0) ordering = true;
    if (opcode == 0x8f && (*p & 0x38) != 0) return kNotKnown;  // XOP
    if (opcode == 0xf6 && (*p & 0x38) < 0x10) follows |= kByte;
    if (opcode == 0xf7 && (*p & 0x38) < 0x10) follows |= kDouble;
    if (opcode >= 0xb8 && opcode < 0xc0 && wide) {  // the only immediate of eight bytes
      follows = kNothing;
      p += 8;
    }
  }
  if ((follows & kUnknown) != 0 || p > end) return kNotKnown;
  if ((follows & kModRm) != 0) {
    if (p == end) return kNotKnown;
    p += operandLength(p, end);
  }
  if ((follows & kByte) != 0) p += 1;
  if ((follows & kWord) != 0) p += 2;
  if ((follows & kDouble) != 0) p += narrow && !wide ? 2 : 4;
  if (p > end || p - begin > 15) return kNotKnown;
  return {uint8_t(p - begin), ordering};
}

}  // namespace blackout::rt
