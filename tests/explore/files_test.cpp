// Crash states of files: a model of the tests in which a rename is uncertain until fsync of its file, explored and
// compared with a machine that keeps every folder that may be on the disk. The models that are ready leave no change of
// a file uncertain, so nothing else walks these ways.
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <cstring>

#include "crashed_memories.h"
#include "events/trace.h"
#include "events/trace_writer.h"
#include "explore/seeded.h"
#include "explored.h"
#include "model/x86_model.h"

namespace blackout::test {
namespace {

class UncertainRenames : public X86Model {
 public:
  using X86Model::X86Model;
  void fileEvent(EventNo n, const Event& e, FileTimeline& files) override {
    std::vector<std::uint32_t> open(files.open().begin(), files.open().end());
    for (std::uint32_t c : open) {
      const FileChange& change = files.changes()[c];
      bool synced = kindOf(e) == EventKind::Fsync && change.file == fileOf(e.addr);
      if (synced || (change.event == n && kindOf(e) != EventKind::FileRename)) files.guarantee(c, n);
    }
  }
};

Index indexOf(const Trace& trace) {
  auto built = Index::build(trace, ModelOptions{}, [](const ModelOptions& options) {
    return Result<std::unique_ptr<PersistencyModel>>(std::make_unique<UncertainRenames>(options));
  });
  if (!built) throw std::runtime_error(built.error().sentence);
  return std::move(*built);
}

const std::vector<std::uint32_t> kNoOperations;
const std::vector<std::string> kPaths = {"/a", "/b", "/c", "/d"};

// Two files that are renamed, replaced, made, resized, removed, synced, and stored to.
std::string renamingProgram(const Genes& genes) {
  struct File {
    std::string path;
    std::uint64_t size;
    FileNo number;
  };
  TraceWriter writer;
  std::vector<File> files;  // that are there
  auto make = [&](const std::string& path, bool before) {
    files.push_back({path, 128, writer.file(path, 128, before)});
  };
  make("/a", true);
  make("/b", true);
  std::map<LineNo, unsigned> stores;
  unsigned renames = 0, made = 0;
  for (std::uint32_t gene : genes) {
    std::uint64_t dice = gene + 1;
    auto roll = [&](std::uint64_t n) { return (dice = mix(dice)) % n; };
    std::uint64_t kind = roll(17);
    const std::string& path = kPaths[roll(kPaths.size())];
    auto occupant = std::find_if(files.begin(), files.end(), [&](const File& f) { return f.path == path; });
    if (kind == 13 && made < 2 && occupant == files.end()) {
      ++made;
      make(path, false);
      continue;
    }
    if (files.empty()) continue;
    std::size_t which = roll(files.size());
    PmAddr addr = pmAddr(files[which].number, 64 * roll(2) + 8 * roll(2));
    if (kind < 5) {
      if (offsetOf(addr) + 8 > files[which].size || stores[lineOf(addr)]++ >= 3) continue;
      writer.event(EventKind::Store, 1, addr, 1 + roll(3), 8);
    } else if (kind < 6) {
      writer.event(EventKind::Clwb, 1, addr);
    } else if (kind < 7) {
      writer.event(EventKind::Sfence, 1);
    } else if (kind < 11) {
      if (renames >= 5 || files[which].path == path) continue;
      ++renames;
      // What it replaces is removed first, as the recorder has it.
      if (occupant != files.end()) {
        writer.remove(occupant->number);
        occupant->path.clear();
      }
      writer.blob(EventKind::FileRename, 1, pmAddr(files[which].number, 0), path);
      files[which].path = path;
      std::erase_if(files, [](const File& f) { return f.path.empty(); });
    } else if (kind < 13) {
      writer.event(EventKind::SyncStart, 1);
      writer.event(EventKind::Fsync, 1, pmAddr(files[which].number, 0));
    } else if (kind == 14) {
      files[which].size = 64 * roll(3);
      writer.event(EventKind::FileSize, 1, pmAddr(files[which].number, 0), files[which].size);
    } else if (kind == 15 && roll(3) == 0) {
      writer.remove(files[which].number);
      files.erase(files.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return writer.bytes();
}

// A random recovery that looks at many paths, and says what it finds there.
RecoveryProgram lookingRecovery(const Genes& genes, bool files) {
  std::vector<std::string> paths = kPaths;
  paths.emplace_back("/nowhere");
  RecoveryProgram random = RecoveryProgram::random(genes, paths, {0, files, true});
  RecoveryProgram program;
  auto& out = program.instructions;
  for (const Instruction& i : random.instructions) {
    std::uint64_t dice = mix(random.instructions.size(), out.size());
    if (dice % 3 == 0) {
      out.push_back({Does::Open, paths[dice / 3 % paths.size()], 0, 0, 0, dice % 7 == 0 ? 3U : 0U, 100 + out.size()});
      out.push_back({Does::Load, "", 64 * (dice / 16 % 2), 0, 8, 0, 100 + out.size()});
      out.push_back({Does::Print, "", 0, 0, 0, 0, 100 + out.size()});
    }
    out.push_back(i);
  }
  return program;
}

// The disk by brute force. A folder is possible as long as nothing says otherwise; a rename waits beside it and may
// reach it at any time, but not before an earlier one of the same file or with a path in common.
using Folder = std::map<FileNo, BruteFile>;
struct Waiting {
  FileNo file = 0;
  std::string from;
  std::string to;
  auto operator<=>(const Waiting&) const = default;
};
struct Disk {
  std::vector<std::pair<FileNo, std::string>> paths;  // of the files that exist, as the disk has them
  std::vector<Waiting> waiting;
  auto operator<=>(const Disk&) const = default;
};

class DiskMachine {
 public:
  // All folders that a crash just before each event may leave.
  static std::map<EventNo, std::vector<Folder>> run(const Trace& trace) {
    DiskMachine machine;
    std::map<EventNo, std::vector<Folder>> out;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      out[n] = machine.folders(trace, n);
      machine.event(trace, n);
    }
    out[trace.end()] = machine.folders(trace, trace.end());
    return out;
  }

 private:
  std::vector<Folder> folders(const Trace& trace, EventNo at) const {
    // Files from before the recording are there from its beginning. The others keep their numbers.
    Folder before;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n))
      if (kindOf(trace[n]) == EventKind::FileNew)
        before[fileOf(trace[n].addr)] = {n >= at && (trace[n].len & 1) != 0, 128, std::string(trace.payload(n))};
    std::set<std::vector<std::pair<FileNo, std::string>>> distinct;
    for (const Disk& d : disks_) distinct.insert(d.paths);
    std::vector<Folder> out;
    for (const auto& paths : distinct) {
      Folder folder = before;
      for (const auto& [file, path] : paths)
        folder[file] = {true, sizes_.count(file) != 0 ? sizes_.at(file) : 128, path};
      out.push_back(std::move(folder));
    }
    return out;
  }
  void event(const Trace& trace, EventNo n) {
    const Event& e = trace[n];
    FileNo f = fileOf(e.addr);
    switch (kindOf(e)) {
      case EventKind::FileNew: {
        std::string path(trace.payload(n));
        paths_[f] = path;
        before_.insert(f);
        if ((e.len & 1) == 0) {
          before_.erase(f);
          sizes_[f] = 0;
        }
        atOnce([&](const Waiting& w) { return w.from == path || w.to == path; },
               [&](Disk& d) { d.paths.emplace_back(f, path); });
        break;
      }
      case EventKind::FileSize:
        sizes_[f] = e.value;
        if (before_.erase(f) == 0) atOnce([&](const Waiting& w) { return w.file == f; }, [](Disk&) {});
        break;
      case EventKind::FileUnlink: {
        std::string path = paths_[f];
        atOnce([&](const Waiting& w) { return w.file == f || w.from == path || w.to == path; },
               [&](Disk& d) { std::erase_if(d.paths, [&](const auto& p) { return p.first == f; }); });
        break;
      }
      case EventKind::FileRename: {
        Waiting rename{f, paths_[f], std::string(trace.payload(n))};
        paths_[f] = rename.to;
        std::set<Disk> next;
        for (Disk d : disks_) {
          d.waiting.push_back(rename);
          reach(d, next);
        }
        disks_ = std::move(next);
        break;
      }
      case EventKind::Fsync:
        atOnce([&](const Waiting& w) { return w.file == f; }, [](Disk&) {});
        break;
      default:
        break;
    }
  }
  // Nothing that `first` names is still waiting, and then it happens on every disk.
  template <class First, class Happens>
  void atOnce(First first, Happens happens) {
    std::set<Disk> next;
    for (Disk d : disks_) {
      if (std::any_of(d.waiting.begin(), d.waiting.end(), first)) continue;
      happens(d);
      std::sort(d.paths.begin(), d.paths.end());
      next.insert(std::move(d));
    }
    disks_ = std::move(next);
  }
  static void reach(const Disk& d, std::set<Disk>& all) {
    if (!all.insert(d).second) return;
    for (std::size_t i = 0; i < d.waiting.size(); ++i) {
      const Waiting& w = d.waiting[i];
      auto first = [&](const Waiting& o) {
        return o.file == w.file || o.from == w.from || o.from == w.to || o.to == w.from || o.to == w.to;
      };
      if (std::any_of(d.waiting.begin(), d.waiting.begin() + static_cast<std::ptrdiff_t>(i), first)) continue;
      Disk next = d;
      for (auto& [file, path] : next.paths)
        if (file == w.file) path = w.to;
      next.waiting.erase(next.waiting.begin() + static_cast<std::ptrdiff_t>(i));
      reach(next, all);
    }
  }

  std::set<Disk> disks_{Disk{}};
  std::map<FileNo, std::string> paths_;    // as the program has them
  std::map<FileNo, std::uint64_t> sizes_;  // at once, on every disk
  std::set<FileNo> before_;                // from before, whose first size is still to come
};

struct Case {
  Case(const Genes& genes, const Genes& recoveryGenes, bool files)
      : bytes(renamingProgram(grown(genes, 3))),
        trace(std::move(*Trace::fromBytes(std::as_bytes(std::span(bytes))))),
        index(indexOf(trace)),
        recovery(lookingRecovery(grown(recoveryGenes, 2), files)),
        folders(DiskMachine::run(trace)),
        snapshots(bruteForce(trace, {})) {}
  std::string bytes;
  Trace trace;
  Index index;
  RecoveryProgram recovery;
  std::map<EventNo, std::vector<Folder>> folders;
  std::vector<BruteSnapshot> snapshots;

  // All states that a crash may leave; false: they are too many.
  template <class Visit>
  bool states(const BruteSnapshot& snapshot, std::size_t most, Visit visit) const {
    bool done = true;
    for (const Folder& folder : folders.at(snapshot.at)) {
      BruteSnapshot one = snapshot;
      one.files = folder;
      done = done && product(one, most / folders.at(snapshot.at).size(), [&](const auto& lines) { visit(one, lines); });
    }
    return done;
  }
};

// The index gives the folders that the machine gives.
void versionsEqualBruteForce(const Genes& genes) {
  Case c(genes, {}, false);
  std::size_t most = 0;
  for (const auto& [at, folders] : c.folders) {
    std::set<std::vector<FileState>> expected;
    for (const Folder& folder : folders) {
      std::vector<FileState> files;
      for (const auto& [n, f] : folder)
        if (f.exists) files.push_back({n, f.path, f.size});
      expected.insert(files);
    }
    FilesVersions versions = c.index.files().versionsAt(at);
    RC_ASSERT(versions.complete);
    std::set<std::vector<FileState>> found;
    for (const FilesVersion& v : versions.versions) {
      RC_ASSERT(c.index.files().isFeasible(at, v.version));
      RC_ASSERT(c.index.files().filesIn(at, v.version) == v.files);
      RC_ASSERT(found.insert(v.files).second);
    }
    RC_ASSERT(versions.versions.front().version == c.index.files().leastAt(at));
    RC_ASSERT(versions.versions[versions.newest].files == c.index.files().filesIn(at, c.index.files().newestAt(at)));
    if (found != expected) {
      RC_LOG() << "at " << at << ": " << found.size() << " folders, the machine has " << expected.size();
      RC_FAIL("folders differ from brute force");
    }
    most = std::max(most, found.size());
  }
  RC_CLASSIFY(most > 1, "uncertain");
  RC_CLASSIFY(most > 4, "more than 4 folders");
}

// Lazy == exhaustive == brute force, at every point; and the points that are enough find what all find.
void exploredEqualsBruteForce(const Genes& genes, const Genes& recoveryGenes) {
  Case c(genes, recoveryGenes, recoveryGenes.size() % 3 == 0);
  Wanted setup;
  setup.points = PointsMode::All;
  Explored lazy(c.index, c.recovery, setup);
  lazy.run();
  RC_ASSERT(lazy.explorer->summary().complete());
  RC_ASSERT(lazy.runner.repeated() == 0U);
  RC_ASSERT(c.snapshots.size() == lazy.baseline.count());
  std::size_t all = 0;
  for (std::uint32_t o = 0; o < c.snapshots.size(); ++o) {
    std::set<std::string> expected;
    std::size_t states = 0;
    bool done = c.states(c.snapshots[o], 2000, [&](const BruteSnapshot& snapshot, const auto& lines) {
      ++states;
      BruteMemory memory(snapshot, lines, kNoOperations);
      expected.insert(wordOf(c.recovery.run(memory, kNothing, tableOf(snapshot)).outcome));
    });
    all = done && all != SIZE_MAX ? all + states : SIZE_MAX;
    if (done && lazy.words(SpaceNo(o)) != expected) {
      RC_LOG() << "point " << o << ": " << lazy.words(SpaceNo(o)).size() << " outcomes, brute force has "
               << expected.size() << "\n"
               << lazy.everything();
      RC_FAIL("outcomes differ from brute force");
    }
  }
  RC_CLASSIFY(lazy.explorer->summary().mostAtOneSpace > 4, "more than 4 recoveries at a point");
  RC_CLASSIFY(lazy.explorer->summary().mostAtOneSpace > 20, "more than 20 recoveries at a point");
  setup.points = PointsMode::Enough;
  Explored enough(c.index, c.recovery, setup);
  enough.run();
  RC_ASSERT(enough.words() == lazy.words());
  if (all > 20000) return;
  setup.points = PointsMode::All;
  setup.strategy.kind = StrategyKind::Exhaustive;
  Explored exhaustive(c.index, c.recovery, setup);
  exhaustive.run();
  for (std::uint32_t o = 0; o < c.snapshots.size(); ++o)
    RC_ASSERT(exhaustive.words(SpaceNo(o)) == lazy.words(SpaceNo(o)));
  for (StrategyKind kind : partStrategies()) {
    setup.strategy.kind = kind;
    Explored part(c.index, c.recovery, setup);
    part.run();
    for (std::uint32_t o = 0; o < c.snapshots.size(); ++o) {
      std::set<std::string> some = part.words(SpaceNo(o)), more = lazy.words(SpaceNo(o));
      RC_ASSERT(!some.empty() && std::includes(more.begin(), more.end(), some.begin(), some.end()));
    }
  }
}

// A crash in a recovery that found files which had not settled.
void twoFailuresEqualBruteForce(const Genes& genes, const Genes& recoveryGenes) {
  Case c(genes, recoveryGenes, recoveryGenes.size() % 2 == 0);
  Wanted setup;
  setup.options.crashesInARow = 2;
  Explored lazy(c.index, c.recovery, setup);
  lazy.run();
  bool whole = lazy.explorer->summary().complete();
  RC_ASSERT(whole || lazy.explorer->summary().fileChangePoints > 0);
  std::map<EventNo, const BruteSnapshot*> at;
  for (const BruteSnapshot& s : c.snapshots) at[s.at] = &s;
  std::size_t spaces = 0;
  for (std::uint32_t o = 0; o < lazy.baseline.count(); ++o) {
    std::set<std::string> expected;
    bool done = true;
    done = c.states(*at[lazy.baseline.point(PointNo(o))], 60, [&](const BruteSnapshot& first, const auto& lines) {
      if (!done) return;
      BruteMemory memory(first, lines, kNoOperations);
      RecoveryProgram::Did did = c.recovery.run(memory, kNothing, tableOf(first));
      expected.insert(wordOf(did.outcome));
      auto trace = Trace::fromBytes(std::as_bytes(std::span(did.trace)));
      RC_ASSERT(trace.has_value());
      for (BruteSnapshot& second : bruteForce(*trace, {}, &lines)) {
        if (second.at < did.begin) continue;
        done = done && product(second, 100, [&](const auto& again) {
                 ++spaces;
                 BruteMemory left(second, again, kNoOperations);
                 expected.insert(wordOf(c.recovery.run(left, kNothing, tableOf(second)).outcome));
               });
      }
    }) && done;
    if (!done || spaces > 10000) continue;
    std::set<std::string> found = lazy.wordsAt(PointNo(o), 1);
    found.merge(lazy.wordsAt(PointNo(o), 2));
    bool right =
        whole ? found == expected : std::includes(expected.begin(), expected.end(), found.begin(), found.end());
    if (!right) {
      RC_LOG() << "point " << o << ": " << found.size() << " outcomes, brute force has " << expected.size() << "\n"
               << lazy.everything();
      RC_FAIL("outcomes of two failures differ from brute force");
    }
  }
  RC_CLASSIFY(lazy.explorer->summary().spaces > lazy.explorer->summary().points, "crashes in recovery");
}

// Every recovery's example, as a crash state, gives an image on which the recovery ends as it says, whatever else is
// said of what it did not look at; and asking for that state finds the recovery.
void crashStatesLeadToTheirRecoveries(const Genes& genes, const Genes& recoveryGenes) {
  Case c(genes, recoveryGenes, recoveryGenes.size() % 2 == 0);
  Wanted setup;
  setup.options.crashesInARow = 1 + static_cast<unsigned>(genes.size() % 2);
  Explored e(c.index, c.recovery, setup);
  e.run();
  std::size_t checked = 0;
  for (SpaceNo s = 0; s.value() < e.explorer->spaceCount() && checked < 200; ++s) {
    const SpaceInfo& info = e.explorer->space(s);
    std::string bytes = info.level > 1 ? *e.explorer->traceOf(info.through) : std::string();
    std::optional<Trace> trace;
    std::optional<Index> further;
    std::vector<const Index*> indexes{&c.index};
    if (info.level > 1) {
      trace.emplace(std::move(*Trace::fromBytes(std::as_bytes(std::span(bytes)))));
      further.emplace(std::move(*c.index.like(*trace)));
      indexes.push_back(&*further);
    }
    for (RecoveryNo l : info.recoveries) {
      ++checked;
      RecoveryDetail detail = e.explorer->detail(s, l);
      for (UnnamedLines unnamed : {UnnamedLines::Least, UnnamedLines::Newest}) {
        ChosenVersions chosen = detail.example;
        chosen.unnamed = unnamed;
        auto found = e.explorer->recoveryOf(s, chosen);
        RC_ASSERT(found.has_value() && *found == l);
        auto image = buildImage(e.explorer->crashState(s, chosen), indexes);
        if (!image) RC_FAIL(image.error().sentence);
        ImageMemory memory(*image, kNoOperations);
        RC_ASSERT(wordOf(c.recovery.run(memory, kNothing, memory.table()).outcome) ==
                  wordOf(e.explorer->outcome(detail.outcome)));
      }
    }
  }
}

}  // namespace
}  // namespace blackout::test

int main(int argc, char** argv) {
  using namespace blackout::test;
  bool full = argc > 1 && std::strcmp(argv[1], "full") == 0;
  setenv("RC_PARAMS", full ? "max_success=5000 max_size=40 seed=3" : "max_success=300 max_size=30 seed=3", 0);
  bool ok = rc::check("versions of files == brute force", versionsEqualBruteForce);
  ok &= rc::check("lazy == exhaustive == brute force at every point, with files", exploredEqualsBruteForce);
  ok &= rc::check("two failures == brute force, with files", twoFailuresEqualBruteForce);
  ok &= rc::check("a recovery's crash state leads to it, with files", crashStatesLeadToTheirRecoveries);
  return ok ? 0 : 1;
}
