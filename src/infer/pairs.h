// Guardians that must be changed together: two fields that one condition tests before one read (Witcher), two that one
// read stands under within a function, two that guard each other (Huang et al.).
#pragma once

#include <vector>

#include "infer/guards.h"

namespace blackout {

struct PairFinding {
  GuardianPair::Rule rule{};
  KeyNo first = 0, second = 0, guarded = 0;  // guarded counts unless the rule is EachOther
  ReadNo firstTest = 0, secondTest = 0;
};

struct PairFindings {
  std::vector<PairFinding> pairs;  // in no order
  std::size_t cutOff = 0;          // conditions and reads with more fields than are paired
  std::size_t gaveUp = 0;          // functions that were not looked at to the end: the code is too entangled
};

PairFindings findPairs(const ProgramCode& code, const ProgramFacts& facts, const GuardSearch& guards);

}  // namespace blackout
