#include "runtime/trap/fence_search.h"

#include <string.h>

#include "runtime/trap/eh_frame.h"
#include "runtime/trap/functions.h"
#include "runtime/trap/landing_pads.h"
#include "runtime/trap/sweep.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {

namespace {

// Whether the code of a request of pmemcheck ("PC" in its upper half) occurs in a function that makes requests. It is
// an immediate: Valgrind's macros store it to a volatile array.
bool saysPmemcheck(const FunctionRange& f) {
  Decoded d;
  for (uintptr_t pc = f.begin; pc < f.end && d.at(pc, f.end); pc += d.instruction.length)
    for (const auto& immediate : d.instruction.raw.imm)
      if (immediate.size >= 32 && !immediate.is_relative && immediate.value.u >> 16 == 0x5043) return true;
  return false;
}

class Search {
 public:
  Search(const dl_phdr_info& info, FenceSearch& result)
      : info_(info), table_(frameTableOf(info)), sanitizer_(sanitizerCode(info)), result_(result) {}

  bool run();

 private:
  bool isInstrumented(const FunctionRange& f) const;
  bool searchSegment(uintptr_t begin, uintptr_t end);
  void countUnproved(uintptr_t begin, uintptr_t end);
  void countBetween(uintptr_t begin, uintptr_t end);
  FunctionRange between(uintptr_t pc);
  bool holdsCode(uintptr_t address);

  uint8_t roomAt(const Fence& fence, const FunctionRange& f);
  bool enteredOnlyByBranches(const FunctionRange& f);
  bool leadsNowhereElse(uintptr_t target);

  bool rejectEntered(uintptr_t begin, uintptr_t end);
  void reject(uintptr_t target);
  bool branches(uintptr_t from, uintptr_t to);

  const dl_phdr_info& info_;
  const FrameTable table_;
  // Its locks are none of the program's, and it runs where a breakpoint can't be handled.
  const FunctionRange sanitizer_;
  FenceSearch& result_;
  uintptr_t begin_ = 0;  // of the segment that is searched
  uintptr_t end_ = 0;
  MappedArray<FunctionRange> functions_;
  // How each of them goes on, as far as it was asked.
  enum class Known : uint8_t { Not, ByBranches, Anywhere };
  MappedArray<Known> known_;
  Sweep sweep_;
  Sweep other_;
  MappedArray<uintptr_t> pads_;
};

// The short ones need instructions behind them to move along. Nothing may enter those: no branch of the function (its
// sweep knows them), none from elsewhere (rejectEntered), no exception, and no jump whose target isn't known.
uint8_t Search::roomAt(const Fence& fence, const FunctionRange& f) {
  Decoded d;
  uintptr_t at = fence.pc + fence.length;
  while (at - fence.pc < kJumpLength) {
    if (at >= f.end || sweep_.targets.get(at) || isRequest(at, f.end)) return fence.length;
    for (uintptr_t pad : pads_)
      if (pad == at) return fence.length;
    if (!d.at(at, f.end) || !movable(d)) return fence.length;
    at += d.instruction.length;
  }
  return uint8_t(at - fence.pc);
}

// A function can be in two parts, which jump into each other: the other part's unknown jumps count, too.
bool Search::enteredOnlyByBranches(const FunctionRange& f) {
  pads_.shrink(0);
  auto note = [](uintptr_t pad, void* pads) { return static_cast<MappedArray<uintptr_t>*>(pads)->push(pad); };
  if (sweep_.jumpsAnywhere || !forEachLandingPad(info_, table_, f.begin, note, &pads_)) return false;
  for (uintptr_t pad : pads_)
    if ((pad < f.begin || pad >= f.end) && !leadsNowhereElse(pad)) return false;
  for (uintptr_t target : sweep_.outside)
    if (!leadsNowhereElse(target)) return false;
  return true;
}

bool Search::leadsNowhereElse(uintptr_t target) {
  const FunctionRange* part = functionAt(functions_, target);
  if (part != nullptr) {
    Known& known = known_[size_t(part - functions_.begin())];
    if (known == Known::Not) known = other_.over(*part) && !other_.jumpsAnywhere ? Known::ByBranches : Known::Anywhere;
    return known == Known::ByBranches;
  }
  // Linkers that write no unwind tables for .plt: a jump through a table of addresses.
  if (!holdsCode(target)) return false;
  Decoded d;
  uintptr_t end = target + 16;
  if (!d.at(target, end)) return false;
  if (d.instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR64 && !d.at(target + d.instruction.length, end)) return false;
  return d.instruction.mnemonic == ZYDIS_MNEMONIC_JMP && d.relativeTo(ZYDIS_REGISTER_RIP);
}

bool Search::holdsCode(uintptr_t address) {
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info_.dlpi_phdr[i];
    uintptr_t begin = info_.dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0 && address >= begin && address + 16 <= begin + p.p_filesz)
      return true;
  }
  return false;
}

// Where nothing is proved, bytes count if they are a fence, a flush, a request or a locked instruction by themselves.
// For xchg, of two bytes and without a prefix, that would say nothing.
void Search::countUnproved(uintptr_t begin, uintptr_t end) {
  Decoded d;
  for (uintptr_t p = begin; p < end; ++p) {
    uint8_t b = *bytesAt(p);
    if (isRequest(p, end)) ++result_.unproved;
    if ((b != 0x0f && b != 0xf0) || !looksLikeFence(bytesAt(p), bytesAt(end))) continue;
    uintptr_t pc = p;
    if (b == 0x0f) {
      if (pc > begin && (bytesAt(pc)[-1] & 0xf0) == 0x40) --pc;
      if (pc > begin && bytesAt(pc)[-1] == 0x66) --pc;
    }
    if (d.at(pc, end) && fenceKind(d) != 0) ++result_.unproved;
  }
}

// Between functions lie those that have no unwind entry (the compiler's own crt files, assembly) and padding. Read from
// where the last function ends, such a stretch is code if it decodes as a function does: then bytes inside an
// instruction are not another. Nothing there is replaced: it might be data all the same.
void Search::countBetween(uintptr_t begin, uintptr_t end) {
  if (begin >= end) return;
  if (!other_.over({begin, end}))
    countUnproved(begin, end);
  else
    result_.unproved += ordering(other_.fences);
}

FunctionRange Search::between(uintptr_t pc) {
  FunctionRange gap{begin_, end_};
  for (const FunctionRange& f : functions_) {
    if (f.end <= pc && f.end > gap.begin) gap.begin = f.end;
    if (f.begin > pc && f.begin < gap.end) gap.end = f.begin;
  }
  return gap;
}

// A function that calls hooks gives them rows of the site table: an operand of one of its instructions is the address
// of a row, relative to its end or absolute.
bool Search::isInstrumented(const FunctionRange& f) const {
  if (result_.sitesBegin == result_.sitesEnd) return false;
  auto isRow = [&](uintptr_t p) {
    return p >= result_.sitesBegin && p < result_.sitesEnd && (p - result_.sitesBegin) % sizeof(blackout_site) == 0;
  };
  Decoded d;
  for (uintptr_t pc = f.begin; pc < f.end; pc += d.instruction.length) {
    if (!d.at(pc, f.end)) return false;
    if (d.relativeTo(ZYDIS_REGISTER_RIP) && isRow(pc + d.instruction.length + uintptr_t(d.instruction.raw.disp.value)))
      return true;
    for (const auto& immediate : d.instruction.raw.imm)
      if (immediate.size >= 32 && !immediate.is_relative && isRow(uintptr_t(immediate.value.u))) return true;
  }
  return false;
}

bool Search::searchSegment(uintptr_t begin, uintptr_t end) {
  size_t first = result_.found.size();
  begin_ = begin;
  end_ = end;
  uintptr_t covered = begin;
  for (const FunctionRange& f : functions_) {
    if (f.begin < begin || f.end > end) continue;
    countBetween(covered, f.begin);
    covered = f.end;
    if (f.begin >= sanitizer_.begin && f.end <= sanitizer_.end) continue;
    if (!mayHaveFences(f) || isInstrumented(f)) continue;
    if (!sweep_.over(f)) {
      countUnproved(f.begin, f.end);
      continue;
    }
    bool asked = false;
    bool movable = false;
    bool requests = false;
    for (Fence& fence : sweep_.fences) {
      if (fence.length < kJumpLength) {
        if (!asked) movable = enteredOnlyByBranches(f);
        asked = true;
        if (movable) fence.room = roomAt(fence, f);
      }
      requests = requests || fence.kind == BLACKOUT_SITE_Request;
      if (!result_.found.push(fence)) return false;
    }
    if (requests && !result_.requests) result_.requests = saysPmemcheck(f);
  }
  countBetween(covered, end);
  return first == result_.found.size() || rejectEntered(begin, end);
}

// Entries from elsewhere into the bytes that a jump overwrites: branches of a function's parts into each other, and of
// whatever is not proved; names that the file exports; places whose addresses are taken. All bytes that could be such
// an instruction are asked.
bool Search::rejectEntered(uintptr_t begin, uintptr_t end) {
  Bits overwritten;
  if (!overwritten.reset(begin, end)) return false;
  for (const Fence& fence : result_.found)
    if (fence.pc >= begin && fence.pc < end && fence.room >= kJumpLength)
      for (uintptr_t p = fence.pc + 1; p < fence.pc + fence.room; ++p) overwritten.set(p);

  auto ask = [&](uintptr_t from, uintptr_t to) {
    if (to >= begin && to < end && overwritten.get(to) && branches(from, to)) reject(to);
  };
  auto enter = [&](uintptr_t place) {
    if (place >= begin && place < end && overwritten.get(place)) reject(place);
  };
  MappedArray<uintptr_t> exported;
  if (!exportedPlaces(info_, exported)) return false;
  for (uintptr_t place : exported) enter(place);
  for (uintptr_t p = begin; p + 6 <= end; ++p) {
    const uint8_t* b = bytesAt(p);
    bool one = b[0] == 0xe8 || b[0] == 0xe9;                                               // call, jmp
    bool two = (b[0] == 0x0f && (b[1] & 0xf0) == 0x80) || (b[0] == 0xc7 && b[1] == 0xf8);  // jcc, xbegin
    bool address = b[0] == 0x8d && (b[1] & 0xc7) == 0x05;                                  // lea relative to itself
    if (!one && !two && !address) continue;
    int32_t distance;
    memcpy(&distance, b + (one ? 1 : 2), sizeof distance);
    uintptr_t target = p + (one ? 5 : 6) + uintptr_t(intptr_t(distance));
    if (address)
      enter(target);
    else
      ask(p, target);
  }
  for (const Fence& fence : result_.found) {
    if (fence.pc < begin || fence.pc >= end || fence.room < kJumpLength) continue;
    const FunctionRange* own = functionAt(functions_, fence.pc);
    uintptr_t from = fence.pc - begin > 130 ? fence.pc - 130 : begin;
    uintptr_t to = end - fence.pc > 160 ? fence.pc + 160 : end - 2;
    for (uintptr_t p = from; p < to; ++p) {
      uint8_t b = *bytesAt(p);
      bool brief = (b & 0xf0) == 0x70 || b == 0xeb || (b >= 0xe0 && b <= 0xe3);
      if (!brief || (p >= own->begin && p < own->end)) continue;
      uintptr_t target = p + 2 + uintptr_t(intptr_t(int8_t(bytesAt(p)[1])));
      if (target > fence.pc && target < fence.pc + fence.room) ask(p, target);
    }
  }
  size_t kept = 0;
  for (const Fence& fence : result_.found)
    if (fence.kind != 0) result_.found[kept++] = fence;
  result_.found.shrink(kept);
  return true;
}

// Whether the bytes are a branch in truth: unless a proof says that no instruction with this target is there.
bool Search::branches(uintptr_t from, uintptr_t to) {
  const FunctionRange* function = functionAt(functions_, from);
  FunctionRange f = function != nullptr ? *function : between(from);
  if (!other_.over(f)) return true;
  Decoded d;
  for (uintptr_t p = from; p >= f.begin && from - p < 4; --p)  // with prefixes
    if (other_.starts.get(p) && d.at(p, f.end) && d.relative() && d.target(p) == to) return true;
  return false;
}

void Search::reject(uintptr_t target) {
  for (Fence& fence : result_.found) {
    if (target <= fence.pc || target >= fence.pc + fence.room) continue;
    // Into the middle of what was proved to be one instruction: it is two things at once.
    if (target < fence.pc + fence.length) {
      result_.unproved += fence.kind != 0 && fence.kind != kPauseKind ? 1 : 0;
      fence.kind = 0;
    }
    fence.room = fence.length;
    return;
  }
}

bool Search::run() {
  if (!functionsOf(info_, table_, functions_) || !known_.zeros(functions_.size())) return false;
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info_.dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || (p.p_flags & PF_R) == 0) continue;
    uintptr_t begin = info_.dlpi_addr + p.p_vaddr;
    uintptr_t end = begin + p.p_filesz;
    // Some linkers put constants and tables into the segment of the code, before and behind it. What looks like a
    // fence there says nothing.
    auto tables = reinterpret_cast<uintptr_t>(table_.header);
    if (tables >= begin && tables < end && functions_.size() != 0) {
      begin = functions_[0].begin;
      end = functions_.end()[-1].end;
    }
    if (!searchSegment(begin, end)) return false;
  }
  return true;
}

}  // namespace

uint32_t ordering(MappedArray<Fence>& fences) {
  uint32_t n = 0;
  for (const Fence& fence : fences) n += fence.kind != kPauseKind ? 1 : 0;
  return n;
}

bool searchFences(const dl_phdr_info& info, FenceSearch& search) { return Search(info, search).run(); }

}  // namespace blackout::rt
