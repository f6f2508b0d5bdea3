#include "ir/assembly.h"

#include <optional>
#include <set>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace blackout {

namespace {

// An operand "$N" of the assembly string.
struct Operand {
  int argument = -1;
  bool indirect = false;  // "*m": the argument is the address
  bool output = false;
  bool tied = false;  // an input that repeats an output ("+m"): the same memory
  std::string reg;    // "di" of "{di}"
};

std::vector<Operand> operandsOf(const InlineAsm& assembly) {
  std::vector<Operand> operands;
  InlineAsm::ConstraintInfoVector constraints = assembly.ParseConstraints();
  int argument = 0;
  for (const InlineAsm::ConstraintInfo& c : constraints) {
    if (c.Type == InlineAsm::isClobber || c.Type == InlineAsm::isLabel) continue;
    Operand o;
    o.output = c.Type == InlineAsm::isOutput;
    o.indirect = c.isIndirect;
    if (c.hasArg()) o.argument = argument++;
    if (c.Codes.size() == 1 && StringRef(c.Codes[0]).starts_with("{"))
      o.reg = StringRef(c.Codes[0]).drop_front().drop_back();
    operands.push_back(o);
  }
  // A direct output that an input is tied to ("+r") has that input's value before the statement.
  for (std::size_t n = 0; n < operands.size(); ++n) {
    const InlineAsm::ConstraintInfo& c = constraints[n];
    if (c.Type != InlineAsm::isOutput || !c.hasMatchingInput()) continue;
    auto tied = static_cast<std::size_t>(c.MatchingInput);
    if (tied >= operands.size()) continue;
    operands[tied].tied = true;
    if (operands[tied].reg.empty()) operands[tied].reg = operands[n].reg;
    if (operands[n].argument < 0) operands[n].argument = operands[tied].argument;
  }
  return operands;
}

// clang writes "{att|intel}" as "$(att$|intel$)": the one of the string's own dialect.
std::string chooseDialect(StringRef text, bool intel) {
  std::string out;
  int variant = -1;  // inside an alternative
  while (!text.empty()) {
    if (text.consume_front("$$")) {
      out += "$$";
    } else if (text.consume_front("$(")) {
      variant = 0;
    } else if (variant >= 0 && text.consume_front("$|")) {
      ++variant;
    } else if (variant >= 0 && text.consume_front("$)")) {
      variant = -1;
    } else {
      if (variant < 0 || variant == (intel ? 1 : 0)) out += text.front();
      text = text.drop_front();
    }
  }
  return out;
}

// "rdi", "edi", "%rdi" name the register that a constraint "{di}" pins.
StringRef pinnedName(StringRef reg) {
  reg.consume_front("%");
  if (reg.size() == 3 && (reg[0] == 'r' || reg[0] == 'e')) return reg.drop_front();
  return reg;
}

// One memory operand of a statement.
struct Memory {
  int base = -1;  // operand numbers
  int index = -1;
  std::int64_t scale = 1;
  std::int64_t offset = 0;
  bool plain = false;  // "$0" itself: memory only if the operand is
};

class Reader {
 public:
  explicit Reader(const CallBase& call)
      : call_(call),
        assembly_(*cast<InlineAsm>(call.getCalledOperand())),
        dl_(call.getModule()->getDataLayout()),
        intel_(assembly_.getDialect() == InlineAsm::AD_Intel),
        operands_(operandsOf(assembly_)) {}

  AsmMeaning read() {
    std::string text = chooseDialect(assembly_.getAsmString(), intel_);
    for (char& c : text) c = c == '\t' ? ' ' : toLower(c);
    StringRef all(text);
    // Valgrind's request: four rotations of rdi that do nothing, then xchg rbx, rbx.
    if (all.contains("rolq $$61") && all.contains("rolq $$51") && all.contains("xchgq %rbx,%rbx")) {
      meaning_.clientRequest = call_.arg_size() == 2;
      return meaning_;
    }
    SmallVector<StringRef, 8> lines, pieces;
    all.split(lines, '\n');
    for (StringRef l : lines) l.take_until([](char c) { return c == '#'; }).split(pieces, ';');
    for (StringRef piece : pieces)
      if (isBackwardBranch(piece.trim())) loops_ = true;
    for (StringRef piece : pieces) statement(piece.trim());
    unnamedOutputs();
    keepOrder();
    return meaning_;
  }

 private:
  // "jnz 1b" runs the statements before it again, with other registers each time.
  static bool isBackwardBranch(StringRef s) {
    if (s.starts_with("loop")) return true;
    return s.starts_with("j") && s.ends_with("b") && s.size() > 2 && isDigit(s[s.size() - 2]);
  }

  void statement(StringRef s) {
    // A label.
    for (std::size_t colon = s.find(':');
         colon != StringRef::npos && s.take_front(colon).find_first_of(" %$(,[") == StringRef::npos;
         colon = s.find(':'))
      s = s.drop_front(colon + 1).trim();
    if (s.empty()) return;
    if (isMachineCode(s)) {
      StringRef bytes = s.drop_while([](char c) { return c != ' '; }).trim();
      prefix66_ = bytes == "0x66" || bytes == "102";
      if (!prefix66_) storesUnknown();
      // Machine code of the group that fences and flushes are in.
      if (bytes.contains("0xae") || bytes.contains("174")) meaning_.unseen = true;
      return;
    }
    auto [mnemonic, rest] = s.split(' ');
    bool rep = false;
    for (;;) {
      rest = rest.trim();
      if (mnemonic == "lock")
        locked_ = true;
      else if (mnemonic == "data16")
        prefix66_ = true;
      else if (mnemonic == "rep" || mnemonic == "rex64" || mnemonic == "notrack")
        rep |= mnemonic == "rep";
      else
        break;
      rep_ |= rep;
      if (rest.empty()) return;  // "lock; addl": a prefix alone
      std::tie(mnemonic, rest) = rest.split(' ');
    }
    SmallVector<StringRef, 4> args = splitOperands(rest);
    instruction(mnemonic, args);
    prefix66_ = locked_ = rep_ = false;
  }

  void instruction(StringRef mnemonic, ArrayRef<StringRef> args) {
    StringRef target = args.empty() ? StringRef() : intel_ ? args.front() : args.back();
    StringRef source = args.size() < 2 ? StringRef() : intel_ ? args[1] : args.front();
    if (mnemonic == "clflush") return flush(prefix66_ ? BLACKOUT_SITE_Clflushopt : BLACKOUT_SITE_Clflush, target);
    if (mnemonic == "clflushopt") return flush(BLACKOUT_SITE_Clflushopt, target);
    if (mnemonic == "clwb" || (mnemonic == "xsaveopt" && prefix66_)) return flush(BLACKOUT_SITE_Clwb, target);
    if (mnemonic == "sfence") return plain(BLACKOUT_SITE_Sfence);
    if (mnemonic == "mfence") return plain(BLACKOUT_SITE_Mfence);
    if (mnemonic == "lfence") return plain(BLACKOUT_SITE_Lfence);
    if (mnemonic == "std" || mnemonic == "cld") {
      backwards_ = mnemonic == "std";
      return;
    }
    if (isBitString(mnemonic, source))
      if (std::optional<Memory> memory = memoryOf(target); memory && isMemory(*memory)) return elsewhere(memory);
    bool nonTemporal = mnemonic.starts_with("movnt") || mnemonic.starts_with("vmovnt");
    if (mnemonic.contains("movntdqa")) return;  // a load
    if (nonTemporal || mnemonic == "movdiri" || mnemonic == "movdir64b") {
      std::uint64_t size = mnemonic == "movdir64b" ? 64 : ntSize(mnemonic, source);
      // movdir64b names its destination by a register that holds the address.
      std::optional<Memory> memory = memoryOf(target);
      if (mnemonic == "movdir64b" && memory && memory->plain) memory->plain = false;
      return access(BLACKOUT_SITE_StoreNt, memory, size);
    }
    bool swap = family(mnemonic, "xchg");
    if (locked_ || swap) return lockedAccess(mnemonic, args, target, source, swap);
    if (mnemonic.starts_with("movs") || mnemonic.starts_with("stos"))
      if (args.empty() || rep_) return stringStore(mnemonic);
    if (isLoadOnly(mnemonic)) return readsOf(args);
    opaque_ = true;
    // What is left writes its last operand (AT&T); a register among ours has another value after it.
    std::optional<Memory> memory = memoryOf(target);
    if (!memory) {
      bool inMemory = target.contains('(') || target.contains('[');
      if (storesAtARegister(mnemonic) || (inMemory && !isStack(target))) storesUnknown();
      return;
    }
    if (isMemory(*memory)) {
      bool moves = mnemonic.starts_with("mov") || mnemonic.starts_with("vmov");
      access(BLACKOUT_SITE_Store, memory, sizeOf(mnemonic, moves || args.size() == 2 ? source : StringRef(), *memory));
    } else {
      changed_.insert(memory->base);
    }
  }

  // "$0", "8$0", "${0:a}", "8($1)", "($1,$2,8)", "[$0 + 8]".
  std::optional<Memory> memoryOf(StringRef text) const {
    text = text.trim();
    Memory m;
    if (intel_) {
      if (std::size_t at = text.find(" ptr "); at != StringRef::npos) text = text.drop_front(at + 5).trim();
      if (text.consume_front("[")) {
        if (!text.consume_back("]")) return std::nullopt;
        auto [base, offset] = text.split('+');
        m.base = operandNumber(base.trim());
        if (!offset.trim().empty() && offset.trim().getAsInteger(0, m.offset)) return std::nullopt;
        return m.base < 0 ? std::nullopt : std::optional(m);
      }
    }
    std::size_t open = text.find('(');
    if (open == StringRef::npos) {
      StringRef digits = text.take_until([](char c) { return c == '$'; });
      StringRef operand = text.drop_front(digits.size());
      StringRef displacement = digits.trim().rtrim('+').trim();
      if (!displacement.empty() && displacement.getAsInteger(0, m.offset)) return std::nullopt;
      m.base = operandNumber(digits.empty() ? text : operand);
      m.plain = !operand.contains(":a}");  // the modifier that makes memory of a register
      if (operand.contains(":h}")) m.offset += 8;
    } else {
      StringRef displacement = text.take_front(open).trim();
      if (!displacement.empty() && displacement.getAsInteger(0, m.offset)) return std::nullopt;
      StringRef inner = text.drop_front(open + 1).take_until([](char c) { return c == ')'; });
      SmallVector<StringRef, 3> parts;
      inner.split(parts, ',');
      m.base = operandNumber(parts[0].trim());
      if (parts.size() > 1) {
        m.index = operandNumber(parts[1].trim());
        if (m.index < 0) return std::nullopt;
      }
      if (parts.size() > 2 && parts[2].trim().getAsInteger(0, m.scale)) return std::nullopt;
    }
    return m.base < 0 ? std::nullopt : std::optional(m);
  }

  // "$0", "${0:q}", or the name of a register that one of the operands is pinned to.
  int operandNumber(StringRef t) const {
    if (t.consume_front("$")) {
      bool braced = t.consume_front("{");
      unsigned n = 0;
      if (t.consumeInteger(10, n) || (braced && !t.contains('}'))) return -1;
      return n < operands_.size() ? static_cast<int>(n) : -1;
    }
    StringRef name = pinnedName(t);
    for (std::size_t n = 0; n < operands_.size(); ++n)
      if (!name.empty() && operands_[n].reg == name && operands_[n].argument >= 0) return static_cast<int>(n);
    return -1;
  }

  const Operand& operand(int n) const { return operands_[static_cast<std::size_t>(n)]; }
  bool isMemory(const Memory& m) const { return !m.plain || operand(m.base).indirect; }

  // Operands of a statement, split at commas outside parentheses.
  static SmallVector<StringRef, 4> splitOperands(StringRef text) {
    SmallVector<StringRef, 4> result;
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (StringRef("({[").contains(text[i])) ++depth;
      if (StringRef(")}]").contains(text[i])) --depth;
      if (text[i] == ',' && depth == 0) {
        result.push_back(text.slice(from, i).trim());
        from = i + 1;
      }
    }
    StringRef last = text.drop_front(from).trim();
    if (!last.empty()) result.push_back(last);
    return result;
  }

  // "xaddq" is of the family "xadd".
  static bool family(StringRef mnemonic, StringRef name) {
    if (!mnemonic.consume_front(name)) return false;
    return mnemonic.empty() || mnemonic == "b" || mnemonic == "w" || mnemonic == "l" || mnemonic == "q";
  }
  static std::uint64_t suffixSize(StringRef mnemonic) {
    for (StringRef name : {"cmpxchg", "xchg", "xadd", "add", "sub", "and", "or",  "xor", "inc",    "dec",
                           "not",     "neg",  "bts",  "btr", "btc", "adc", "sbb", "mov", "movnti", "set"})
      if (family(mnemonic, name) && mnemonic.size() == name.size() + 1)
        return mnemonic.ends_with("b") ? 1 : mnemonic.ends_with("w") ? 2 : mnemonic.ends_with("l") ? 4 : 8;
    if (mnemonic == "cmpxchg8b") return 8;
    if (mnemonic == "cmpxchg16b") return 16;
    if (mnemonic.starts_with("set")) return 1;
    return 0;
  }
  // Of a register: one of ours, or by its name.
  std::uint64_t registerSize(StringRef reg) const {
    if (int n = operandNumber(reg); n >= 0 && reg.starts_with("$")) {
      const Operand& o = operand(n);
      if (o.indirect) return 0;
      if (o.argument >= 0)
        return dl_.getTypeStoreSize(call_.getArgOperand(static_cast<unsigned>(o.argument))->getType());
      return 0;
    }
    reg.consume_front("%");
    if (reg.starts_with("zmm")) return 64;
    if (reg.starts_with("ymm")) return 32;
    if (reg.starts_with("xmm")) return 16;
    if (reg.starts_with("mm")) return 8;
    if (reg.starts_with("e") || (reg.starts_with("r") && reg.ends_with("d"))) return 4;
    if (reg.starts_with("r")) return 8;
    return 0;
  }
  std::uint64_t sizeOf(StringRef mnemonic, StringRef source, const Memory& m) const {
    if (mnemonic == "movq" || mnemonic == "vmovq" || mnemonic == "movsd" || mnemonic == "vmovsd") return 8;
    if (mnemonic == "movd" || mnemonic == "vmovd" || mnemonic == "movss" || mnemonic == "vmovss") return 4;
    if (std::uint64_t size = suffixSize(mnemonic)) return size;
    if (m.plain)
      if (Type* t = call_.getParamElementType(static_cast<unsigned>(operand(m.base).argument)))
        return dl_.getTypeStoreSize(t);
    return registerSize(source);
  }
  // Bytes that a non-temporal store writes.
  std::uint64_t ntSize(StringRef mnemonic, StringRef source) const {
    if (mnemonic == "movntss") return 4;
    if (mnemonic == "movntsd" || mnemonic == "movntq") return 8;
    if (std::uint64_t size = suffixSize(mnemonic)) return size;
    if (std::uint64_t size = registerSize(source)) return size;
    return mnemonic == "movnti" || mnemonic == "movdiri" ? 8 : 16;
  }

  // What reads its only operand, and writes registers.
  static bool readsItsOperand(StringRef m) {
    for (StringRef name : {"mul", "imul", "div", "idiv", "ldmxcsr", "vldmxcsr", "xrstor", "verr", "verw", "lgdt",
                           "lidt", "invlpg", "lldt", "ltr", "lmsw"})
      if (m.starts_with(name)) return true;
    if (!m.starts_with("f")) return false;
    for (StringRef stores : {"fst", "fist", "fbst", "fsave", "fnst", "fnsave", "fxsave"})
      if (m.starts_with(stores)) return false;
    return true;
  }
  static bool isLoadOnly(StringRef m) {
    return readsItsOperand(m) || m.starts_with("cmp") || m.starts_with("test") || m.starts_with("prefetch") ||
           m.starts_with("push") || m.starts_with("call") || m.starts_with("j") || m.starts_with("ucomis") ||
           m.starts_with("comis") || m.starts_with(".") || m == "bt" || m == "btq" || m == "btl" || m == "ptest";
  }

  void plain(blackout_site_kind kind) {
    meaning_.effects.push_back({kind});
    ordered_ = true;
  }

  // Bytes of machine code, as ".byte 0x0f, 0x01, 0xfc".
  static bool isMachineCode(StringRef s) {
    for (StringRef name : {".byte ", ".word ", ".short ", ".long ", ".int ", ".quad ", ".2byte ", ".4byte ", ".8byte "})
      if (s.starts_with(name)) return true;
    return false;
  }
  // Instructions that name no memory and store all the same.
  static bool storesAtARegister(StringRef mnemonic) {
    return mnemonic == "clzero" || mnemonic.contains("maskmov") || mnemonic.starts_with("ins");
  }
  static bool isStack(StringRef target) { return target.contains("rsp") || target.contains("rip"); }

  // A statement that may store where nobody can tell.
  void storesUnknown() {
    unknown_ = true;
    storesAfterOrder_ |= ordered_;
  }

  static bool isStore(const AsmEffect& e) { return e.kind == BLACKOUT_SITE_Store || e.kind == BLACKOUT_SITE_StoreNt; }

  // Whether two stores of one string may write the same byte.
  static bool overlap(const AsmEffect& a, const AsmEffect& b) {
    if (a.argument != b.argument) return false;
    bool told = a.index < 0 && b.index < 0 && a.count < 0 && b.count < 0;
    return !told || (a.offset < b.offset + static_cast<std::int64_t>(b.size) &&
                     b.offset < a.offset + static_cast<std::int64_t>(a.size));
  }

  // What a bracketed store has made is read when the whole string is over. Where a later statement may have stored over
  // it, stores are left alone: they fault and are followed one by one. A flush or fence in front of such a store would
  // still be recorded behind it.
  void keepOrder() {
    bool again = false;
    bool any = false;
    for (std::size_t n = 0; n < meaning_.effects.size(); ++n) {
      if (!isStore(meaning_.effects[n])) continue;
      any = true;
      for (std::size_t before = 0; before < n; ++before)
        again |= isStore(meaning_.effects[before]) && overlap(meaning_.effects[before], meaning_.effects[n]);
    }
    if (!again && !(unknown_ && any)) {
      // Nothing but machine code that nobody can tell, behind a flush or fence of the same string.
      meaning_.unseen |= unknown_ && storesAfterOrder_;
      return;
    }
    meaning_.unseen |= storesAfterOrder_;
    std::erase_if(meaning_.effects, isStore);
  }

  void flush(blackout_site_kind kind, StringRef target) {
    std::optional<Memory> m = memoryOf(target);
    if (m) named_.insert(m->base);
    bool resolved = !meaning_.unresolved;
    access(kind, m, 0);
    if (resolved && meaning_.unresolved) meaning_.unseen = true;
  }

  void access(blackout_site_kind kind, std::optional<Memory> m, std::uint64_t size) {
    bool store = kind == BLACKOUT_SITE_Store || kind == BLACKOUT_SITE_StoreNt || kind == BLACKOUT_SITE_Rmw ||
                 kind == BLACKOUT_SITE_CmpXchg;
    if (!m || !isMemory(*m) || operand(m->base).argument < 0 || (store && size == 0) || (loops_ && !m->plain) ||
        changed_.count(m->base) != 0 ||
        (m->index >= 0 && (operand(m->index).argument < 0 || changed_.count(m->index) != 0))) {
      meaning_.unresolved = true;
      if (store) storesUnknown();
      return;
    }
    AsmEffect effect{kind};
    effect.argument = operand(m->base).argument;
    effect.offset = m->offset;
    if (m->index >= 0) {
      effect.index = operand(m->index).argument;
      effect.scale = m->scale;
    }
    effect.size = size;
    named_.insert(m->base);
    meaning_.effects.push_back(effect);
    if (kind == BLACKOUT_SITE_Store || kind == BLACKOUT_SITE_StoreNt)
      storesAfterOrder_ |= ordered_;
    else
      ordered_ = true;
  }

  // A bit whose number may be in a register, and then far from the address.
  static bool isBitString(StringRef mnemonic, StringRef source) {
    bool literal = source.starts_with("$$") || (!source.empty() && isDigit(source.front()));
    return !literal && (family(mnemonic, "bts") || family(mnemonic, "btr") || family(mnemonic, "btc"));
  }

  // A store whose place the operands don't tell: it is left alone, so that it faults where it is PM, and is followed.
  // What it does to the order of a locked instruction is said still.
  void elsewhere(std::optional<Memory> m) {
    if (m) named_.insert(m->base);
    storesUnknown();
    if (locked_) plain(BLACKOUT_SITE_Rmw);
  }

  void lockedAccess(StringRef mnemonic, ArrayRef<StringRef> args, StringRef target, StringRef source, bool swap) {
    // The memory operand is the target, or for xchg either.
    std::optional<Memory> memory = memoryOf(target);
    StringRef other = source;
    if (swap && args.size() == 2 && !(memory && isMemory(*memory))) {
      memory = memoryOf(source);
      other = target;
      bool stack = target.contains('(') || source.contains('(');
      if (!(memory && isMemory(*memory)) && !stack) {  // two registers
        for (StringRef a : args)
          if (std::optional<Memory> reg = memoryOf(a)) changed_.insert(reg->base);
        return;
      }
    }
    bool wasUnresolved = meaning_.unresolved;
    std::size_t before = meaning_.effects.size();
    bool compares = mnemonic.starts_with("cmpxchg");
    access(compares ? BLACKOUT_SITE_CmpXchg : BLACKOUT_SITE_Rmw, memory,
           memory && isMemory(*memory) ? sizeOf(mnemonic, other, *memory) : 0);
    // "lock; addl $0,(%rsp)": on the stack, a fence and nothing else.
    if (meaning_.effects.size() == before) {
      meaning_.unresolved = wasUnresolved || memory.has_value();
      plain(BLACKOUT_SITE_Rmw);
    }
  }

  // movs and stos write at rdi; rep does it rcx times.
  void stringStore(StringRef mnemonic) {
    std::uint64_t size = mnemonic.ends_with("b")                              ? 1
                         : mnemonic.ends_with("w")                            ? 2
                         : mnemonic.ends_with("l") || mnemonic.ends_with("d") ? 4
                                                                              : 8;
    int to = operandNumber("rdi");
    int times = rep_ ? operandNumber("rcx") : -1;
    if (to < 0 || (rep_ && times < 0)) {
      meaning_.unresolved = true;
      storesUnknown();
      return;
    }
    Memory m;
    m.base = to;
    if (backwards_) return elsewhere(m);
    std::size_t before = meaning_.effects.size();
    access(BLACKOUT_SITE_Store, m, size);
    if (meaning_.effects.size() > before && rep_) meaning_.effects.back().count = operand(times).argument;
  }

  void readsOf(ArrayRef<StringRef> args) {
    for (StringRef a : args)
      if (std::optional<Memory> m = memoryOf(a); m && m->plain && operand(m->base).indirect) named_.insert(m->base);
  }

  // A memory output that no statement names is a store if there are statements that could make it. (Flushes
  // and fences have such outputs, and empty strings, only to keep the compiler from moving things.)
  void unnamedOutputs() {
    if (!opaque_) return;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      const Operand& o = operands_[n];
      if (!o.output || !o.indirect || o.argument < 0 || named_.count(static_cast<int>(n)) != 0) continue;
      // "+m" has a second, unnamed operand for the same address, which a statement may name instead.
      bool other = false;
      for (std::size_t k = 0; k < operands_.size(); ++k)
        other |= k != n && named_.count(static_cast<int>(k)) != 0 && operands_[k].argument >= 0 &&
                 call_.getArgOperand(static_cast<unsigned>(operands_[k].argument)) ==
                     call_.getArgOperand(static_cast<unsigned>(o.argument));
      Type* t = call_.getParamElementType(static_cast<unsigned>(o.argument));
      if (other || t == nullptr || !t->isSized()) continue;
      AsmEffect effect{BLACKOUT_SITE_Store};
      effect.argument = o.argument;
      effect.size = dl_.getTypeStoreSize(t);
      meaning_.effects.push_back(effect);
    }
  }

  const CallBase& call_;
  const InlineAsm& assembly_;
  const DataLayout& dl_;
  bool intel_;
  std::vector<Operand> operands_;
  AsmMeaning meaning_;
  // Prefixes that stand before the statement, as ".byte 0x66" or "lock;" in statements of their own.
  bool prefix66_ = false;
  bool locked_ = false;
  bool rep_ = false;
  bool loops_ = false;
  bool backwards_ = false;  // std: strings go downwards
  bool opaque_ = false;     // a statement that we don't know
  bool unknown_ = false;    // a statement that may store, nobody knows where
  bool ordered_ = false;    // there was a flush, a fence or a locked instruction
  bool storesAfterOrder_ = false;
  std::set<int> named_;    // operands whose memory a recognised statement accounts for
  std::set<int> changed_;  // register operands that an earlier statement wrote
};

}  // namespace

AsmMeaning readAssembly(const CallBase& call) { return Reader(call).read(); }

}  // namespace blackout
