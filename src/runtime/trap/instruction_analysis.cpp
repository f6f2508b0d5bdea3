// What of an instruction decides its accesses and its execution, found once from what the decoder says of it.

#include "runtime/trap/instruction_parts.h"
#include "runtime/trap/vector_state.h"

namespace blackout::rt {

namespace {

bool within(ZydisRegister r, ZydisRegister first, ZydisRegister last) { return r >= first && r <= last; }

// The number of a general register of any width, else kNoRegister.
uint8_t generalRegister(ZydisRegister r) {
  if (within(r, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL)) return uint8_t(r - ZYDIS_REGISTER_AL);
  if (within(r, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH)) return uint8_t(r - ZYDIS_REGISTER_AH);
  if (within(r, ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B)) return uint8_t(r - ZYDIS_REGISTER_SPL + kRsp);
  if (within(r, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W)) return uint8_t(r - ZYDIS_REGISTER_AX);
  if (within(r, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D)) return uint8_t(r - ZYDIS_REGISTER_EAX);
  if (within(r, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) return uint8_t(r - ZYDIS_REGISTER_RAX);
  return kNoRegister;
}

bool isVector(ZydisRegister r) { return within(r, ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_ZMM31); }
bool isMask(ZydisRegister r) { return within(r, ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7); }
uint8_t vectorNumber(ZydisRegister r) { return uint8_t((r - ZYDIS_REGISTER_XMM0) % 32); }
uint8_t vectorBytes(ZydisRegister r) { return uint8_t(16 << (r - ZYDIS_REGISTER_XMM0) / 32); }
bool isX87(ZydisRegister r) { return within(r, ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_MM7); }
bool isRead(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0; }
bool isWritten(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }
bool isMemory(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_MEMORY; }
bool isRegister(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_REGISTER; }

Address addressOf(const ZydisDecodedOperand& o, const Instruction& i, bool narrow) {
  Address a;
  a.displacement = o.mem.disp.has_displacement ? o.mem.disp.value : 0;
  if (o.mem.base == ZYDIS_REGISTER_RIP || o.mem.base == ZYDIS_REGISTER_EIP)
    a.displacement += int64_t(i.pc + i.length);
  else
    a.base = generalRegister(o.mem.base);
  a.index = generalRegister(o.mem.index);
  a.scale = o.mem.scale;
  a.segment = o.mem.segment == ZYDIS_REGISTER_FS ? 1 : o.mem.segment == ZYDIS_REGISTER_GS ? 2 : 0;
  a.narrow = narrow;
  return a;
}

blackout_site_kind kindFrom(const ZydisDecodedInstruction& d, const Instruction& i) {
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
      return BLACKOUT_SITE_Clflush;
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
      return BLACKOUT_SITE_Clflushopt;
    case ZYDIS_MNEMONIC_CLWB:
      return BLACKOUT_SITE_Clwb;
    case ZYDIS_MNEMONIC_SFENCE:
      return BLACKOUT_SITE_Sfence;
    case ZYDIS_MNEMONIC_MFENCE:
      return BLACKOUT_SITE_Mfence;
    case ZYDIS_MNEMONIC_LFENCE:
      return BLACKOUT_SITE_Lfence;
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_MOVDIRI:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTQ:
    case ZYDIS_MNEMONIC_MOVNTSD:
    case ZYDIS_MNEMONIC_MOVNTSS:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTPS:
      return BLACKOUT_SITE_StoreNt;
    default:
      break;
  }
  if (i.operandCount == 0) return blackout_site_kind(0);
  if (i.way == Way::String) {
    if (!i.operands[0].written) return BLACKOUT_SITE_MemoryRead;
    return i.operandCount == 2 ? BLACKOUT_SITE_Copy : BLACKOUT_SITE_Fill;
  }
  if ((d.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return i.compares ? BLACKOUT_SITE_CmpXchg : BLACKOUT_SITE_Rmw;
  if (d.mnemonic == ZYDIS_MNEMONIC_XCHG) return BLACKOUT_SITE_Rmw;
  return i.operands[0].written ? BLACKOUT_SITE_Store : BLACKOUT_SITE_Load;
}

// Instructions whose memory operand is an address and no access.
bool onlyHints(const ZydisDecodedInstruction& d) {
  switch (d.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_CLDEMOTE:
      return true;
    default:
      return false;
  }
}

// Instructions that do more than a copy could be allowed to, or that a program meets only with the kernel's help.
bool beyondCopies(const ZydisDecodedInstruction& d) {
  if ((d.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 || d.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return true;
  switch (d.meta.category) {
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_ENQCMD:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_KEYLOCKER:
    case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
    case ZYDIS_CATEGORY_MPX:
    case ZYDIS_CATEGORY_PADLOCK:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_WAITPKG:
      return true;
    default:
      return false;
  }
}

// The sizes of index and element; false: no gather or scatter (their prefetching kind is a hint, and on no processor
// of today).
bool vectorElements(ZydisMnemonic m, Instruction& out) {
  switch (m) {
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VSCATTERDPS:
    case ZYDIS_MNEMONIC_VPSCATTERDD:
      out.indexSize = 4, out.elementSize = 4;
      return true;
    case ZYDIS_MNEMONIC_VGATHERDPD:
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VSCATTERDPD:
    case ZYDIS_MNEMONIC_VPSCATTERDQ:
      out.indexSize = 4, out.elementSize = 8;
      return true;
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
      out.indexSize = 8, out.elementSize = 4;
      return true;
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
      out.indexSize = 8, out.elementSize = 8;
      return true;
    default:
      return false;
  }
}

bool analyseVector(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands,
                   const ZydisDecodedOperand& memory, Instruction& out) {
  if (!vectorElements(d.mnemonic, out) || d.address_width != 64) return false;
  uint8_t data = 0;
  for (int n = 0; n < d.operand_count_visible; ++n) {
    if (!isRegister(operands[n])) continue;
    ZydisRegister r = operands[n].reg.value;
    if (isMask(r)) {
      out.maskRegister = uint8_t(r - ZYDIS_REGISTER_K0);
    } else if (data == 0) {
      data = vectorBytes(r);
    } else {  // AVX2: the last register is the mask
      out.maskRegister = vectorNumber(r);
      out.maskIsVector = true;
    }
  }
  out.indexRegister = vectorNumber(memory.mem.index);
  uint8_t indices = vectorBytes(memory.mem.index) / out.indexSize;
  out.elements = data / out.elementSize;
  if (indices < out.elements) out.elements = indices;
  out.extent = Extent::Vector;
  return true;
}

// Does it write a part of its operand that a mask decides?
bool writesByMask(const ZydisDecodedInstruction& d) {
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      return d.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && d.avx.mask.reg != ZYDIS_REGISTER_K0 &&
             isMask(d.avx.mask.reg);
  }
}

// Moves and comparisons of vectors touch only the elements whose mask is set; those without may not even be mapped.
// Arithmetic does the same, but what its masks count isn't always an element of the memory operand.
bool touchesByMask(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVDQA32:
    case ZYDIS_MNEMONIC_VMOVDQA64:
    case ZYDIS_MNEMONIC_VMOVDQU16:
    case ZYDIS_MNEMONIC_VMOVDQU32:
    case ZYDIS_MNEMONIC_VMOVDQU64:
    case ZYDIS_MNEMONIC_VMOVDQU8:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VPCMPB:
    case ZYDIS_MNEMONIC_VPCMPD:
    case ZYDIS_MNEMONIC_VPCMPEQB:
    case ZYDIS_MNEMONIC_VPCMPEQD:
    case ZYDIS_MNEMONIC_VPCMPEQQ:
    case ZYDIS_MNEMONIC_VPCMPEQW:
    case ZYDIS_MNEMONIC_VPCMPQ:
    case ZYDIS_MNEMONIC_VPCMPUB:
    case ZYDIS_MNEMONIC_VPCMPUD:
    case ZYDIS_MNEMONIC_VPCMPUQ:
    case ZYDIS_MNEMONIC_VPCMPUW:
    case ZYDIS_MNEMONIC_VPCMPW:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      return false;
  }
}

void analyseMask(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands,
                 const ZydisDecodedOperand& memory, Instruction& out) {
  bool packed = d.meta.category == ZYDIS_CATEGORY_COMPRESS || d.meta.category == ZYDIS_CATEGORY_EXPAND;
  if (!packed && !touchesByMask(d.mnemonic)) return;
  if (d.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
    if (!isMask(d.avx.mask.reg) || d.avx.mask.reg == ZYDIS_REGISTER_K0 || memory.element_count < 2) return;
    out.maskRegister = uint8_t(d.avx.mask.reg - ZYDIS_REGISTER_K0);
  } else {  // AVX: a vector register has the mask, in the prefix
    if (!writesByMask(d)) return;
    for (int n = 0; n < d.operand_count_visible; ++n)
      if (operands[n].encoding == ZYDIS_OPERAND_ENCODING_NDSNDD) out.maskRegister = vectorNumber(operands[n].reg.value);
    out.maskIsVector = true;
  }
  out.elements = uint8_t(memory.element_count);
  out.elementSize = uint8_t(memory.element_size / 8);
  out.extent = packed ? Extent::Packed : Extent::Masked;
}

Way wayOf(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands, Instruction& out) {
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_SFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_LFENCE:
      return Way::Plain;
    case ZYDIS_MNEMONIC_CLZERO:
      out.operandCount = 1;
      out.operands[0].address = Address{.base = kRax, .narrow = d.address_width != 64};
      out.operands[0].size = 64;
      out.operands[0].written = true;
      out.extent = Extent::Line;
      out.special = kRax;
      return d.address_width == 64 ? Way::Implicit : Way::None;
    case ZYDIS_MNEMONIC_XLAT:
      out.extent = Extent::Table;
      return Way::Translate;
    default:
      break;
  }
  if (out.operandCount == 0 || beyondCopies(d)) return Way::None;
  if (d.meta.category == ZYDIS_CATEGORY_STRINGOP) {
    bool ordinary = d.address_width == 64;
    for (int n = 0; n < out.operandCount; ++n) ordinary = ordinary && out.operands[n].address.segment == 0;
    return ordinary ? Way::String : Way::None;
  }
  // The memory operand that is written in the instruction.
  const ZydisDecodedOperand* memory = nullptr;
  for (int n = 0; n < d.operand_count_visible; ++n)
    if (isMemory(operands[n])) memory = &operands[n];
  if (memory == nullptr) {
    if (out.operandCount != 1 || out.operands[0].address.base != kRdi || !writesByMask(d)) return Way::None;
    out.special = kRdi;
    return d.address_width == 64 && out.operands[0].address.segment == 0 ? Way::Implicit : Way::None;
  }
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      return Way::Push;
    case ZYDIS_MNEMONIC_POP:
      return Way::Pop;
    case ZYDIS_MNEMONIC_CALL:
      return out.operands[0].size == 8 ? Way::Call : Way::None;
    case ZYDIS_MNEMONIC_JMP:
      return out.operands[0].size == 8 ? Way::Jump : Way::None;
    case ZYDIS_MNEMONIC_MOVDIR64B:
      out.special = generalRegister(operands[0].reg.value);
      return d.address_width == 64 ? Way::Direct64 : Way::None;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
      if (!isRegister(operands[1])) return Way::ModRm;
      out.extent = Extent::BitString;
      out.special = generalRegister(operands[1].reg.value);
      return Way::ModRm;
    default:
      break;
  }
  analyseMask(d, operands, *memory, out);
  if (memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
    return analyseVector(d, operands, *memory, out) ? Way::Vsib : Way::None;
  return Way::ModRm;
}

// The components of the vector state that it reads or changes. Loading and storing only those halves the time.
void findComponents(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands, Instruction& out) {
  uint64_t used = 0;
  bool changes = false;
  bool low = false;  // one of the first 16 vector registers, whose parts lie in several components
  for (int n = 0; n < d.operand_count; ++n) {
    ZydisRegister r = ZYDIS_REGISTER_NONE;
    if (isRegister(operands[n])) r = operands[n].reg.value;
    if (isMemory(operands[n])) r = operands[n].mem.index;
    if (isX87(r)) {
      used |= kStateX87;
    } else if (isMask(r)) {
      if (r == ZYDIS_REGISTER_K0 && operands[n].encoding == ZYDIS_OPERAND_ENCODING_MASK) continue;  // no mask
      used |= kStateMasks;
    } else if (isVector(r)) {
      used |= vectorNumber(r) < 16 ? kStateSse : kStateZmm16;
      low = low || vectorNumber(r) < 16;
    } else if (r == ZYDIS_REGISTER_MXCSR) {
      used |= kStateSse;
    } else {
      continue;
    }
    changes = changes || (isRegister(operands[n]) && isWritten(operands[n]));
  }
  // A conversion to a general register names none of these, but follows MXCSR.
  if (d.meta.category == ZYDIS_CATEGORY_CONVERT) used |= kStateSse;
  switch (d.meta.isa_ext) {
    case ZYDIS_ISA_EXT_X87:
      used |= kStateX87;
      out.x87 = true;
      break;
    case ZYDIS_ISA_EXT_XSAVE:
    case ZYDIS_ISA_EXT_XSAVEC:
    case ZYDIS_ISA_EXT_XSAVEOPT:
      used = kStateX87 | kStateVectors;
      break;
    default:
      break;
  }
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
      used = kStateX87 | kStateSse;
      break;
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
      out.extent = Extent::StateSave;
      break;
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
      out.extent = Extent::StateSaveCompact;
      break;
    default:
      break;
  }
  if (d.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) used |= kStateSse;  // at least MXCSR
  if (low && d.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
    // A register that is written loses its upper parts, so these change, too.
    used |= kStateAvx;
    if (changes || d.avx.vector_length == 512) used |= kStateZmmHigh;
  }
  out.restored = used;
  // Arithmetic leaves its exceptions in MXCSR; a move, an x87 instruction apart, changes what it writes and no more.
  bool moves = d.meta.category == ZYDIS_CATEGORY_DATAXFER || d.meta.category == ZYDIS_CATEGORY_COMPRESS ||
               d.meta.category == ZYDIS_CATEGORY_KMASK;
  out.saved = moves && !changes && (used & kStateX87) == 0 ? 0 : used;
}

// Registers for the copy that the instruction itself doesn't use.
bool chooseRegisters(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands, Instruction& out) {
  uint32_t taken = 0;
  bool namesStack = false;
  for (int n = 0; n < d.operand_count; ++n) {
    const ZydisDecodedOperand& o = operands[n];
    if (isRegister(o)) {
      ZydisRegister r = o.reg.value;
      bool segment = within(r, ZYDIS_REGISTER_ES, ZYDIS_REGISTER_GS);
      if ((segment && isWritten(o)) || within(r, ZYDIS_REGISTER_TMM0, ZYDIS_REGISTER_TMM7) ||
          within(r, ZYDIS_REGISTER_GDTR, ZYDIS_REGISTER_DR15))
        return false;
      uint8_t number = generalRegister(r);
      if (number == kNoRegister) continue;
      taken |= 1u << number;
      if (number != kRsp) continue;
      if (o.encoding != ZYDIS_OPERAND_ENCODING_MODRM_REG) return false;
      namesStack = true;
    } else if (isMemory(o) && o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
      uint8_t number = generalRegister(o.mem.base);
      if (number != kNoRegister) taken |= 1u << number;
    }
  }
  // Those that need neither a REX bit, nor a SIB byte, nor a displacement.
  static constexpr uint8_t kCandidates[] = {kRsi, kRdi, kRbx, kRdx, kRcx, kRax};
  for (uint8_t candidate : kCandidates) {
    if ((taken & 1u << candidate) != 0) continue;
    if (out.scratch == kNoRegister)
      out.scratch = candidate;
    else if (namesStack && out.substitute == kNoRegister)
      out.substitute = candidate;
  }
  return out.scratch != kNoRegister && (!namesStack || out.substitute != kNoRegister);
}

}  // namespace

void analyse(const ZydisDecodedInstruction& d, const ZydisDecodedOperand* operands, Instruction& out) {
  bool pushes = d.meta.category == ZYDIS_CATEGORY_PUSH || d.meta.category == ZYDIS_CATEGORY_CALL ||
                d.mnemonic == ZYDIS_MNEMONIC_ENTER;
  for (int n = 0; n < d.operand_count && out.operandCount < kMaxOperands && !onlyHints(d); ++n) {
    const ZydisDecodedOperand& o = operands[n];
    if (!isMemory(o) || o.mem.type == ZYDIS_MEMOP_TYPE_AGEN || o.mem.type == ZYDIS_MEMOP_TYPE_MIB) continue;
    MemoryOperand& m = out.operands[out.operandCount++];
    m.address = addressOf(o, out, d.address_width != 64);
    m.size = o.size / 8;
    m.read = isRead(o);
    m.written = isWritten(o);
    bool stack = o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && m.address.base == kRsp;
    if (stack && pushes) m.address.displacement -= m.size;
    // The address of a popped operand is computed with the stack pointer that the pop leaves.
    if (d.mnemonic == ZYDIS_MNEMONIC_POP && !stack && m.address.base == kRsp) m.address.displacement += m.size;
  }
  if (d.mnemonic == ZYDIS_MNEMONIC_MOVDIR64B) {  // the destination first, as movs has it
    MemoryOperand source = out.operands[0];
    out.operands[0] = out.operands[1];
    out.operands[1] = source;
  }
  switch (d.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
      out.extent = Extent::Line;
      out.operands[0].read = false;
      break;
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
      out.compares = true;
      break;
    default:
      break;
  }
  out.repeated = (d.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  const ZydisAccessedFlags* f = d.cpu_flags;
  out.flags = f != nullptr && (f->tested | f->modified | f->set_0 | f->set_1 | f->undefined) != 0;
  out.way = wayOf(d, operands, out);
  findComponents(d, operands, out);
  if (out.way == Way::String) {
    out.flags = true;  // the direction
    out.endsByFlag = out.repeated && f != nullptr && (f->modified & ZYDIS_CPUFLAG_ZF) != 0;
    out.endsAtEqual = (d.attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0;
  }
  out.partial = out.way != Way::Vsib && out.operandCount == 1 && out.operands[0].written && !out.operands[0].read &&
                writesByMask(d);
  if (out.way == Way::ModRm || out.way == Way::Vsib || out.way == Way::Direct64)
    if (!chooseRegisters(d, operands, out)) out.way = Way::None;
  out.kind = uint8_t(kindFrom(d, out));
}

}  // namespace blackout::rt
