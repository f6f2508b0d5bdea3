// What a crash leaves, as a recovery program sees it, made without the explorer: from snapshots of the brute-force
// machine with one content chosen for each line, and from images of crash states.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "brute_force.h"
#include "events/trace.h"
#include "model/image.h"
#include "recovery_program.h"

namespace blackout::test {

// A snapshot with one content chosen for each line.
class BruteMemory : public CrashedMemory {
 public:
  BruteMemory(const BruteSnapshot& snapshot, const std::map<LineNo, LineContent>& lines,
              const std::vector<std::uint32_t>& ops)
      : snapshot_(snapshot), lines_(lines), ops_(ops) {}
  std::optional<File> open(const std::string& path) const override {
    // The last file with the name has it.
    std::optional<File> found;
    for (const auto& [n, f] : snapshot_.files)
      if (f.exists && f.path == path) found = File{n, f.size};
    return found;
  }
  std::byte read(PmAddr addr) const override {
    auto it = lines_.find(lineOf(addr));
    return it == lines_.end() ? std::byte{0} : static_cast<std::byte>(it->second[addr % 64]);
  }
  std::uint32_t opState(std::uint32_t n) const override { return ops_[n]; }

 private:
  const BruteSnapshot& snapshot_;
  const std::map<LineNo, LineContent>& lines_;
  const std::vector<std::uint32_t>& ops_;
};

inline std::vector<std::uint32_t> opStates(const Trace& trace, EventNo at) {
  std::vector<std::uint32_t> states;
  std::map<ThreadNo, std::vector<std::size_t>> stacks;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::OpBegin) {
      stacks[threadOf(e)].push_back(states.size());
      states.push_back(n < at ? 1 : 0);
    } else if (kindOf(e) == EventKind::OpEnd && !stacks[threadOf(e)].empty()) {
      if (n < at) states[stacks[threadOf(e)].back()] = 2;
      stacks[threadOf(e)].pop_back();
    }
  }
  return states;
}

// All choices of one content per line; false if they are too many.
template <class Visit>
bool product(const BruteSnapshot& snapshot, std::size_t most, Visit visit) {
  std::size_t states = 1;
  for (const auto& [line, contents] : snapshot.lines)
    if ((states *= contents.size()) > most) return false;
  std::map<LineNo, LineContent> chosen;
  auto choose = [&](auto& self, auto it) -> void {
    if (it == snapshot.lines.end()) return visit(chosen);
    for (const LineContent& c : it->second) {
      chosen[it->first] = c;
      self(self, std::next(it));
    }
  };
  choose(choose, snapshot.lines.begin());
  return true;
}

inline const WatchedNames kNothing = {[](LineNo) { return std::nullopt; }, [](TrackedNo) { return 0; }, {}, 0};

inline std::vector<RecoveryProgram::TableFile> tableOf(const BruteSnapshot& snapshot) {
  std::vector<RecoveryProgram::TableFile> files(1);
  for (const auto& [n, f] : snapshot.files) {
    files.resize(std::max<std::size_t>(files.size(), n.value() + 1));
    files[n.value()] = {f.exists, f.path, f.size};
  }
  return files;
}

inline std::vector<std::string> pathsOf(const Trace& trace) {
  std::set<std::string> paths;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::FileNew || kindOf(trace[n]) == EventKind::FileRename)
      paths.emplace(trace.payload(n));
  std::vector<std::string> out = {"/pool"};
  for (const std::string& p : paths)
    if (p != "/pool") out.push_back(p);
  out.push_back("/nowhere");
  return out;
}

// The files of an image.
class ImageMemory : public CrashedMemory {
 public:
  ImageMemory(const Image& image, const std::vector<std::uint32_t>& ops) : image_(image), ops_(ops) {}
  std::optional<File> open(const std::string& path) const override {
    for (std::size_t i = image_.files.size(); i-- > 0;)
      if (image_.files[i].path == path) return File{static_cast<FileNo>(i + 1), image_.files[i].size};
    return std::nullopt;
  }
  std::byte read(PmAddr addr) const override {
    std::byte b{};
    image_.files[fileOf(addr).value() - 1].bytes.read(offsetOf(addr), {&b, 1});
    return b;
  }
  std::uint32_t opState(std::uint32_t n) const override { return ops_[n]; }
  std::vector<RecoveryProgram::TableFile> table() const {
    std::vector<RecoveryProgram::TableFile> files(1);
    for (const FileImage& f : image_.files) files.push_back({true, f.path, f.size});
    return files;
  }

 private:
  const Image& image_;
  const std::vector<std::uint32_t>& ops_;
};

// More events than numbers, so that small lists are busy programs too.
inline Genes grown(const Genes& genes, std::uint32_t times) {
  Genes out;
  for (std::uint32_t g : genes)
    for (std::uint32_t i = 0; i < times; ++i) out.push_back(g * 31 + i);
  return out;
}

}  // namespace blackout::test
