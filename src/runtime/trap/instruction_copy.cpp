// The copy of an instruction that is executed in its place: the same bytes, with [scratch] for its memory operand.

#include <string.h>

#include "runtime/trap/instruction_parts.h"

namespace blackout::rt {

namespace {

constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kNoSegment = 0x3e;  // the ds prefix: nothing in 64-bit mode

// By hand: rsi and rdi are the places of what is read and written.
constexpr uint8_t kMove8[] = {0x48, 0x8b, 0x06, 0x48, 0x89, 0x07, kReturn};         // mov (%rsi),%rax; mov %rax,(%rdi)
constexpr uint8_t kMove2[] = {0x66, 0x8b, 0x06, 0x66, 0x89, 0x07, kReturn};         // the same with %ax
constexpr uint8_t kReadAndStore[] = {0x48, 0x8b, 0x06, 0x48, 0x89, 0x0f, kReturn};  // mov (%rsi),%rax; mov %rcx,(%rdi)
constexpr uint8_t kRead8[] = {0x48, 0x8b, 0x06, kReturn};                           // mov (%rsi),%rax
constexpr uint8_t kRead1[] = {0x8a, 0x06, kReturn};                                 // mov (%rsi),%al

template <size_t N>
void byHand(uint8_t* slot, const uint8_t (&code)[N]) {
  memcpy(slot, code, N);
}

// What extends base and index in the prefix: off.
void clearExtensions(uint8_t* slot, const ZydisDecodedInstruction& d, bool keepIndex) {
  switch (d.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:  // inverted bits; the short prefix has none of them
      if (d.raw.vex.size == 3) slot[d.raw.vex.offset + 1] |= keepIndex ? 0x20 : 0x60;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
      slot[d.raw.xop.offset + 1] |= keepIndex ? 0x20 : 0x60;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
      slot[d.raw.evex.offset + 1] |= keepIndex ? 0x20 : 0x60;
      break;
    default:
      if ((d.attributes & ZYDIS_ATTRIB_HAS_REX) != 0) slot[d.raw.rex.offset] &= uint8_t(~0x03);
  }
}

// mov between rax and an address in the instruction becomes the form with a ModRM byte.
size_t replaceOffset(uint8_t* slot, const ZydisDecodedInstruction& d, const Instruction& i) {
  static constexpr uint8_t kForms[] = {0x8a, 0x8b, 0x88, 0x89};
  size_t at = d.raw.disp.offset;
  memcpy(slot, i.bytes, at);
  slot[at - 1] = kForms[d.opcode & 3];
  slot[at] = i.scratch;
  return at + 1;
}

size_t replaceModRm(uint8_t* slot, const ZydisDecodedInstruction& d, const Instruction& i) {
  size_t at = d.raw.modrm.offset;
  size_t rest = at + 1;
  bool sib = (d.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0;
  if (sib) ++rest;
  rest += d.raw.disp.size / 8;
  memcpy(slot, i.bytes, at);
  uint8_t reg = i.substitute != kNoRegister ? i.substitute : d.raw.modrm.reg;
  size_t size = at;
  if (i.way == Way::Vsib) {
    slot[size++] = uint8_t(reg << 3 | 4);
    slot[size++] = uint8_t(d.raw.sib.scale << 6 | d.raw.sib.index << 3 | i.scratch);
  } else {
    slot[size++] = uint8_t(reg << 3 | i.scratch);
  }
  clearExtensions(slot, d, i.way == Way::Vsib);
  memcpy(slot + size, i.bytes + rest, i.length - rest);
  return size + i.length - rest;
}

// The decoder must see in the copy what was meant; else it isn't executed.
bool isAsMeant(const uint8_t* slot, size_t size, const ZydisDecodedInstruction& d, const Instruction& i) {
  ZydisDecodedInstruction copy;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!decode(slot, size, copy, operands) || copy.length != size || copy.mnemonic != d.mnemonic) return false;
  for (int n = 0; n < copy.operand_count_visible; ++n)
    if (operands[n].type == ZYDIS_OPERAND_TYPE_MEMORY)
      return operands[n].mem.base == ZYDIS_REGISTER_RAX + i.scratch && operands[n].mem.disp.value == 0 &&
             operands[n].mem.segment != ZYDIS_REGISTER_FS && operands[n].mem.segment != ZYDIS_REGISTER_GS;
  return false;
}

}  // namespace

void copyInto(uint8_t* slot, const ZydisDecodedInstruction& d, Instruction& i) {
  switch (i.way) {
    case Way::None:
      return;
    case Way::Push:
    case Way::Pop:
      i.operands[0].size == 8 ? byHand(slot, kMove8) : byHand(slot, kMove2);
      return;
    case Way::Call:
      return byHand(slot, kReadAndStore);
    case Way::Jump:
      return byHand(slot, kRead8);
    case Way::Translate:
      return byHand(slot, kRead1);
    case Way::String:
    case Way::Implicit:
    case Way::Plain:
      memcpy(slot, i.bytes, i.length);
      slot[i.length] = kReturn;
      return;
    case Way::ModRm:
    case Way::Vsib:
    case Way::Direct64:
      break;
  }
  bool offset = (d.attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0;
  size_t size = offset ? replaceOffset(slot, d, i) : replaceModRm(slot, d, i);
  // Segment and size of the address count no more: the scratch register holds all of it.
  for (int n = 0; n < d.raw.prefix_count; ++n)
    if (slot[n] == 0x64 || slot[n] == 0x65 || slot[n] == 0x67) slot[n] = kNoSegment;
  if (!isAsMeant(slot, size, d, i)) i.way = Way::None;
  slot[size] = kReturn;
  i.copySize = uint8_t(size);
}

}  // namespace blackout::rt
