// Starting a program with the runtime inside: where the runtime is, where the program is, the environment and the
// address space that it gets. There is no other way in which a program is started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "events/error.h"
#include "run/role.h"
#include "run/runtime_options.h"

namespace blackout {

// The path of a file that lies beside the command in ../lib/blackout, in the build folder and when installed.
Result<std::string> libraryFile(const std::string& name);

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

struct Launched {
  pid_t pid = -1;
  bool fixedAddresses = false;  // volatile memory is where it is in every other run
};

// The one way in which programs are started with the runtime inside: recorded, restarted, or by a debugger.
class Launcher {
 public:
  // Finds the program and the runtime, and sees that the one can be loaded into the other.
  static Result<Launcher> find(const std::vector<std::string>& command);

  const std::string& program() const { return program_; }
  const Loaded& loaded() const { return loaded_; }

  // The variables that the program's environment gets, in place of those of the same name.
  std::vector<std::pair<std::string, std::string>> environment(Role role, const RuntimeOptions& options) const;
  // `inChild` runs in the new process, before it gets its environment and becomes the program; `forked` in this one, as
  // soon as there is a process that a signal could be forwarded to. An error if the program can't be executed.
  Result<Launched> start(Role role, const RuntimeOptions& options, const std::function<void()>& inChild,
                         const std::function<void(pid_t)>& forked = {}) const;

 private:
  std::vector<std::string> command_;
  std::string program_;
  std::string preload_;
  Loaded loaded_;
};

// In a process that is about to become the program: it gets addresses of its own, not those that every run has.
void allowRandomAddresses();

// The words of a command as exec takes them; the command must outlive them.
std::vector<char*> argumentsOf(const std::vector<std::string>& command);

}  // namespace blackout
