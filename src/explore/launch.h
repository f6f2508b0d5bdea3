// Starting a program with the runtime inside: where the runtime is, where the program is, the environment and
// the address space that it gets. Used by recordings and by recovery runs alike.
#pragma once

#include <string>

#include "events/error.h"

namespace blackout {

// libblackout.so of this installation.
Result<std::string> runtimePath();
// The file that a command's first word names, as the shell would find it.
Result<std::string> findProgram(const std::string& name);

// An error in one sentence for a program that the runtime can't be loaded into (static, setuid): it would run
// unwatched, and on the user's own pools.
Result<void> checkLoadable(const std::string& path);

// ":key=value" for BLACKOUT_OPTIONS, with what separates words escaped.
std::string optionWord(const std::string& key, const std::string& value);

// In the child, before it becomes the program.
void setEnvironment(const std::string& preload, const std::string& words);

// While it lives, new programs get the same addresses in every run, where that can be had.
class FixedAddresses {
 public:
  FixedAddresses();
  ~FixedAddresses() { restore(); }
  FixedAddresses(const FixedAddresses&) = delete;
  FixedAddresses& operator=(const FixedAddresses&) = delete;
  bool possible() const { return possible_; }
  void restore();

 private:
  int was_;
  bool possible_ = false;
};

}  // namespace blackout
