#include "pass/assembly.h"

#include <optional>
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
  bool indirect = false;
  bool output = false;
};

std::vector<Operand> operandsOf(const CallBase& call, const InlineAsm& assembly) {
  std::vector<Operand> operands;
  int argument = 0;
  for (const InlineAsm::ConstraintInfo& c : assembly.ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber || c.Type == InlineAsm::isLabel) continue;
    Operand o;
    o.output = c.Type == InlineAsm::isOutput;
    o.indirect = c.isIndirect;
    if (c.hasArg()) o.argument = argument++;
    operands.push_back(o);
  }
  // A direct output that an input is tied to ("+r") has that input's value before the statement.
  std::size_t index = 0;
  for (const InlineAsm::ConstraintInfo& c : assembly.ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber || c.Type == InlineAsm::isLabel) continue;
    if (c.Type == InlineAsm::isOutput && c.hasMatchingInput() && operands[index].argument < 0) {
      auto tied = static_cast<std::size_t>(c.MatchingInput);
      if (tied < operands.size()) operands[index].argument = operands[tied].argument;
    }
    ++index;
  }
  return operands;
}

struct MemoryOperand {
  int operand = -1;
  std::int64_t offset = 0;
  bool plain = false;  // "$0", not "8($0)"
};

// "$0", "${0:a}", "8($1)", "($1)": the operand it goes through.
std::optional<MemoryOperand> memoryOperand(StringRef text) {
  text = text.trim();
  MemoryOperand m;
  auto number = [](StringRef t) -> int {
    if (!t.consume_front("$")) return -1;
    bool braced = t.consume_front("{");
    unsigned n = 0;
    if (t.consumeInteger(10, n)) return -1;
    if (braced && !t.contains('}')) return -1;
    return static_cast<int>(n);
  };
  std::size_t open = text.find('(');
  if (open == StringRef::npos) {
    m.operand = number(text);
    m.plain = true;
  } else {
    StringRef displacement = text.take_front(open).trim();
    if (!displacement.empty() && displacement.getAsInteger(0, m.offset)) return std::nullopt;
    StringRef inner = text.drop_front(open + 1);
    inner = inner.take_until([](char c) { return c == ')' || c == ','; });
    m.operand = number(inner.trim());
  }
  if (m.operand < 0) return std::nullopt;
  return m;
}

// Operands of a statement, split at commas outside parentheses.
SmallVector<StringRef, 4> splitOperands(StringRef text) {
  SmallVector<StringRef, 4> result;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == '}') --depth;
    if (text[i] == ',' && depth == 0) {
      result.push_back(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  StringRef last = text.drop_front(from).trim();
  if (!last.empty()) result.push_back(last);
  return result;
}

// Bytes that a non-temporal store writes, by mnemonic and register; 0: by the operand's type.
std::uint64_t ntSize(StringRef mnemonic, StringRef from) {
  if (mnemonic == "movdir64b") return 64;
  if (mnemonic == "movdiri" || mnemonic == "movnti") return 0;
  if (mnemonic.ends_with("q") && mnemonic == "movntiq") return 8;
  if (mnemonic == "movntil") return 4;
  if (mnemonic == "movntq") return 8;
  if (from.contains("zmm")) return 64;
  if (from.contains("ymm")) return 32;
  return 16;
}

}  // namespace

AsmMeaning readAssembly(const CallBase& call) {
  AsmMeaning meaning;
  const auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  std::string text = StringRef(assembly->getAsmString()).lower();
  StringRef all(text);
  std::vector<Operand> operands = operandsOf(call, *assembly);
  const DataLayout& dl = call.getModule()->getDataLayout();

  // Valgrind's request: four rotations of rdi that do nothing, then xchg rbx, rbx.
  if (all.contains("rolq $$61") && all.contains("rolq $$51") && all.contains("xchgq %rbx,%rbx")) {
    meaning.clientRequest = call.arg_size() == 2;
    return meaning;
  }

  auto resolve = [&](AsmEffect effect, std::optional<MemoryOperand> m) {
    if (!m || m->operand >= static_cast<int>(operands.size()) || operands[static_cast<std::size_t>(m->operand)].argument < 0) {
      meaning.unresolved = true;
      return;
    }
    const Operand& o = operands[static_cast<std::size_t>(m->operand)];
    if (m->plain && !o.indirect) {
      meaning.unresolved = true;  // a register, not memory
      return;
    }
    effect.argument = o.argument;
    effect.offset = m->offset;
    effect.indirect = o.indirect;
    if (effect.size == 0 && o.indirect)
      if (Type* t = call.getParamElementType(static_cast<unsigned>(o.argument))) effect.size = dl.getTypeStoreSize(t);
    meaning.effects.push_back(effect);
  };
  auto plain = [&](blackout_site_kind kind) { meaning.effects.push_back({kind, -1, 0, 0, false}); };

  bool prefix66 = false;  // ".byte 0x66" before the statement
  bool locked = false;
  std::size_t explained = 0;  // statements whose stores are accounted for
  SmallVector<StringRef, 8> statements;
  all.split(statements, '\n');
  SmallVector<StringRef, 8> pieces;
  for (StringRef s : statements) s.split(pieces, ';');
  for (StringRef piece : pieces) {
    piece = piece.trim();
    if (piece.empty()) continue;
    if (piece.starts_with(".byte")) {
      StringRef bytes = piece.drop_front(5).trim();
      prefix66 = bytes == "0x66" || bytes == "102";
      continue;
    }
    auto [mnemonic, rest] = piece.split(' ');
    if (mnemonic.contains('\t')) std::tie(mnemonic, rest) = piece.split('\t');
    rest = rest.trim();
    if (mnemonic == "lock") {
      locked = true;
      if (rest.empty()) continue;
      std::tie(mnemonic, rest) = rest.split(' ');
      rest = rest.trim();
    }
    if (mnemonic == "data16" && !rest.empty()) {
      prefix66 = true;
      std::tie(mnemonic, rest) = rest.split(' ');
      rest = rest.trim();
    }
    SmallVector<StringRef, 4> args = splitOperands(rest);
    StringRef target = args.empty() ? StringRef() : args.back();
    bool swap = (mnemonic == "xchg" || mnemonic == "xchgq" || mnemonic == "xchgl" || mnemonic == "xchgb" ||
                 mnemonic == "xchgw");
    if (mnemonic == "clflush") {
      resolve({prefix66 ? BLACKOUT_SITE_Clflushopt : BLACKOUT_SITE_Clflush}, memoryOperand(target));
    } else if (mnemonic == "clflushopt") {
      resolve({BLACKOUT_SITE_Clflushopt}, memoryOperand(target));
    } else if (mnemonic == "clwb" || (mnemonic == "xsaveopt" && prefix66)) {
      resolve({BLACKOUT_SITE_Clwb}, memoryOperand(target));
    } else if (mnemonic == "sfence") {
      plain(BLACKOUT_SITE_Sfence);
    } else if (mnemonic == "mfence") {
      plain(BLACKOUT_SITE_Mfence);
    } else if (mnemonic == "lfence") {
      plain(BLACKOUT_SITE_Lfence);
    } else if (mnemonic.starts_with("movnt") || mnemonic.starts_with("vmovnt") || mnemonic.starts_with("movdir")) {
      if (mnemonic.contains("movntdqa")) continue;  // a load
      AsmEffect store{BLACKOUT_SITE_StoreNt, -1, 0, ntSize(mnemonic, args.empty() ? StringRef() : args[0]), false};
      if (mnemonic == "movnti" && store.size == 0) {
        // movnti %r, off($1): the width of the register operand, if it is one of ours.
        auto from = args.empty() ? std::nullopt : memoryOperand(args[0]);
        if (from && from->operand < static_cast<int>(operands.size()) &&
            operands[static_cast<std::size_t>(from->operand)].argument >= 0) {
          auto argument = static_cast<unsigned>(operands[static_cast<std::size_t>(from->operand)].argument);
          store.size = dl.getTypeStoreSize(call.getArgOperand(argument)->getType());
        } else if (!args.empty() && args[0].starts_with("%")) {
          store.size = args[0].starts_with("%e") ? 4 : 8;
        }
      }
      resolve(store, memoryOperand(target));
      ++explained;
    } else if (locked || swap) {
      // The memory operand is the last one, or for xchg either.
      auto memory = memoryOperand(target);
      if (swap && args.size() == 2) {
        auto first = memoryOperand(args[0]);
        auto isMemory = [&](const std::optional<MemoryOperand>& m) {
          return m && m->operand < static_cast<int>(operands.size()) &&
                 (!m->plain || operands[static_cast<std::size_t>(m->operand)].indirect);
        };
        if (!isMemory(memory) && isMemory(first)) memory = first;
        if (!isMemory(memory)) continue;  // two registers
      }
      bool wasUnresolved = meaning.unresolved;
      std::size_t before = meaning.effects.size();
      resolve({BLACKOUT_SITE_Rmw}, memory);
      // "lock; addl $0,(%rsp)": on the stack, a fence and nothing else.
      if (meaning.effects.size() == before) {
        meaning.unresolved = wasUnresolved;
        plain(BLACKOUT_SITE_Rmw);
      }
      ++explained;
    }
    prefix66 = locked = false;
  }
  // Memory outputs that no statement above explains are stores.
  if (explained == 0) {
    bool flushes = !meaning.effects.empty();
    for (const Operand& o : operands) {
      if (!o.output || !o.indirect || o.argument < 0 || flushes) continue;
      Type* t = call.getParamElementType(static_cast<unsigned>(o.argument));
      if (t == nullptr) continue;
      meaning.effects.push_back({BLACKOUT_SITE_Store, o.argument, 0, dl.getTypeStoreSize(t), true});
    }
  }
  return meaning;
}

}  // namespace blackout
