#include "recovery_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/recovery_contract.h"
#include "events/trace_writer.h"
#include "explore/seeded.h"

namespace blackout::test {

RecoveryProgram RecoveryProgram::random(const Genes& genes, const std::vector<std::string>& paths, const Kinds& kinds) {
  RecoveryProgram program;
  auto& out = program.instructions;
  out.push_back({Does::Open, paths.front(), 0, 0, 0, 0, 1});
  for (std::uint32_t gene : genes) {
    std::uint64_t dice = gene;
    auto roll = [&](std::uint64_t n) { return (dice = mix(dice)) % n; };
    Instruction i;
    i.site = kinds.sites ? out.size() + 1 : 1 + roll(2);
    i.offset = roll(3) * 64 + (roll(3) == 0 ? roll(64) : roll(4) * 8);
    i.size = static_cast<unsigned>(roll(3) == 0 ? 1 + roll(64) : 1ULL << roll(4));
    i.stride = roll(4) == 0 ? 8 * (1 + roll(9)) : 0;
    i.value = roll(4);
    std::uint64_t kind = roll(kinds.files ? 36 : 32);
    if (kind >= 32) {
      i.does = kind < 34 ? Does::Truncate : kind < 35 ? Does::Create : Does::Unlink;
      i.path = paths[roll(paths.size())];
      i.offset = roll(193);
    } else if (kind < 2) {
      i.does = Does::Open;
      i.path = paths[roll(paths.size())];
    } else if (kind < 14) {
      i.does = Does::Load;
    } else if (kind < 15) {
      i.does = Does::Group;
    } else if (kind < 18) {
      i.does = Does::Store;
      i.size = static_cast<unsigned>(1 + roll(8));
    } else if (kind < 19) {
      i.does = Does::Rmw;
      i.offset = i.offset / 8 * 8;
      i.size = 8;
    } else if (kind < 21) {
      i.does = Does::Flush;
    } else if (kind < 23) {
      i.does = Does::Fence;
    } else if (kind < 26) {
      i.does = Does::Skip;
      i.value = 1 + roll(4);
    } else if (kind < 27) {
      if (kinds.operations == 0) continue;
      i.does = Does::Op;
      i.value = roll(kinds.operations);
      i.size = static_cast<unsigned>(roll(3));
    } else if (kind < 31) {
      i.does = Does::Print;
    } else {
      i.does = Does::Exit;
    }
    out.push_back(i);
  }
  return program;
}

namespace {

class Machine {
 public:
  Machine(const CrashedMemory& memory, const WatchedNames& tracked,
          const std::vector<RecoveryProgram::TableFile>& files)
      : memory_(memory), tracked_(tracked) {
    for (std::size_t n = 1; n < files.size(); ++n) {
      const auto& f = files[n];
      FileNo made =
          f.exists ? writer_.file(f.path, f.size, true) : writer_.file("/absent/" + std::to_string(n), 0, false);
      if (!f.exists) writer_.remove(made);
    }
    nextFile_ = static_cast<FileNo>(std::max<std::size_t>(files.size(), 1));
    emit(EventKind::Lfence);
    begin_ = slots_ - 1;
  }

  RecoveryProgram::Did run(const std::vector<Instruction>& program) {
    for (std::size_t at = 0; at < program.size(); ++at) {
      const Instruction& i = program[at];
      switch (i.does) {
        case Does::Open: {
          if (!ownFiles_) askPath(i.path);
          if (auto found = find(i.path))
            open(i.path, *found);
          else if (i.value == 3)
            return end(Ending::Exited, 2);
          break;
        }
        case Does::Create: {
          changeFiles();
          if (!find(i.path)) {
            FileNo n = nextFile_++;
            made_.insert(n);
            slots_ = writer_.blob(EventKind::FileNew, 1, pmAddr(n, 0), i.path);  // its path takes slots, too
            emit(EventKind::FileSize, pmAddr(n, 0), i.offset);
            files_[i.path] = CrashedMemory::File{n, i.offset};
          }
          open(i.path, *find(i.path));
          break;
        }
        case Does::Truncate: {
          if (!file_) break;
          changeFiles();
          for (std::uint64_t o = i.offset; o < file_->size; ++o) written_[pmAddr(file_->number, o)] = std::byte{0};
          file_->size = i.offset;
          files_[path_] = file_;
          emit(EventKind::FileSize, pmAddr(file_->number, 0), i.offset);
          break;
        }
        case Does::Unlink: {
          if (!file_) break;
          changeFiles();
          emit(EventKind::FileUnlink, pmAddr(file_->number, 0));
          files_[path_] = std::nullopt;
          file_.reset();
          break;
        }
        case Does::Load:
        case Does::Group: {
          std::uint32_t declared = i.value == 1 ? 0 : BLACKOUT_GROUP_CHECKSUM;
          auto bytes = load(i, i.does == Does::Group ? ++groups_ | declared : 0);
          if (!bytes && i.value == 3) return end(Ending::Signalled, 7);
          last_ = bytes.value_or(4);
          break;
        }
        case Does::Tally:
          tally_ += load(i, 0).value_or(0) != 0 ? 1 : 0;
          break;
        case Does::Test:
          last_ = tally_ == i.value ? 1 : 0;
          break;
        case Does::Rmw: {
          auto bytes = load(i, 0);
          if (!bytes) break;
          store(i, EventKind::Rmw);
          last_ = *bytes;
          break;
        }
        case Does::Store:
          if (inFile(i)) store(i, EventKind::Store);
          break;
        case Does::StoreNt:
          if (inFile(i)) store(i, EventKind::StoreNt);
          break;
        case Does::Flush:
          if (inFile(i)) emit(EventKind::Clwb, addressOf(i));
          break;
        case Does::Fence:
          emit(EventKind::Sfence);
          break;
        case Does::Skip:
          if (last_ % 3 != 0) at += i.value;
          break;
        case Does::Op:
          if (i.value < tracked_.operations && askedOps_.insert({i.value, i.size}).second)
            log({QueryKind::Op, static_cast<std::uint32_t>(i.value), i.size, i.site, 0, 0, slots_});
          last_ = memory_.opState(static_cast<std::uint32_t>(i.value));
          if (i.size > 0) last_ = last_ >= i.size ? 1 : 0;
          break;
        case Does::Print:
          // Coarse, so that different ways lead to the same outcome.
          output_ += static_cast<char>('a' + last_ % 5);
          break;
        case Does::Exit:
          return end(Ending::Exited, static_cast<int>(last_ % 3));
      }
    }
    return end(Ending::Exited, 0);
  }

 private:
  PmAddr addressOf(const Instruction& i) const {
    return pmAddr(file_->number, i.offset + (i.stride == 0 ? 0 : i.stride * (last_ % 4)));
  }
  bool inFile(const Instruction& i) const { return file_ && offsetOf(addressOf(i)) + i.size <= file_->size; }

  std::byte byteAt(PmAddr a) const {
    auto it = written_.find(a);
    if (it != written_.end()) return it->second;
    return made_.count(fileOf(a)) != 0 ? std::byte{0} : memory_.read(a);
  }

  std::optional<CrashedMemory::File> find(const std::string& path) const {
    auto it = files_.find(path);
    return it != files_.end() ? it->second : memory_.open(path);
  }
  void open(const std::string& path, const CrashedMemory::File& file) {
    path_ = path;
    file_ = file;
  }
  void askPath(const std::string& path) {
    auto it = std::find(tracked_.paths.begin(), tracked_.paths.end(), path);
    if (it == tracked_.paths.end() || !askedPaths_.insert(path).second) return;
    log({QueryKind::Path, static_cast<std::uint32_t>(it - tracked_.paths.begin()), 0, 0, 0, 0, slots_});
  }
  // Once it has changed files it knows them: it asks for all of them first.
  void changeFiles() {
    if (ownFiles_) return;
    for (const std::string& p : tracked_.paths) askPath(p);
    ownFiles_ = true;
  }

  std::optional<std::uint64_t> load(const Instruction& i, std::uint32_t group) {
    if (!inFile(i)) return std::nullopt;
    PmAddr from = addressOf(i);
    std::uint64_t sum = 0;
    std::map<LineNo, std::uint64_t> masks;
    for (PmAddr a = from; a < from + i.size; ++a) {
      if (written_.count(a) == 0 && made_.count(fileOf(a)) == 0 && observed_.insert(a).second)
        masks[lineOf(a)] |= std::uint64_t{1} << (a % 64);
      sum = sum * 31 + static_cast<std::uint64_t>(byteAt(a));
    }
    for (auto& [line, mask] : masks)
      if (auto w = tracked_.line(line)) {
        mask &= tracked_.mask(*w);
        if (mask != 0) log({QueryKind::Bytes, w->value(), mask, i.site, group, 0, slots_});
      }
    return sum;
  }

  void store(const Instruction& i, EventKind kind) {
    // Inside one aligned unit of 8 bytes.
    PmAddr from = addressOf(i);
    unsigned size = std::min<unsigned>(i.size, 8 - static_cast<unsigned>(from % 8));
    std::uint64_t value = (i.value == 3 ? last_ % 3 : i.value) * 0x0101010101010101ULL;
    for (unsigned b = 0; b < size; ++b) written_[from + b] = static_cast<std::byte>(value >> (8 * b));
    if (size < 8) value &= (std::uint64_t{1} << (8 * size)) - 1;
    emit(kind, from, value, size);
  }

  void emit(EventKind kind, PmAddr addr = 0, std::uint64_t value = 0, unsigned len = 0) {
    slots_ = writer_.event(kind, 1, addr, value, len) + 1;
  }
  void log(Query q) { queries_.push_back(q); }
  RecoveryProgram::Did end(Ending ending, int code) {
    RecoveryProgram::Did did;
    did.outcome.ending = ending;
    did.outcome.code = code;
    did.outcome.output = output_;
    did.queries = queries_;
    did.trace = writer_.bytes();
    did.begin = begin_;
    return did;
  }

  const CrashedMemory& memory_;
  const WatchedNames& tracked_;
  std::optional<CrashedMemory::File> file_;
  std::map<PmAddr, std::byte> written_;
  std::set<PmAddr> observed_;
  std::string path_;
  std::map<std::string, std::optional<CrashedMemory::File>> files_;  // that it changed
  std::set<FileNo> made_;
  bool ownFiles_ = false;
  FileNo nextFile_ = 1;
  EventNo begin_ = 0;
  std::set<std::string> askedPaths_;
  std::set<std::pair<std::uint64_t, unsigned>> askedOps_;
  std::uint64_t last_ = 0;
  std::uint64_t tally_ = 0;
  std::uint32_t groups_ = 0;
  EventNo slots_ = 0;
  std::string output_;
  std::vector<Query> queries_;
  TraceWriter writer_;
};

}  // namespace

RecoveryProgram::Did RecoveryProgram::run(const CrashedMemory& memory, const WatchedNames& tracked,
                                          const std::vector<TableFile>& files) const {
  return Machine(memory, tracked, files).run(instructions);
}

}  // namespace blackout::test
