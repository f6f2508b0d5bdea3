// Bitcode of sources that were not built with the wrappers: each unit of a compile_commands.json, or each file of
// bitcode, is compiled by blackout-clang into an object file of ours, whose bitcode then counts. The user's build
// folder is left alone: nothing is written there, neither objects nor dependency files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "events/error.h"
#include "infer/program_bitcode.h"

namespace blackout {

struct CompileJob {
  std::string file;                    // for messages
  std::filesystem::path directory;     // where to compile; empty: here
  std::vector<std::string> arguments;  // without the compiler, an output or dependency files
  bool cxx = false;
};

// The jobs of a compilation database, each file once.
Result<std::vector<CompileJob>> readCompileCommands(const std::string& path);
CompileJob jobForBitcode(const std::string& path);

struct Compilation {
  std::filesystem::path wrappers;  // the folder of blackout-clang and blackout-clang++
  std::filesystem::path folder;    // a private one for the object files
  unsigned jobs = 1;               // at a time
  std::function<void(std::size_t done, std::size_t of)> progress;
};

// What can't be compiled is left out with a note that has the compiler's first error.
Result<void> addCompiled(ProgramBitcode& program, const std::vector<CompileJob>& jobs, const Compilation& how);

}  // namespace blackout
