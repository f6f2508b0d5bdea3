// Branches that only choose between values, made one value each that a test chooses: what a sum is made of in each of
// its turns is then one expression, however it was written (`if (crc & 1) crc = crc >> 1 ^ poly; else crc >>= 1;`).
#pragma once

#include "llvm/IR/Function.h"

namespace blackout {

void chooseWithoutBranches(llvm::Function& f);

}  // namespace blackout
