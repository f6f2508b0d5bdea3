// What the analysis of a program's code says reaches those who ask by instruction, or the reason why it does not.
#include "judge/program_guardians.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace blackout {
namespace {

// The bitcode of a program in which N.valid guards N.key; removed with the test.
struct Program {
  Program() {
    llvm::LLVMContext context;
    llvm::SMDiagnostic wrong;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyFile(BLACKOUT_FLAG_PROGRAM, wrong, context);
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    EXPECT_TRUE(module != nullptr && !error);
    if (module != nullptr) llvm::WriteBitcodeToFile(*module, out);
  }
  ~Program() { std::filesystem::remove(path); }
  std::string path = testing::TempDir() + "program_guardians." + std::to_string(getpid()) + ".bc";
};

TEST(ProgramGuardians, WhatTheAnalysisSaysComesOutOfItsProcess) {
  Program program;
  ProgramGuardians guardians({program.path});
  EXPECT_TRUE(guardians.known());
  EXPECT_TRUE(guardians.isCommitVariable("N.valid"));
  EXPECT_FALSE(guardians.isCommitVariable("N.key"));
  EXPECT_EQ(guardians.leftOut(), "");
}

// What nobody knows to be a test may be taken for data: part of the guardians is worse than none.
TEST(ProgramGuardians, AnAnalysisThatWasGivenUpIsNotUsedAndThatIsSaid) {
  Program program;
  ProgramGuardians guardians({program.path}, {}, {.steps = 1});
  EXPECT_FALSE(guardians.known());
  EXPECT_FALSE(guardians.isCommitVariable("N.valid"));
  EXPECT_NE(guardians.leftOut().find("was given up, because the code is too large"), std::string::npos)
      << guardians.leftOut();
}

// The second one asks nobody: the program is gone by then.
TEST(ProgramGuardians, OneAnalysisIsEnoughForAllRecordings) {
  auto made = std::make_shared<ProgramGuardians::Made>();
  std::string path;
  std::vector<GuardianAccesses> accesses;
  {
    Program program;
    path = program.path;
    ProgramGuardians first({path}, {}, {}, made);
    accesses = first.accesses();
    EXPECT_FALSE(accesses.empty());
    EXPECT_FALSE(accesses.at(0).reads.empty());
    EXPECT_FALSE(accesses.at(0).why.empty());
  }
  ProgramGuardians second({path}, {}, {}, made);
  EXPECT_EQ(second.accesses(), accesses);
  EXPECT_TRUE(second.isCommitVariable("N.valid"));
  EXPECT_FALSE(ProgramGuardians({path}).known());
}

// Who needs no more than what likely stores are told by can do without an analysis that was given up.
TEST(ProgramGuardians, WhatWasLeftOutIsSaidToWhoeverAskedForIt) {
  Program program;
  ProgramGuardians guardians({program.path}, {}, {.steps = 1});
  EXPECT_TRUE(guardians.accesses().empty());
  EXPECT_EQ(guardians.leftOut(), "");
  EXPECT_FALSE(guardians.known());
  EXPECT_NE(guardians.leftOut(), "");
}

TEST(ProgramGuardians, WithoutBitcodeNothingIsKnownAndNothingIsMissing) {
  ProgramGuardians guardians({"/no/program"});
  EXPECT_FALSE(guardians.known());
  EXPECT_EQ(guardians.leftOut(), "");
}

}  // namespace
}  // namespace blackout
