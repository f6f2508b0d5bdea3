// Unwind tables: of every loaded program file, compared with what LLVM's reader says of the file; and made by hand,
// whole and damaged.

#include "runtime/trap/eh_frame.h"

#include <gtest/gtest.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugFrame.h>
#include <llvm/Object/ObjectFile.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <random>

#include "frame_table_bytes.h"
#include "runtime/trap/frame_rules.h"

using namespace blackout::rt;
using namespace blackout::test;

namespace {

struct Module {
  std::string path;
  std::uintptr_t base;
  FrameTable table;
};

std::vector<Module> modules() {
  std::vector<Module> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        std::string path = info->dlpi_name;
        auto& list = *static_cast<std::vector<Module>*>(out);
        if (list.empty()) path = "/proc/self/exe";
        list.push_back({path, info->dlpi_addr, frameTableOf(*info)});
        return 0;
      },
      &found);
  return found;
}

std::vector<FunctionRange> functionsOf(const FrameTable& table, bool& whole) {
  std::vector<FunctionRange> found;
  whole = forEachFunction(
      table,
      [](const FunctionRange& f, void* out) {
        static_cast<std::vector<FunctionRange>*>(out)->push_back(f);
        return true;
      },
      &found);
  return found;
}

FrameRegister frameRegister(unsigned dwarf) {
  constexpr std::pair<unsigned, FrameRegister> kNumbers[] = {{3, kRbx},  {10, kR10}, {6, kRbp},  {7, kSp}, {12, kR12},
                                                             {13, kR13}, {14, kR14}, {15, kR15}, {16, kPc}};
  for (auto [number, r] : kNumbers)
    if (number == dwarf) return r;
  return kLostRegister;
}

std::string show(const Rule& rule) {
  switch (rule.kind) {
    case Rule::Same:
      return "same";
    case Rule::Undefined:
      return "undefined";
    case Rule::At:
      return "at " + std::to_string(rule.offset);
    case Rule::Is:
      return "is " + std::to_string(rule.offset);
    case Rule::Register:
      return "register " + std::to_string(rule.other);
    case Rule::AtExpression:
      return "at expression";
    case Rule::IsExpression:
      return "is expression";
  }
  return "?";
}

std::string show(const llvm::dwarf::UnwindLocation& location) {
  using Location = llvm::dwarf::UnwindLocation;
  switch (location.getLocation()) {
    case Location::Unspecified:
    case Location::Same:
      return "same";
    case Location::Undefined:
      return "undefined";
    case Location::CFAPlusOffset:
      return (location == Location::createAtCFAPlusOffset(location.getOffset()) ? "at " : "is ") +
             std::to_string(location.getOffset());
    case Location::RegPlusOffset:
      return "register " + std::to_string(frameRegister(location.getRegister()));
    case Location::DWARFExpr:
      return location == Location::createAtDWARFExpression(*location.getDWARFExpressionBytes()) ? "at expression"
                                                                                                : "is expression";
    case Location::Constant:
      return "constant";
  }
  return "?";
}

std::string show(const FrameRules& rules) {
  std::string out = "cfa " + show(rules.cfa);
  if (rules.cfa.kind == Rule::Register) out += " + " + std::to_string(rules.cfaOffset);
  for (int r = 0; r < kFrameRegisters; ++r) out += ", " + show(rules.registers[r]);
  return out;
}

std::string show(const llvm::dwarf::UnwindRow& row) {
  using Location = llvm::dwarf::UnwindLocation;
  std::string out = "cfa " + show(row.getCFAValue());
  if (row.getCFAValue().getLocation() == Location::RegPlusOffset)
    out += " + " + std::to_string(row.getCFAValue().getOffset());
  for (int r = 0; r < kFrameRegisters; ++r)
    for (unsigned dwarf = 0; dwarf <= 16; ++dwarf)
      if (frameRegister(dwarf) == r) {
        auto location = row.getRegisterLocations().getRegisterLocation(dwarf);
        out += ", " + (location ? show(*location) : "same");
      }
  return out;
}

// LLVM's view of a file: every function with its rows.
class Reference {
 public:
  explicit Reference(const std::string& path) {
    auto file = llvm::object::ObjectFile::createObjectFile(path);
    EXPECT_TRUE(bool(file)) << path;
    file_ = std::move(*file);
    context_ = llvm::DWARFContext::create(*file_.getBinary());
    auto frames = context_->getEHFrame();
    EXPECT_TRUE(bool(frames)) << path;
    for (const llvm::dwarf::FrameEntry& entry : **frames)
      if (auto* fde = llvm::dyn_cast<llvm::dwarf::FDE>(&entry)) fdes.push_back(fde);
    std::sort(fdes.begin(), fdes.end(), [](auto* a, auto* b) {
      return std::pair(a->getInitialLocation(), a->getOffset()) < std::pair(b->getInitialLocation(), b->getOffset());
    });
  }
  std::vector<const llvm::dwarf::FDE*> fdes;

 private:
  llvm::object::OwningBinary<llvm::object::ObjectFile> file_;
  std::unique_ptr<llvm::DWARFContext> context_;
};

TEST(EhFrame, AgreesWithLlvm) {
  int compared = 0;
  for (const Module& m : modules()) {
    if (m.path.find('/') == std::string::npos) continue;     // the kernel's page has no file
    if (m.path.find("LLVM") != std::string::npos) continue;  // half a million rows
    SCOPED_TRACE(m.path);
    ASSERT_NE(m.table.header, nullptr);
    Reference reference(m.path);
    bool whole = false;
    std::vector<FunctionRange> ours = functionsOf(m.table, whole);
    EXPECT_TRUE(whole);
    // A linker puts one function into the header where several begin at the same address.
    auto& fdes = reference.fdes;
    fdes.erase(std::unique(fdes.begin(), fdes.end(),
                           [](auto* a, auto* b) { return a->getInitialLocation() == b->getInitialLocation(); }),
               fdes.end());
    ASSERT_EQ(ours.size(), fdes.size());
    ++compared;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(ours[i].begin - m.base, fdes[i]->getInitialLocation());
      ASSERT_EQ(ours[i].end - ours[i].begin, fdes[i]->getAddressRange());
      if (ours[i].begin == ours[i].end) continue;  // a function of which nothing is left is nowhere
      FrameEntry entry;
      ASSERT_TRUE(findEntry(m.table, ours[i].begin, entry));
      ASSERT_TRUE(findEntry(m.table, ours[i].end - 1, entry));
      ASSERT_EQ(entry.range.begin, ours[i].begin);
      auto table = llvm::dwarf::UnwindTable::create(fdes[i]);
      ASSERT_TRUE(bool(table)) << llvm::toString(table.takeError());
      for (std::size_t row = 0; row < table->size(); ++row) {
        std::uintptr_t first = m.base + (*table)[row].getAddress();
        std::uintptr_t last = row + 1 < table->size() ? m.base + (*table)[row + 1].getAddress() - 1 : ours[i].end - 1;
        ++rows;
        for (std::uintptr_t pc : {first, last}) {
          if (pc < first || pc >= ours[i].end) continue;
          FrameRules rules;
          ASSERT_TRUE(rulesAt(entry, pc, rules)) << std::hex << pc - m.base;
          ASSERT_EQ(show(rules), show((*table)[row])) << std::hex << pc - m.base;
        }
      }
    }
    std::printf("%s: %zu functions, %zu rows\n", m.path.c_str(), ours.size(), rows);
  }
  EXPECT_GE(compared, 5);  // the test, libstdc++, libgcc_s, libc, ld.so
}

TEST(EhFrame, StopsWhenToldTo) {
  int calls = 0;
  EXPECT_TRUE(forEachFunction(
      modules()[0].table, [](const FunctionRange&, void* n) { return ++*static_cast<int*>(n) < 3; }, &calls));
  EXPECT_EQ(calls, 3);
}

Frame frameOf(std::uintptr_t pc, std::uintptr_t sp, std::uintptr_t rbp = 0, std::uintptr_t r12 = 0) {
  Frame frame{};
  frame.pc = pc;
  frame.sp = sp;
  frame.rbp = rbp;
  frame.r12 = r12;
  return frame;
}

// One frame of the function at `offset`, whose stack is `stack` from its lowest word on.
std::vector<std::uint64_t> walk(const FrameTableBytes& made, std::size_t offset, std::vector<std::uintptr_t> stack,
                                Frame frame = {}) {
  MappedTable mapped(made.bytes);
  addFrameTable(mapped.table);
  auto low = reinterpret_cast<std::uintptr_t>(stack.data());
  // Registers below 4096 are offsets into the stack.
  for (std::uintptr_t Frame::* field : kFrameFields)
    if (frame.*field < 4096) frame.*field += low;
  frame.pc = mapped.table.begin + made.functions + offset;
  std::uint64_t found[8];
  int n = unwind(frame, low, low + stack.size() * 8, found, 8);
  forgetFrameTables(mapped.table.begin, mapped.table.end);
  EXPECT_EQ(unwind(frame, low, low + stack.size() * 8, found, 8), 0);  // the table is gone
  return {found, found + n};
}

// Who loads libraries at the same time wants the same free slot, and each table gets one: here by signals that come
// anywhere in between.
FrameTable tableAt(std::uintptr_t begin) {
  FrameTable table;
  table.begin = begin;
  table.end = begin + 4096;
  table.header = reinterpret_cast<const std::uint8_t*>("");
  return table;
}
volatile sig_atomic_t adds = 0;
volatile sig_atomic_t added = 0;
void addTheirs(int) {
  if (adds == 0) return;
  addFrameTable(tableAt(8192));
  adds = 0;
  added = added + 1;
}

TEST(EhFrame, TablesThatAreAddedAtOnceAreAllThere) {
  constexpr int kAdded = 200, kMost = 100'000'000;
  signal(SIGALRM, addTheirs);
  itimerval often{{0, 50}, {0, 50}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  int missing = 0;
  for (int n = 0; n < kMost && added < kAdded && missing == 0; ++n) {
    adds = 1;
    addFrameTable(tableAt(4096));
    bool theirs = adds == 0;
    adds = 0;
    FrameTable found;
    missing += !findTable(4096, found) || (theirs && !findTable(8192, found));
    forgetFrameTables(4096, 3 * 4096);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_DFL);
  EXPECT_EQ(missing, 0);
  EXPECT_GT(added, 0);
}

using Addresses = std::vector<std::uint64_t>;

TEST(EhFrame, RulesThatNoCompilerHereWrites) {
  // def_cfa_expression of PLT entries: rsp + 8 + ((rip & 15) >= 11) << 3.
  std::string plt("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
  EXPECT_EQ(walk(frameTableBytes({plt}), 6, {111, 222, 333}), Addresses{111});
  EXPECT_EQ(walk(frameTableBytes({plt}), 11, {111, 222, 333}), Addresses{222});
  // The return address is in another register, and rsp is not the CFA: register rip = r12, val_offset rsp = cfa - 8 *
  // -1.
  EXPECT_EQ(walk(frameTableBytes({"\x09\x10\x0c\x15\x07\x7f"}), 0, {111, 222}, frameOf(0, 0, 0, 77777)),
            Addresses{77777});
  // expression rip: at breg7 rsp + 16.
  EXPECT_EQ(walk(frameTableBytes({"\x10\x10\x02\x77\x10"}), 0, {111, 222, 333}), Addresses{333});
  // val_expression rip: adds 100 until it is 1000, by lit0, plus_uconst, dup, const2u, lt, bra, swap, drop.
  std::string loop("\x16\x10\x0d\x30\x23\x64\x12\x0a\xe8\x03\x2d\x28\xf6\xff\x16\x13", 16);
  EXPECT_EQ(walk(frameTableBytes({loop}), 0, {111, 222}), Addresses{1000});
  // val_expression rip: (31 - 20) * 3, by lit31, lit20, lit3, rot, minus, mul.
  EXPECT_EQ(walk(frameTableBytes({"\x16\x10\x06\x4f\x44\x33\x17\x1c\x1e"}), 0, {111, 222}), Addresses{33});
  // CFA = rbp + 16, and the caller's caller is found with the saved rbp.
  EXPECT_EQ(walk(frameTableBytes({"\x0c\x06\x10\x86\x02"}), 0, {8, 0, 111, 222}, frameOf(0, 0, 8)), Addresses{111});
  // remember, change, restore: the second row's rules at 20, the first's at 40.
  std::string rows("\x0e\x10\x0a\x50\x0e\x18\x50\x0b\x00\x00", 10);
  EXPECT_EQ(walk(frameTableBytes({rows}), 0, {1, 22222, 33333, 44444}), Addresses{22222});
  EXPECT_EQ(walk(frameTableBytes({rows}), 20, {1, 22222, 33333, 44444}), Addresses{33333});
  EXPECT_EQ(walk(frameTableBytes({rows}), 40, {1, 22222, 33333, 44444}), Addresses{22222});
}

// val_expression rip: 1000 more than what an operator makes of two literals, or of one and a negative constant.
TEST(EhFrame, OperatorsOfExpressions) {
  auto value = [](const std::string& operands, char op) {
    std::string expression = operands + op + "\x23\xe8\x07";
    Addresses found =
        walk(frameTableBytes({"\x16\x10" + std::string(1, char(expression.size())) + expression}), 0, {111, 222});
    return found.size() == 1 ? static_cast<std::int64_t>(found[0]) - 1000 : -1000;
  };
  const std::string nineTwo("\x39\x32"), minusFour("\x09\xfc"), two("\x32"), none("\x30");
  EXPECT_EQ(value("\x3e\x37", 0x1a), 14 & 7);
  EXPECT_EQ(value(nineTwo, 0x1b), 9 / 2);
  EXPECT_EQ(value(minusFour + two, 0x1b), -2);  // signed
  EXPECT_EQ(value(nineTwo, 0x1c), 9 - 2);
  EXPECT_EQ(value(nineTwo, 0x1d), 9 % 2);
  EXPECT_EQ(value(nineTwo, 0x1e), 9 * 2);
  EXPECT_EQ(value("\x39\x33", 0x21), 9 | 3);
  EXPECT_EQ(value(nineTwo, 0x22), 9 + 2);
  EXPECT_EQ(value(nineTwo, 0x24), 9 << 2);
  EXPECT_EQ(value(nineTwo, 0x25), 9 >> 2);
  EXPECT_EQ(value(minusFour + two, 0x26), -1);
  EXPECT_EQ(value("\x39\x33", 0x27), 9 ^ 3);
  // Each with less, equal and greater; comparisons are signed.
  auto compared = [&](char op) {
    return std::to_string(value(two + "\x33", op)) + std::to_string(value(two + two, op)) +
           std::to_string(value("\x33" + two, op)) + std::to_string(value(minusFour + two, op));
  };
  EXPECT_EQ(compared(0x29), "0100");
  EXPECT_EQ(compared(0x2a), "0110");
  EXPECT_EQ(compared(0x2b), "0010");
  EXPECT_EQ(compared(0x2c), "1101");
  EXPECT_EQ(compared(0x2d), "1001");
  EXPECT_EQ(compared(0x2e), "1011");
  // Nothing can be divided by 0.
  EXPECT_EQ(value(two + none, 0x1b), -1000);
  EXPECT_EQ(value(two + none, 0x1d), -1000);
}

TEST(EhFrame, LettersOfAugmentations) {
  for (const char* letters : {"zR", "zPLR", "zRP", "zLR"}) {
    bool whole = false;
    FrameTableBytes made = frameTableBytes({"", "", "\x0e\x10"}, "", letters);
    MappedTable mapped(made.bytes);
    EXPECT_EQ(functionsOf(mapped.table, whole).size(), 3u) << letters;
    EXPECT_TRUE(whole);
    EXPECT_EQ(walk(made, 2 * kFunctionSize, {1, 22222}), Addresses{22222}) << letters;
  }
  EXPECT_TRUE(walk(frameTableBytes({""}, "", "zRS"), 0, {11111, 22222}).empty());  // a signal frame
  EXPECT_TRUE(walk(frameTableBytes({""}, "", "zRQ"), 0, {11111, 22222}).empty());
}

TEST(EhFrame, EndsOfWalks) {
  EXPECT_TRUE(walk(frameTableBytes({"\x07\x10"}), 0, {11111, 22222}).empty());  // undefined return address
  EXPECT_TRUE(walk(frameTableBytes({"\x0e\x20"}), 0, {11111, 22222}).empty());  // above the stack
  EXPECT_TRUE(walk(frameTableBytes({std::string("\x0e\x00", 2)}), 0, {1, 2}, frameOf(0, 8)).empty());  // it must grow
  EXPECT_TRUE(walk(frameTableBytes({""}), 0, {0, 22222}).empty());                                     // no address
  EXPECT_TRUE(walk(frameTableBytes({""}), kFunctionSize, {11111, 22222}).empty());                     // no function
  EXPECT_TRUE(walk(frameTableBytes({"\x0c\x0b\x08"}), 0, {11111, 22222}).empty());  // r11 is not known
  // A saved register outside of the stack.
  EXPECT_TRUE(walk(frameTableBytes({"\x86\x05"}), 0, {11111, 22222}).empty());
  // An endless expression: skip -3.
  EXPECT_TRUE(walk(frameTableBytes({"\x0f\x03\x2f\xfd\xff"}), 0, {11111, 22222}).empty());
  // More states remembered than any compiler does, and one restored that was not.
  EXPECT_TRUE(walk(frameTableBytes({std::string(100, '\x0a')}), 0, {11111, 22222}).empty());
  EXPECT_TRUE(walk(frameTableBytes({"\x0b"}), 0, {11111, 22222}).empty());
}

// A call of a function that never returns may be the last instruction of its caller: the return address is the next
// function's first, where an innermost frame may well be.
TEST(EhFrame, ReturnAddressBehindTheFunction) {
  FrameTableBytes made = frameTableBytes({"\x0e\x10", ""});
  MappedTable mapped(made.bytes);
  addFrameTable(mapped.table);
  std::uintptr_t second = mapped.table.begin + made.functions + kFunctionSize;
  std::uintptr_t stack[] = {second, 11111, 22222};
  auto low = reinterpret_cast<std::uintptr_t>(stack);
  std::uint64_t found[8];
  ASSERT_EQ(unwind(frameOf(second, low), low, low + sizeof stack, found, 8), 2);
  EXPECT_EQ(found[0], second);
  EXPECT_EQ(found[1], 22222u);
  forgetFrameTables(mapped.table.begin, mapped.table.end);
}

// r10 has the way back to the CFA where a function aligns its stack. What a callee has in it is not its caller's.
TEST(EhFrame, R10IsOfTheInnermostFrameOnly) {
  FrameTableBytes made = frameTableBytes({"", "\x0c\x0a\x08"});  // the second one: CFA = r10 + 8
  MappedTable mapped(made.bytes);
  addFrameTable(mapped.table);
  std::uintptr_t first = mapped.table.begin + made.functions;
  std::uintptr_t second = first + kFunctionSize;
  std::uintptr_t stack[] = {second + 5, 11111, 22222};
  auto low = reinterpret_cast<std::uintptr_t>(stack);
  std::uint64_t found[8];
  Frame frame = frameOf(second, low);
  frame.r10 = low + 8;
  ASSERT_EQ(unwind(frame, low, low + sizeof stack, found, 8), 1);
  EXPECT_EQ(found[0], 11111u);
  frame.pc = first;
  EXPECT_EQ(unwind(frame, low, low + sizeof stack, found, 8), 1);
  EXPECT_EQ(found[0], second + 5);
  forgetFrameTables(mapped.table.begin, mapped.table.end);
}

// Code that the program made has no table. Its caller is behind a call, and finds its own by the saved rbp.
TEST(EhFrame, CallerOfMadeCodeHasTheSavedFramePointer) {
  FrameTableBytes made = frameTableBytes({"\x0c\x06\x10\x86\x02"});  // CFA = rbp + 16
  made.bytes.resize(made.functions + kFunctionSize);
  made.bytes[made.functions] = '\xe8';  // call
  MappedTable mapped(made.bytes);
  addFrameTable(mapped.table);
  std::uintptr_t behindCall = mapped.table.begin + made.functions + 5;
  std::uintptr_t stack[] = {1, 0, behindCall, 0, 11111, 22222};
  auto low = reinterpret_cast<std::uintptr_t>(stack);
  stack[1] = low + 24;
  std::uint64_t found[8];
  ASSERT_EQ(unwind(frameOf(1234567, low, low + 8), low, low + sizeof stack, found, 8), 2);
  EXPECT_EQ(found[0], behindCall);
  EXPECT_EQ(found[1], 11111u);
  forgetFrameTables(mapped.table.begin, mapped.table.end);
}

TEST(EhFrame, RecursionEndsAtTheTopOfTheStack) {
  FrameTableBytes made = frameTableBytes({""});
  MappedTable mapped(made.bytes);
  addFrameTable(mapped.table);
  std::uintptr_t pc = mapped.table.begin + made.functions + 5;
  std::vector<std::uintptr_t> stack(20, pc);
  auto low = reinterpret_cast<std::uintptr_t>(stack.data());
  std::uint64_t found[100];
  EXPECT_EQ(unwind(frameOf(pc, low), low, low + 160, found, 100), 20);
  EXPECT_EQ(unwind(frameOf(pc, low), low, low + 160, found, 7), 7);
  EXPECT_EQ(unwind(frameOf(pc, low), low, low + 159, found, 100), 19);
  EXPECT_EQ(unwind(frameOf(pc, low - 8), low, low + 160, found, 100), 0);
  forgetFrameTables(mapped.table.begin, mapped.table.end);
}

// Under the sanitizers this finds reads outside; without them it still finds hangs.
TEST(EhFrame, DamagedTables) {
  std::string plt("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
  FrameTableBytes made =
      frameTableBytes({"\x41\x0e\x10\x86\x02\x43\x0d\x06", plt, "\x0a\x50\x0e\x18\x50\x0b"}, "", "zPLR");
  std::mt19937 random(1);
  int damaged = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = made.bytes;
    if (round % 4 == 0) bytes.resize(1 + random() % bytes.size());
    for (unsigned n = random() % 4; n > 0; --n) bytes[random() % bytes.size()] = char(random());
    MappedTable mapped(bytes);
    bool whole = false;
    functionsOf(mapped.table, whole);
    damaged += whole ? 0 : 1;
    addFrameTable(mapped.table);
    std::uintptr_t stack[16] = {};
    auto low = reinterpret_cast<std::uintptr_t>(stack);
    for (auto& word : stack) word = mapped.table.begin + made.functions + random() % (4 * kFunctionSize);
    std::uint64_t found[16];
    for (int i = 0; i < 4; ++i)
      unwind(frameOf(stack[i], low + 8 * (random() % 8), low + 32), low, low + sizeof stack, found, 16);
    forgetFrameTables(mapped.table.begin, mapped.table.end);
  }
  EXPECT_GT(damaged, 5000);
  EXPECT_LT(damaged, 19000);
}

}  // namespace
