// The units of a program as one module. Everything in a unit comes from outside: what can't be parsed, was not prepared
// for analysis (ir/prepared.h) or can't be linked is left out with a sentence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infer/program_bitcode.h"
#include "llvm/IR/Module.h"

namespace blackout {

std::unique_ptr<llvm::Module> linkUnits(const ProgramBitcode& program, llvm::LLVMContext& context,
                                        std::vector<std::string>& notes);

}  // namespace blackout
