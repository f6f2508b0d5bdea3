#include "binary/summing_loop.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "llvm/Object/ObjectFile.h"

namespace blackout {

namespace {

// Instructions of a loop that are looked at.
constexpr unsigned kMost = 24;
// Bytes of it before the reading instruction.
constexpr std::size_t kMostBefore = 64;

ZydisRegister whole(ZydisRegister r) { return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r); }

struct Decoded {
  ZydisDecodedInstruction i;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  bool isRegister(unsigned n) const { return operands[n].type == ZYDIS_OPERAND_TYPE_REGISTER; }
  ZydisRegister reg(unsigned n) const { return operands[n].reg.value; }
  bool reads(ZydisRegister r) const {
    for (unsigned n = 0; n < i.operand_count; ++n)
      if (isRegister(n) && whole(reg(n)) == r && (operands[n].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
        return true;
    return false;
  }
  bool inMemory() const {
    for (unsigned n = 0; n < i.operand_count; ++n)
      if (operands[n].type == ZYDIS_OPERAND_TYPE_MEMORY) return true;
    return false;
  }
};

std::optional<Decoded> decode(const ZydisDecoder& decoder, std::string_view code) {
  Decoded d;
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &d.i, d.operands))) return std::nullopt;
  return d;
}

// add 32-bit register, [register + displacement]
bool addsWord(const Decoded& d) {
  const ZydisDecodedOperand& m = d.operands[1];
  return d.i.mnemonic == ZYDIS_MNEMONIC_ADD && d.i.operand_width == 32 && d.isRegister(0) &&
         m.type == ZYDIS_OPERAND_TYPE_MEMORY && m.mem.segment == ZYDIS_REGISTER_DS &&
         m.mem.index == ZYDIS_REGISTER_NONE && m.mem.base == whole(m.mem.base) && m.mem.base != ZYDIS_REGISTER_RIP &&
         m.mem.base != whole(d.reg(0));
}

// The loop around an instruction that adds a word to a sum: the sum is added to another one, the place moves on by a
// word, and all else compares and jumps without either sum.
class SummingLoop {
 public:
  explicit SummingLoop(const Decoded& reads) : sum_(whole(reads.reg(0))), place_(reads.operands[1].mem.base) {}

  bool complete() const { return sums_ != ZYDIS_REGISTER_NONE && moved_; }
  // False if it is no part of such a loop.
  bool add(const Decoded& d) {
    if (d.inMemory()) return false;
    const bool adds = d.i.mnemonic == ZYDIS_MNEMONIC_ADD && d.isRegister(0);
    if (adds && d.isRegister(1) && whole(d.reg(1)) == sum_) {
      ZydisRegister to = whole(d.reg(0));
      if (d.i.operand_width != 32 || sums_ != ZYDIS_REGISTER_NONE || to == sum_ || to == place_) return false;
      sums_ = to;
      return true;
    }
    if (adds && whole(d.reg(0)) == place_) {
      bool byAWord = d.i.operand_width == 64 && d.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                     d.operands[1].imm.value.u == sizeof(std::uint32_t);
      return byAWord && !std::exchange(moved_, true);
    }
    if (d.i.meta.category != ZYDIS_CATEGORY_COND_BR && d.i.mnemonic != ZYDIS_MNEMONIC_CMP &&
        d.i.mnemonic != ZYDIS_MNEMONIC_TEST)
      return false;
    compared_.push_back(d);
    return true;
  }
  bool sumsAreNotCompared() const {
    return std::none_of(compared_.begin(), compared_.end(),
                        [&](const Decoded& d) { return d.reads(sum_) || d.reads(sums_); });
  }

 private:
  ZydisRegister sum_, place_;
  ZydisRegister sums_ = ZYDIS_REGISTER_NONE;
  bool moved_ = false;
  std::vector<Decoded> compared_;
};

bool isFletcher(std::string_view code, std::size_t reads) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  auto first = decode(decoder, code.substr(reads));
  if (!first || !addsWord(*first)) return false;
  SummingLoop loop(*first);
  // To the jump back.
  std::size_t begin = reads + 1, at = reads + first->i.length;
  for (unsigned n = 0; begin > reads; ++n) {
    auto d = n < kMost ? decode(decoder, code.substr(std::min(at, code.size()))) : std::nullopt;
    if (!d || !loop.add(*d)) return false;
    ZyanU64 target = 0;
    if (d->i.meta.category == ZYDIS_CATEGORY_COND_BR &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&d->i, &d->operands[0], at, &target)) && target <= reads)
      begin = target;
    at += d->i.length;
  }
  // From where it leads.
  if (reads - begin > kMostBefore) return false;
  while (begin < reads) {
    auto d = decode(decoder, code.substr(begin));
    if (!d || !loop.add(*d)) return false;
    begin += d->i.length;
  }
  return begin == reads && loop.complete() && loop.sumsAreNotCompared();
}

}  // namespace

bool readsForFletcher(const std::string& path, std::uint64_t offset) {
  auto binary = llvm::object::ObjectFile::createObjectFile(path);
  if (!binary) {
    llvm::consumeError(binary.takeError());
    return false;
  }
  for (const llvm::object::SectionRef& section : binary->getBinary()->sections()) {
    if (!section.isText() || offset < section.getAddress() || offset - section.getAddress() >= section.getSize())
      continue;
    auto bytes = section.getContents();
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      return false;
    }
    return isFletcher({bytes->data(), bytes->size()}, offset - section.getAddress());
  }
  return false;
}

}  // namespace blackout
