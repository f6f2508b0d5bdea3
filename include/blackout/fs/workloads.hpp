// Bounded workloads, as ACE makes them (Silhouette, section 4.3; CrashMonkey, OSDI'18): every sequence of N operations
// over a few files and directories, each with what it needs before it. A workload is known by its number, so any part
// of them can be made without the others.
#pragma once

#include "blackout/fs/model.hpp"

namespace blackout::fs {

// One operation with all its arguments, and what must be there before it.
struct CoreCall {
  Call call;
  std::vector<std::string> files;        // that must be there, with content
  std::vector<std::string> directories;  // that must be there
};

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kContent = kBlock + 100;  // of a file that an operation finds: a whole block, and a part of one

inline std::vector<CoreCall> coreCalls() {
  const std::vector<std::string> files{"foo", "bar", "A/foo", "A/bar", "A/C/bar"};
  const std::vector<std::string> directories{"A", "B", "A/C"};
  const std::string longName(50, 'n');
  std::vector<CoreCall> all;
  auto parents = [](const std::string& path) {
    std::vector<std::string> above;
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
      above.push_back(path.substr(0, at));
    return above;
  };
  auto add = [&](Operation operation, const std::string& path, const std::string& to = "", std::uint64_t offset = 0,
                 std::uint64_t size = 0, bool exists = true, bool directory = false) {
    CoreCall core{Call{operation, path, to, offset, size, 'a'}, {}, {}};
    const std::string& subject = operation == Operation::Symlink ? to : path;
    core.directories = parents(subject);
    if (!to.empty() && operation != Operation::Symlink)
      for (const std::string& d : parents(to)) core.directories.push_back(d);
    if (exists && operation != Operation::Symlink) (directory ? core.directories : core.files).push_back(path);
    all.push_back(std::move(core));
  };
  for (const std::string& f : files) add(Operation::Creat, f, "", 0, 0, false);
  add(Operation::Creat, longName, "", 0, 0, false);
  for (const std::string& d : directories) add(Operation::Mkdir, d, "", 0, 0, false);
  for (const std::string& f : files) {
    add(Operation::Write, f, "", 0, kBlock);             // whole blocks
    add(Operation::Write, f, "", 10, 20);                // inside of one
    add(Operation::Write, f, "", kBlock - 10, 20);       // over the edge of two
    add(Operation::Write, f, "", kContent + kBlock, 5);  // behind the end, with a hole
    add(Operation::Append, f, "", 0, 300);
    add(Operation::Append, f, "", 0, 3 * kBlock);
    add(Operation::Fallocate, f, "", 0, 2 * kBlock);
    add(Operation::Fallocate, f, "", kContent, 10 * kBlock);
    add(Operation::Truncate, f, "", 0, 0);
    add(Operation::Truncate, f, "", 0, 50);
    add(Operation::Truncate, f, "", 0, kBlock);
    add(Operation::Truncate, f, "", 0, 3 * kBlock);
    add(Operation::Unlink, f);
    add(Operation::Remove, f);
  }
  for (const std::string& from : files)
    for (const std::string& to : files) {
      if (from == to) continue;
      add(Operation::Link, from, to);
      add(Operation::Symlink, from, to);
      add(Operation::Rename, from, to);
    }
  for (const std::string& d : directories) {
    add(Operation::Rmdir, d, "", 0, 0, true, true);
    add(Operation::Remove, d, "", 0, 0, true, true);
    for (const std::string& to : directories)
      if (d != to) add(Operation::Rename, d, to, 0, 0, true, true);
  }
  return all;
}

// How many workloads of N operations there are.
inline std::uint64_t workloadCount(std::uint64_t operations) {
  static const std::uint64_t base = coreCalls().size();
  std::uint64_t count = 1;
  for (std::uint64_t i = 0; i < operations; ++i) count *= base;
  return count;
}

// The n-th workload of N operations: the operations with what they need. What is there already, by the model, is not
// made again.
inline std::vector<Call> workload(std::uint64_t operations, std::uint64_t n) {
  static const std::vector<CoreCall> core = coreCalls();
  std::vector<Call> calls;
  Model model;
  auto make = [&](Call call) {
    call.fill = static_cast<char>('a' + calls.size() % 26);
    calls.push_back(call);
    model.apply(call);
  };
  for (std::uint64_t i = 0; i < operations; ++i, n /= core.size()) {
    const CoreCall& chosen = core[n % core.size()];
    for (const std::string& d : chosen.directories)
      if (model.tree().count(d) == 0) make(Call{Operation::Mkdir, d, "", 0, 0, 'a'});
    for (const std::string& f : chosen.files)
      if (model.tree().count(f) == 0) {
        make(Call{Operation::Creat, f, "", 0, 0, 'a'});
        make(Call{Operation::Write, f, "", 0, kContent, 'a'});
      }
    make(chosen.call);
  }
  return calls;
}

}  // namespace blackout::fs
