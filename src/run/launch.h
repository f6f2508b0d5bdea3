// Starting a program with the runtime inside: where the runtime is, where the program is, the environment and
// the address space that it gets. Used by recordings and by recovery runs alike.
#pragma once

#include <string>
#include <vector>

#include "events/error.h"

namespace blackout {

// Whether code that was not compiled by Blackout is followed by traps (runtime/trap): as the runtime's option.
enum class Trap : unsigned { Never = 0, Always = 1, IfNeeded = 2 };

// libblackout.so of this installation.
Result<std::string> runtimePath();
// The file that a command's first word names, as the shell would find it. `where` says where the user wrote it.
Result<std::string> findProgram(const std::string& name, const std::string& where = "after --");

// What is loaded to run a file: itself, or the interpreter of a script.
struct Loaded {
  std::string path;
  bool script = false;
};
// An error in one sentence for a program that the runtime can't be loaded into (static, setuid, 32-bit): it would run
// unwatched, and on the user's own pools.
Result<Loaded> checkLoadable(const std::string& path);

// ":key=value" for BLACKOUT_OPTIONS, with what separates words escaped.
std::string optionWord(const std::string& key, const std::string& value);

// The word that says which code is trapped.
std::string trapWord(Trap trap);

// The word that gives restarts a client (runtime/drive.h).
std::string driveWord(const std::vector<std::string>& command);

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
