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
  std::vector<std::string> opened;       // that must be open, called as their path is
  std::vector<std::string> unlinked;     // that must be open and have no name any more
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
    CoreCall core{Call{operation, path, to, offset, size, 'a'}, {}, {}, {}, {}};
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
  // Files that lose their last name while they are open.
  for (const char* f : {"foo", "A/foo"}) {
    add(Operation::Unlink, f);
    all.back().opened = {f};
    add(Operation::Rename, "bar", f);
    all.back().opened = {f};
    add(Operation::Pwrite, f, "", kBlock, 300, false);
    all.back().unlinked = {f};
    add(Operation::Close, f, "", 0, 0, false);
    all.back().unlinked = {f};
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

// Operations, each with what it needs. What is there already, by the model, is not made again.
class WorkloadBuilder {
 public:
  void add(const CoreCall& chosen) {
    for (const std::string& d : chosen.directories)
      if (model_.tree().count(d) == 0) make(Call{Operation::Mkdir, d, "", 0, 0, 'a'});
    for (const std::string& f : chosen.files) file(f);
    for (const std::string& f : chosen.opened) open(f);
    for (const std::string& f : chosen.unlinked) {
      open(f);
      if (model_.tree().count(f) != 0) make(Call{Operation::Unlink, f, "", 0, 0, 'a'});
    }
    make(chosen.call);
  }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  void file(const std::string& f) {
    if (model_.tree().count(f) != 0) return;
    make(Call{Operation::Creat, f, "", 0, 0, 'a'});
    make(Call{Operation::Write, f, "", 0, kContent, 'a'});
  }
  void open(const std::string& f) {
    if (model_.opened().count(f) != 0) return;
    file(f);
    make(Call{Operation::Open, f, f, 0, 0, 'a'});
  }
  void make(Call call) {
    call.fill = static_cast<char>('a' + calls_.size() % 26);
    calls_.push_back(call);
    model_.apply(call);
  }
  std::vector<Call> calls_;
  Model model_;
};

// The n-th workload of N operations.
inline std::vector<Call> workload(std::uint64_t operations, std::uint64_t n) {
  static const std::vector<CoreCall> core = coreCalls();
  WorkloadBuilder builder;
  for (std::uint64_t i = 0; i < operations; ++i, n /= core.size()) builder.add(core[n % core.size()]);
  return builder.calls();
}

// A workload of so many operations by chance, the same for the same seed everywhere.
inline std::vector<Call> randomWorkload(std::uint64_t seed, std::uint64_t operations) {
  static const std::vector<CoreCall> core = coreCalls();
  auto next = [&seed] {  // splitmix64
    std::uint64_t x = (seed += 0x9e3779b97f4a7c15U);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  };
  WorkloadBuilder builder;
  for (std::uint64_t i = 0; i < operations; ++i) builder.add(core[next() % core.size()]);
  return builder.calls();
}

}  // namespace blackout::fs
