// The analysis on hand-written modules: slicing, control dependence, notes. Each file of inputs/ is a case; its lines
//
//   ; EXPECT: Node.valid guards Node.key (flag)
//   ; EXPECT: Node.a and Node.b guard Node.key together      (or: nested; or without a field: guard each other)
//   ; EXPECT: note ...                                       (a part of the note)
//   ; EXPECT: volatile 1
//
// are all that the analysis says of it. A file of several modules has them parted by lines `; UNIT`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "infer/analysis.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace blackout {
namespace {

std::string toBitcode(const std::string& text, const std::string& name) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> m = llvm::parseAssemblyString(text, error, context);
  if (m == nullptr) {
    ADD_FAILURE() << name << ":" << error.getLineNo() << ": " << error.getMessage().str();
    return {};
  }
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*m, out);
  return bitcode;
}

struct Case {
  ProgramBitcode program;
  std::multiset<std::string> expected;
};

Case read(const std::filesystem::path& path) {
  Case c;
  std::ifstream in(path);
  std::string line, text;
  auto take = [&] {
    std::string name =
        path.filename().string() + (c.program.units.empty() ? "" : std::to_string(c.program.units.size()));
    c.program.units.push_back({name, path.filename().string(), toBitcode(text, name)});
    text.clear();
  };
  while (std::getline(in, line)) {
    const std::string mark = "; EXPECT: ";
    if (line.starts_with(mark)) c.expected.insert(line.substr(mark.size()));
    if (line == "; UNIT")
      take();
    else
      text += line + "\n";
  }
  take();
  return c;
}

std::multiset<std::string> said(const Guardians& g) {
  std::multiset<std::string> lines;
  for (const Guardian& guardian : g.guardians)
    for (const Guarded& guarded : guardian.guarded) {
      std::set<std::string> shapes;
      for (const Guard& guard : guarded.guards) shapes.insert(nameOf(guard.shape));
      for (const std::string& shape : shapes)
        lines.insert(guardian.field + " guards " + guarded.field + " (" + shape + ")");
    }
  for (const GuardianPair& p : g.pairs) {
    std::string both = p.first + " and " + p.second + " guard ";
    if (p.rule == GuardianPair::Rule::EachOther)
      lines.insert(both + "each other");
    else
      lines.insert(both + p.guarded + (p.rule == GuardianPair::Rule::Together ? " together" : " nested"));
  }
  if (g.volatileFields > 0) lines.insert("volatile " + std::to_string(g.volatileFields));
  return lines;
}

class GuardianCases : public testing::TestWithParam<std::string> {};

TEST_P(GuardianCases, SaysWhatIsExpectedAndNoMore) {
  Case c = read(std::filesystem::path(BLACKOUT_CASES) / GetParam());
  Guardians g = inferGuardians(c.program);
  std::multiset<std::string> expected, notes;
  for (const std::string& e : c.expected) (e.starts_with("note ") ? notes : expected).insert(e);
  auto join = [](const std::multiset<std::string>& lines) {
    std::string all;
    for (const std::string& l : lines) all += l + "\n";
    return all;
  };
  EXPECT_EQ(join(said(g)), join(expected));
  EXPECT_EQ(g.notes.size(), notes.size()) << (g.notes.empty() ? "" : g.notes[0]);
  for (const std::string& n : notes)
    EXPECT_TRUE(std::any_of(g.notes.begin(), g.notes.end(),
                            [&](const std::string& have) { return have.find(n.substr(5)) != std::string::npos; }))
        << n << "; there is: " << (g.notes.empty() ? "none" : g.notes[0]);
  // The same again, and in another order of the units.
  EXPECT_EQ(inferGuardians(c.program), g);
  for (const Guardian& guardian : g.guardians) EXPECT_EQ(g.of(guardian.field), &guardian);
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(BLACKOUT_CASES))
    if (file.path().extension() == ".ll") names.push_back(file.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Guardians, BeyondItsBudgetTheAnalysisSaysSo) {
  std::size_t cut = 0;
  for (const std::string& name : cases()) {
    Guardians g = inferGuardians(read(std::filesystem::path(BLACKOUT_CASES) / name).program, {.steps = 1});
    cut += g.cut;
    EXPECT_TRUE(!g.cut || !g.incomplete.empty()) << name;
  }
  EXPECT_GT(cut, 0U);
}

INSTANTIATE_TEST_SUITE_P(Inputs, GuardianCases, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

KeptUnit unit(const std::string& text) { return {"u.c", "u.o", toBitcode(text, "u.c")}; }

const char* const kPrepared = "!blackout.prepared = !{!0}\n!0 = !{i32 1}\n";

TEST(Analysis, NoUnitsAreNoGuardians) {
  Guardians g = inferGuardians({});
  EXPECT_TRUE(g.guardians.empty());
  EXPECT_TRUE(g.notes.empty());
}

TEST(Analysis, UnitsThatCannotBeReadAreNamedAndTheRestGoesOn) {
  ProgramBitcode program;
  program.units.push_back({"broken.c", "a.out", "BC\xc0\xde not bitcode"});
  program.units.push_back({"empty.c", "a.out", ""});
  program.units.push_back(unit("define void @f() { ret void }"));
  program.units.push_back(unit(std::string("define i32 @g(ptr %p) {\n"
                                           "  %v = load i32, ptr %p, !blackout.field !1\n"
                                           "  %c = icmp ne i32 %v, 0\n  br i1 %c, label %a, label %b\na:\n"
                                           "  %q = getelementptr i8, ptr %p, i64 8\n"
                                           "  %k = load i32, ptr %q, !blackout.field !2\n  ret i32 %k\n"
                                           "b:\n  ret i32 0\n}\n!1 = !{!\"N.v\"}\n!2 = !{!\"N.k\"}\n") +
                               kPrepared));
  Guardians g = inferGuardians(program);
  ASSERT_EQ(g.notes.size(), 4u);
  EXPECT_NE(g.notes[0].find("broken.c (in a.out) is left out"), std::string::npos) << g.notes[0];
  EXPECT_NE(g.notes[1].find("empty.c (in a.out) is left out"), std::string::npos) << g.notes[1];
  EXPECT_NE(g.notes[2].find("was not prepared"), std::string::npos) << g.notes[2];
  EXPECT_NE(g.notes[3].find("no flush"), std::string::npos) << g.notes[3];
  ASSERT_EQ(g.guardians.size(), 1u);
  EXPECT_EQ(g.guardians[0].field, "N.v");
}

// Without places every access of a function is one; nothing may depend on there being debug information.
TEST(Analysis, TruncatedBitcodeNeverStopsTheTool) {
  KeptUnit whole =
      unit(std::string("define i32 @g(ptr %p) {\n  %v = load i32, ptr %p, !blackout.field !1\n  ret i32 %v\n}\n"
                       "!1 = !{!\"N.v\"}\n") +
           kPrepared);
  for (std::size_t size = 0; size < whole.bitcode.size(); size += 4) {
    ProgramBitcode program;
    program.units.push_back({"u.c", "u.o", whole.bitcode.substr(0, size)});
    EXPECT_TRUE(inferGuardians(program).guardians.empty());
  }
}

// LLVM's reader crashes on some of these; the tool must not.
TEST(Analysis, DamagedBitcodeNeverStopsTheTool) {
  Case c = read(std::filesystem::path(BLACKOUT_CASES) / "invoke.ll");
  const std::string whole = c.program.units[0].bitcode;
  std::uint32_t random = 1;
  auto next = [&] { return random = random * 1664525u + 1013904223u, random >> 8; };
  for (int k = 0; k < 300; ++k) {
    std::string& bitcode = c.program.units[0].bitcode;
    bitcode = whole;
    bitcode[next() % bitcode.size()] ^= static_cast<char>(1u << next() % 8);
    inferGuardians(c.program);
  }
}

TEST(Guardians, StructOfAKey) {
  EXPECT_EQ(structOf("Node"), "Node");
  EXPECT_EQ(structOf("a::Node.children[]"), "a::Node");
  EXPECT_EQ(structOf("Slot<int, 4>.entry.first"), "Slot<int, 4>");
  EXPECT_EQ(structOf("Slot<X<a.b>, (E)1>.v"), "Slot<X<a.b>, (E)1>");
}

TEST(Guardians, AReasonNamesBothPlaces) {
  auto at = [](const char* function, unsigned line) { return Source{line, {{function, "/src/map.cpp", line, 3, 0}}}; };
  Guardian guardian{"Bucket.valid", {}, {}, {{"Bucket.key", {{Shape::Flag, at("f", 60), at("f", 61)}}}}};
  EXPECT_EQ(reasonOf(guardian, guardian.guarded[0], guardian.guarded[0].guards[0]),
            "map.cpp:60 tests Bucket.valid before map.cpp:61 reads Bucket.key");
  // An access inside std::atomic is shown where the program calls it.
  Source wrapped{1,
                 {{"_ZNKSt13__atomic_baseImE4loadESt12memory_order", "/usr/include/atomic_base.h", 5, 1, 0},
                  {"f", "/src/map.cpp", 70, 1, 0}}};
  EXPECT_EQ(reasonOf(guardian, guardian.guarded[0], {Shape::Chase, wrapped, at("f", 61)}),
            "map.cpp:70 follows Bucket.valid before map.cpp:61 reads Bucket.key");
}

}  // namespace
}  // namespace blackout
