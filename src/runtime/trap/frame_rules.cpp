#include "runtime/trap/frame_rules.h"

#include "runtime/trap/eh_frame_reader.h"

namespace blackout::rt {

namespace {

// The numbers of the x86-64 psABI, figure 3.36.
FrameRegister registerOf(uint64_t dwarf) {
  switch (dwarf) {
    case 3:
      return kRbx;
    case 6:
      return kRbp;
    case 7:
      return kSp;
    case 10:
      return kR10;
    case 12:
      return kR12;
    case 13:
      return kR13;
    case 14:
      return kR14;
    case 15:
      return kR15;
    case 16:
      return kPc;
    default:
      return kLostRegister;
  }
}

// Programs are as long as they are, but a remembered state costs stack of a signal handler. Compilers nest two deep.
constexpr int kMaxRemembered = 8;

class Rows {
 public:
  Rows(const FrameEntry& entry, uintptr_t pc, FrameRules& rules)
      : entry_(entry), pc_(pc), at_(entry.range.begin), rules_(rules) {}

  bool run(const Block& program, const FrameRules* initial) {
    Reader reader{program.begin, program.end};
    initial_ = initial;
    while (reader.at < reader.end && at_ <= pc_)
      if (!instruction(reader)) return false;
    return reader.sound;
  }

 private:
  bool instruction(Reader& reader);

  void advance(uint64_t units) { at_ += units * entry_.codeFactor; }
  int64_t scaled(uint64_t units) const { return int64_t(units * uint64_t(entry_.dataFactor)); }

  void set(uint64_t dwarf, const Rule& rule) {
    FrameRegister r = registerOf(dwarf);
    if (r != kLostRegister) rules_.registers[r] = rule;
  }
  void setOffset(uint64_t dwarf, Rule::Kind kind, int64_t offset) {
    Rule rule{};
    rule.kind = kind;
    rule.offset = offset;
    set(dwarf, rule);
  }
  bool restore(uint64_t dwarf) {
    FrameRegister r = registerOf(dwarf);
    if (initial_ == nullptr) return false;
    if (r != kLostRegister) rules_.registers[r] = initial_->registers[r];
    return true;
  }
  static Rule expression(Reader& reader, Rule::Kind kind) {
    Rule rule{};
    uint64_t size = reader.uleb();
    rule.kind = kind;
    rule.expression = reader.skip(size);
    rule.size = uint32_t(size);
    if (size > UINT32_MAX) reader.fail();
    return rule;
  }
  void setCfa(uint64_t dwarf) {
    rules_.cfa.kind = Rule::Register;
    rules_.cfa.other = registerOf(dwarf);
  }

  const FrameEntry& entry_;
  uintptr_t pc_;
  uintptr_t at_;  // the first address of the row that is being made
  FrameRules& rules_;
  const FrameRules* initial_ = nullptr;
  FrameRules remembered_[kMaxRemembered];
  int depth_ = 0;
};

bool Rows::instruction(Reader& reader) {
  auto code = reader.take<uint8_t>();
  uint64_t low = code & 0x3f;
  switch (code & 0xc0) {
    case 0x40:  // DW_CFA_advance_loc
      advance(low);
      return true;
    case 0x80:  // DW_CFA_offset
      setOffset(low, Rule::At, scaled(reader.uleb()));
      return true;
    case 0xc0:  // DW_CFA_restore
      return restore(low);
    default:
      break;
  }
  uint64_t r = 0;
  switch (code) {
    case 0x00:  // DW_CFA_nop
      return true;
    case 0x01:  // DW_CFA_set_loc
      at_ = reader.encoded(entry_.encoding);
      return true;
    case 0x02:  // DW_CFA_advance_loc1
      advance(reader.take<uint8_t>());
      return true;
    case 0x03:  // DW_CFA_advance_loc2
      advance(reader.take<uint16_t>());
      return true;
    case 0x04:  // DW_CFA_advance_loc4
      advance(reader.take<uint32_t>());
      return true;
    case 0x05:  // DW_CFA_offset_extended
      r = reader.uleb();
      setOffset(r, Rule::At, scaled(reader.uleb()));
      return true;
    case 0x06:  // DW_CFA_restore_extended
      return restore(reader.uleb());
    case 0x07:  // DW_CFA_undefined
      setOffset(reader.uleb(), Rule::Undefined, 0);
      return true;
    case 0x08:  // DW_CFA_same_value
      setOffset(reader.uleb(), Rule::Same, 0);
      return true;
    case 0x09: {  // DW_CFA_register
      r = reader.uleb();
      Rule rule{};
      rule.kind = Rule::Register;
      rule.other = registerOf(reader.uleb());
      set(r, rule);
      return true;
    }
    case 0x0a:  // DW_CFA_remember_state
      if (depth_ == kMaxRemembered) return false;
      remembered_[depth_++] = rules_;
      return true;
    case 0x0b:  // DW_CFA_restore_state
      if (depth_ == 0) return false;
      rules_ = remembered_[--depth_];
      return true;
    case 0x0c:  // DW_CFA_def_cfa
      setCfa(reader.uleb());
      rules_.cfaOffset = int64_t(reader.uleb());
      return true;
    case 0x0d:  // DW_CFA_def_cfa_register
      setCfa(reader.uleb());
      return true;
    case 0x0e:  // DW_CFA_def_cfa_offset
      rules_.cfaOffset = int64_t(reader.uleb());
      return true;
    case 0x0f:  // DW_CFA_def_cfa_expression
      rules_.cfa = expression(reader, Rule::IsExpression);
      return true;
    case 0x10:  // DW_CFA_expression
      r = reader.uleb();
      set(r, expression(reader, Rule::AtExpression));
      return true;
    case 0x11:  // DW_CFA_offset_extended_sf
      r = reader.uleb();
      setOffset(r, Rule::At, scaled(uint64_t(reader.sleb())));
      return true;
    case 0x12:  // DW_CFA_def_cfa_sf
      setCfa(reader.uleb());
      rules_.cfaOffset = scaled(uint64_t(reader.sleb()));
      return true;
    case 0x13:  // DW_CFA_def_cfa_offset_sf
      rules_.cfaOffset = scaled(uint64_t(reader.sleb()));
      return true;
    case 0x14:  // DW_CFA_val_offset
      r = reader.uleb();
      setOffset(r, Rule::Is, scaled(reader.uleb()));
      return true;
    case 0x15:  // DW_CFA_val_offset_sf
      r = reader.uleb();
      setOffset(r, Rule::Is, scaled(uint64_t(reader.sleb())));
      return true;
    case 0x16:  // DW_CFA_val_expression
      r = reader.uleb();
      set(r, expression(reader, Rule::IsExpression));
      return true;
    case 0x2e:  // DW_CFA_GNU_args_size: pushed arguments, for exceptions only
      reader.uleb();
      return true;
    case 0x2f:  // DW_CFA_GNU_negative_offset_extended
      r = reader.uleb();
      setOffset(r, Rule::At, int64_t(0 - uint64_t(scaled(reader.uleb()))));
      return true;
    default:
      return false;
  }
}

// The stack machine of expressions.
class Expression {
 public:
  Expression(const Rule& rule, const Frame& frame, const StackBounds& stack)
      : begin_(rule.expression), reader_{rule.expression, rule.expression + rule.size}, frame_(frame), memory_(stack) {}

  void push(uint64_t value) {
    if (depth_ == kMaxDepth)
      reader_.fail();
    else
      values_[depth_++] = value;
  }

  bool evaluate(uintptr_t& result) {
    // An expression may jump back.
    for (int steps = 0; reader_.at < reader_.end; ++steps)
      if (steps == kMaxSteps || !operation()) return false;
    result = pop();
    return reader_.sound;
  }

 private:
  static constexpr int kMaxDepth = 32;
  static constexpr int kMaxSteps = 256;

  uint64_t pop() {
    if (depth_ == 0) {
      reader_.fail();
      return 0;
    }
    return values_[--depth_];
  }
  void pick(uint64_t n) {
    if (n >= uint64_t(depth_))
      reader_.fail();
    else
      push(values_[depth_ - 1 - int(n)]);
  }
  void pushRegister(uint64_t dwarf, uint64_t offset) {
    FrameRegister r = registerOf(dwarf);
    if (r == kLostRegister)
      reader_.fail();
    else
      push(frame_.*kFrameFields[r] + offset);
  }
  void load(uint64_t size) {
    uint64_t value = 0;
    if (size > sizeof value || !memory_.read(pop(), &value, size)) reader_.fail();
    push(value);
  }
  void jump(int64_t distance) {
    int64_t target = (reader_.at - begin_) + distance;
    if (target < 0 || target > reader_.end - begin_)
      reader_.fail();
    else
      reader_.at = begin_ + target;
  }
  bool operation();
  bool binary(uint8_t code);

  const uint8_t* begin_;
  Reader reader_;
  const Frame& frame_;
  const StackBounds& memory_;
  uint64_t values_[kMaxDepth];
  int depth_ = 0;
};

bool Expression::operation() {
  auto code = reader_.take<uint8_t>();
  if (code >= 0x30 && code <= 0x4f) {  // DW_OP_lit0...
    push(code - 0x30u);
    return true;
  }
  if (code >= 0x70 && code <= 0x8f) {  // DW_OP_breg0...
    pushRegister(code - 0x70u, uint64_t(reader_.sleb()));
    return true;
  }
  switch (code) {
    case 0x03:  // DW_OP_addr
    case 0x0e:  // DW_OP_const8u
    case 0x0f:  // DW_OP_const8s
      push(reader_.take<uint64_t>());
      return true;
    case 0x06:  // DW_OP_deref
      load(8);
      return true;
    case 0x08:  // DW_OP_const1u
      push(reader_.take<uint8_t>());
      return true;
    case 0x09:  // DW_OP_const1s
      push(uint64_t(int64_t(reader_.take<int8_t>())));
      return true;
    case 0x0a:  // DW_OP_const2u
      push(reader_.take<uint16_t>());
      return true;
    case 0x0b:  // DW_OP_const2s
      push(uint64_t(int64_t(reader_.take<int16_t>())));
      return true;
    case 0x0c:  // DW_OP_const4u
      push(reader_.take<uint32_t>());
      return true;
    case 0x0d:  // DW_OP_const4s
      push(uint64_t(int64_t(reader_.take<int32_t>())));
      return true;
    case 0x10:  // DW_OP_constu
      push(reader_.uleb());
      return true;
    case 0x11:  // DW_OP_consts
      push(uint64_t(reader_.sleb()));
      return true;
    case 0x12:  // DW_OP_dup
      pick(0);
      return true;
    case 0x13:  // DW_OP_drop
      pop();
      return true;
    case 0x14:  // DW_OP_over
      pick(1);
      return true;
    case 0x15:  // DW_OP_pick
      pick(reader_.take<uint8_t>());
      return true;
    case 0x16: {  // DW_OP_swap
      uint64_t first = pop();
      uint64_t second = pop();
      push(first);
      push(second);
      return true;
    }
    case 0x17: {  // DW_OP_rot
      uint64_t first = pop();
      uint64_t second = pop();
      uint64_t third = pop();
      push(first);
      push(third);
      push(second);
      return true;
    }
    case 0x19: {  // DW_OP_abs
      uint64_t value = pop();
      push(int64_t(value) < 0 ? 0 - value : value);
      return true;
    }
    case 0x1f:  // DW_OP_neg
      push(0 - pop());
      return true;
    case 0x20:  // DW_OP_not
      push(~pop());
      return true;
    case 0x23: {  // DW_OP_plus_uconst
      uint64_t value = pop();
      push(value + reader_.uleb());
      return true;
    }
    case 0x28: {  // DW_OP_bra
      auto distance = reader_.take<int16_t>();
      if (pop() != 0) jump(distance);
      return true;
    }
    case 0x2f:  // DW_OP_skip
      jump(reader_.take<int16_t>());
      return true;
    case 0x92: {  // DW_OP_bregx
      uint64_t r = reader_.uleb();
      pushRegister(r, uint64_t(reader_.sleb()));
      return true;
    }
    case 0x94:  // DW_OP_deref_size
      load(reader_.take<uint8_t>());
      return true;
    case 0x96:  // DW_OP_nop
      return true;
    default:
      return binary(code);
  }
}

bool Expression::binary(uint8_t code) {
  uint64_t b = pop();
  uint64_t a = pop();
  auto sa = int64_t(a);
  auto sb = int64_t(b);
  switch (code) {
    case 0x1a:  // DW_OP_and
      push(a & b);
      return true;
    case 0x1b:  // DW_OP_div
      if (b == 0) return false;
      push(sb == -1 ? 0 - a : uint64_t(sa / sb));
      return true;
    case 0x1c:  // DW_OP_minus
      push(a - b);
      return true;
    case 0x1d:  // DW_OP_mod
      if (b == 0) return false;
      push(a % b);
      return true;
    case 0x1e:  // DW_OP_mul
      push(a * b);
      return true;
    case 0x21:  // DW_OP_or
      push(a | b);
      return true;
    case 0x22:  // DW_OP_plus
      push(a + b);
      return true;
    case 0x24:  // DW_OP_shl
      push(b < 64 ? a << b : 0);
      return true;
    case 0x25:  // DW_OP_shr
      push(b < 64 ? a >> b : 0);
      return true;
    case 0x26:  // DW_OP_shra
      push(uint64_t(sa >> (b < 64 ? b : 63)));
      return true;
    case 0x27:  // DW_OP_xor
      push(a ^ b);
      return true;
    case 0x29:  // DW_OP_eq
      push(a == b);
      return true;
    case 0x2a:  // DW_OP_ge
      push(sa >= sb);
      return true;
    case 0x2b:  // DW_OP_gt
      push(sa > sb);
      return true;
    case 0x2c:  // DW_OP_le
      push(sa <= sb);
      return true;
    case 0x2d:  // DW_OP_lt
      push(sa < sb);
      return true;
    case 0x2e:  // DW_OP_ne
      push(a != b);
      return true;
    default:
      return false;
  }
}

bool cfaOf(const FrameRules& rules, const Frame& callee, const StackBounds& stack, uintptr_t& cfa) {
  if (rules.cfa.kind == Rule::IsExpression) return Expression(rules.cfa, callee, stack).evaluate(cfa);
  if (rules.cfa.kind != Rule::Register || rules.cfa.other == kLostRegister) return false;
  cfa = callee.*kFrameFields[rules.cfa.other] + uint64_t(rules.cfaOffset);
  return true;
}

bool valueOf(const Rule& rule, uintptr_t cfa, const Frame& callee, const StackBounds& stack, uintptr_t& value) {
  switch (rule.kind) {
    case Rule::Same:
    case Rule::Undefined:
      return true;
    case Rule::At:
      return stack.read(cfa + uint64_t(rule.offset), &value, sizeof value);
    case Rule::Is:
      value = cfa + uint64_t(rule.offset);
      return true;
    case Rule::Register:
      if (rule.other == kLostRegister) return false;
      value = callee.*kFrameFields[rule.other];
      return true;
    case Rule::AtExpression:
    case Rule::IsExpression: {
      Expression expression(rule, callee, stack);
      expression.push(cfa);
      uintptr_t result = 0;
      if (!expression.evaluate(result)) return false;
      if (rule.kind == Rule::AtExpression) return stack.read(result, &value, sizeof value);
      value = result;
      return true;
    }
  }
  return false;
}

}  // namespace

bool rulesAt(const FrameEntry& entry, uintptr_t pc, FrameRules& rules) {
  rules = {};
  Rows rows(entry, pc, rules);
  if (!rows.run(entry.common, nullptr)) return false;
  FrameRules initial = rules;
  return rows.run(entry.own, &initial);
}

bool applyRules(const FrameRules& rules, const Frame& callee, const StackBounds& stack, Frame& caller) {
  uintptr_t cfa = 0;
  if (!cfaOf(rules, callee, stack, cfa)) return false;
  caller = callee;
  caller.sp = cfa;
  for (int r = 0; r < kFrameRegisters; ++r)
    if (!valueOf(rules.registers[r], cfa, callee, stack, caller.*kFrameFields[r])) return false;
  return true;
}

}  // namespace blackout::rt
