#include "random_program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

namespace blackout::test {

namespace {

// The fields of one gene.
class Dice {
 public:
  explicit Dice(std::uint32_t gene) : state_(gene * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t roll(std::uint64_t n) {
    state_ ^= state_ >> 29;
    state_ *= 0xbf58476d1ce4e5b9ULL;
    state_ ^= state_ >> 32;
    return state_ % n;
  }

 private:
  std::uint64_t state_;
};

// Few lines, so that stores meet; and a line takes no more stores than brute force can bear.
constexpr std::uint64_t kFileSize = 192;
constexpr unsigned kMaxStoresPerLine = 7;

class Generator {
 public:
  Generator(const std::vector<StartFile>& files, bool withContent, bool withMarks) : withMarks_(withMarks) {
    for (const StartFile& f : files) {
      FileNo n = writer.file(f.path, f.size, true);
      sizes_[n] = f.size;
      if (withContent && f.size > 40) writer.fileData(pmAddr(n, 30), "CONTENTx");
    }
  }

  void add(std::uint32_t gene) {
    Dice dice(gene);
    auto t = static_cast<ThreadNo>(1 + dice.roll(3));
    FileNo f = sizes_.empty() ? 0 : static_cast<FileNo>(1 + dice.roll(sizes_.size()));
    auto line = [&] { return pmAddr(f, 64 * dice.roll(kFileSize / 64)); };
    std::uint64_t kind = dice.roll(64);
    if (kind < 40 && f == 0) return;
    if (kind < 10) {
      store(dice, t, f, EventKind::Store);
    } else if (kind < 14) {
      store(dice, t, f, EventKind::StoreNt);
    } else if (kind < 16) {
      store(dice, t, f, EventKind::Rmw);
    } else if (kind < 17) {
      joined(dice, t, f);
    } else if (kind < 20) {
      wide(dice, t, f, dice.roll(3) == 0 ? EventKind::StoreNt : EventKind::Store);
    } else if (kind < 22) {
      writer.event(EventKind::Clflush, t, line() + dice.roll(64));
    } else if (kind < 24) {
      writer.event(EventKind::Clflushopt, t, line() + dice.roll(64));
    } else if (kind < 32) {
      writer.event(EventKind::Clwb, t, line() + dice.roll(64));
    } else if (kind < 34) {
      PmAddr from = line();
      writer.event(EventKind::Msync, t, from, 1 + dice.roll(128));
    } else if (kind < 35) {
      writer.event(EventKind::Fsync, t, pmAddr(f, 0));
    } else if (kind < 38) {
      changeFile(dice, t, f);
    } else if (kind < 40) {
      writer.event(EventKind::SyncStart, t);
    } else if (kind < 46) {
      writer.event(EventKind::Sfence, t);
    } else if (kind < 48) {
      writer.event(EventKind::Mfence, t);
    } else if (kind < 50) {
      writer.event(EventKind::RmwFence, t);
    } else if (kind < 53) {
      writer.event(dice.roll(2) == 0 ? EventKind::Lock : EventKind::Unlock, t);
    } else if (kind < 54) {
      writer.event(EventKind::ThreadCreate, t);
    } else if (kind < 57) {
      writer.blob(EventKind::OpBegin, t, 0, "op");
      ++open_;
    } else if (kind < 60) {
      if (open_ > 0) {
        writer.event(EventKind::OpEnd, t);
        --open_;
      }
    } else if (kind < 61) {
      writer.event(EventKind::Lfence, t);
    } else if (kind < 62 && sizes_.size() < 3) {
      FileNo n = writer.file("/new" + std::to_string(sizes_.size()), 0, false);
      std::uint64_t size = 64 * dice.roll(3);
      writer.event(EventKind::FileSize, t, pmAddr(n, 0), size);
      sizes_[n] = size;
    } else if (withMarks_ && kind >= 62) {
      mark(dice, t);
    } else {
      writer.event(EventKind::ThreadEnd, t);
    }
  }

  TraceWriter writer;

 private:
  bool room(PmAddr addr, std::uint64_t len) {
    return offsetOf(addr) + len <= sizes_[fileOf(addr)] && stores_[lineOf(addr)] < kMaxStoresPerLine;
  }
  static std::uint64_t value(Dice& dice, std::uint64_t len) {
    // Few values, 0 among them, so that contents repeat.
    std::uint64_t v = dice.roll(3) * 0x0101010101010101ULL;
    return len < 8 ? v & ((std::uint64_t{1} << (8 * len)) - 1) : v;
  }
  void store(Dice& dice, ThreadNo t, FileNo f, EventKind kind) {
    // Three units of each line.
    std::uint64_t in = dice.roll(8);
    std::uint64_t len = 1 + dice.roll(8 - in);
    PmAddr addr = pmAddr(f, 64 * dice.roll(kFileSize / 64) + 8 * dice.roll(3) + in);
    if (!room(addr, len)) return;
    ++stores_[lineOf(addr)];
    writer.event(kind, t, addr, value(dice, len), static_cast<unsigned>(len));
  }
  void joined(Dice& dice, ThreadNo t, FileNo f) {
    PmAddr addr = pmAddr(f, 64 * dice.roll(kFileSize / 64) + 16 * dice.roll(2));
    if (!room(addr, 16)) return;
    ++stores_[lineOf(addr)];
    EventKind kind = dice.roll(4) == 0 ? EventKind::StoreNt : EventKind::Rmw;
    writer.event(kind, t, addr, value(dice, 8), 8 | BLACKOUT_JOINED);
    writer.event(kind, t, addr + 8, value(dice, 8), 8);
  }
  // A wide store with an atomic 16-byte piece in the middle of it.
  void wideWithJoined(Dice& dice, ThreadNo t, FileNo f, EventKind kind) {
    PmAddr addr = pmAddr(f, 64 * dice.roll(kFileSize / 64) + 8);
    if (!room(addr, 32) || stores_[lineOf(addr)] + 3 > kMaxStoresPerLine) return;
    stores_[lineOf(addr)] += 3;
    writer.event(kind, t, addr, value(dice, 8), 8 | BLACKOUT_WIDE);
    writer.event(kind, t, addr + 8, value(dice, 8), 8 | BLACKOUT_JOINED);
    writer.event(kind, t, addr + 16, value(dice, 8), 8 | BLACKOUT_WIDE);
    writer.event(kind, t, addr + 24, value(dice, 8), 8);
  }
  void wide(Dice& dice, ThreadNo t, FileNo f, EventKind kind) {
    if (dice.roll(4) == 0) return wideWithJoined(dice, t, f, kind);
    std::uint64_t len = 9 + dice.roll(24);
    PmAddr addr = pmAddr(f, 32 + dice.roll(kFileSize - 32));
    PmAddr last = addr + len - 1;
    if (!room(addr, len) || !room(last, 1)) return;
    for (PmAddr p = addr / 8; p <= last / 8; ++p)
      if (stores_[LineNo(p / 8)] + 5 > kMaxStoresPerLine) return;
    for (PmAddr p = addr / 8; p <= last / 8; ++p) ++stores_[LineNo(p / 8)];
    std::string bytes;
    for (std::uint64_t i = 0; i < len; ++i) bytes.push_back(static_cast<char>('a' + dice.roll(2)));
    writer.store(kind, t, addr, bytes);
  }
  void mark(Dice& dice, ThreadNo t) {
    constexpr EventKind kKinds[] = {EventKind::SkipPointsBegin, EventKind::SkipPointsEnd, EventKind::SkipPointsEnd,
                                    EventKind::ExtraPoint,      EventKind::ExtraPoint,    EventKind::RoiBegin,
                                    EventKind::RoiEnd,          EventKind::Complete};
    writer.event(kKinds[dice.roll(std::size(kKinds))], t);
  }
  void changeFile(Dice& dice, ThreadNo t, FileNo f) {
    switch (dice.roll(4)) {
      case 0: {
        std::uint64_t begin = dice.roll(kFileSize);
        std::uint64_t size = dice.roll(100);
        if (begin + size <= sizes_[f]) writer.event(EventKind::FileZero, t, pmAddr(f, begin), size);
        break;
      }
      case 1:
        writer.blob(EventKind::FileRename, t, pmAddr(f, 0), "/renamed" + std::to_string(dice.roll(100)));
        break;
      case 2:
        if (dice.roll(3) == 0) writer.event(EventKind::FileUnlink, t, pmAddr(f, 0));
        break;
      default:
        sizes_[f] = dice.roll(kFileSize + 1);
        writer.event(EventKind::FileSize, t, pmAddr(f, 0), sizes_[f]);
    }
  }

  bool withMarks_;
  std::map<FileNo, std::uint64_t> sizes_;
  std::map<LineNo, unsigned> stores_;
  unsigned open_ = 0;
};

}  // namespace

RandomProgram::RandomProgram(const Genes& genes, const std::vector<StartFile>& files, bool withContent,
                             bool withMarks) {
  Generator generator(files, withContent, withMarks);
  for (std::uint32_t gene : genes) generator.add(gene);
  bytes = generator.writer.bytes();
  auto opened = Trace::fromBytes(std::as_bytes(std::span(bytes)));
  if (!opened) throw std::runtime_error(opened.error().sentence);
  trace = std::make_unique<Trace>(std::move(*opened));
}

ModelOptions randomOptions(std::uint32_t gene) {
  Dice dice(gene);
  ModelOptions o;
  o.kind = dice.roll(4) == 0 ? ModelKind::Eadr : ModelKind::X86;
  o.ntOrder = dice.roll(2) == 0 ? NtOrder::Any : NtOrder::Program;
  o.wideOrder = dice.roll(2) == 0 ? WideOrder::Any : WideOrder::Address;
  o.rmwFences = dice.roll(4) != 0;
  return o;
}

}  // namespace blackout::test
