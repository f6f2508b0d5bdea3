// `blackout doctor`: what this machine and a program allow, and what to do about what they don't. Each is tried, in a
// child where it would change something, and not concluded from versions.
#pragma once

#include <string>
#include <vector>

namespace blackout {

struct Diagnosis {
  enum class Is { Fine, Limited, Missing };  // Missing: checks do not work without it
  Is is{};
  std::string what;    // "seccomp filters"
  std::string means;   // what comes of it, in a sentence
  std::string advice;  // what to do; empty: nothing has to be done
};

std::vector<Diagnosis> examineMachine();
// `path`: of a program file, or a name that is looked for as a shell does.
std::vector<Diagnosis> examineProgram(const std::string& path);

}  // namespace blackout
