// A trace, read in place: the file is mapped and its events are used where they lie. Opening
// checks everything that a reader relies on (checksums of a sealed trace, the shape of every
// event, every number that refers to another record), so that no later code has to. A trace that
// is still being written is read up to its last whole event.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "events/event.h"
#include "events/site.h"

namespace blackout {

// The payload of a Map event: where the bytes were mapped, and how many.
struct MappedAt {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

// The payload of CommitRange, TxAdd and TxRemove: how long the range is, and what it belongs to (a commit variable's
// address, a transaction).
struct OwnedRange {
  std::uint64_t size = 0;
  std::uint64_t owner = 0;
};

class Trace {
 public:
  static Result<Trace> open(const std::string& path);
  // For tests and fuzzers: the bytes of a file. They must outlive the trace.
  static Result<Trace> fromBytes(std::span<const std::byte> bytes, std::string name = "trace");

  // Of one that was growing when it was opened: what was added since is read too. What was sealed meanwhile is taken
  // for right, because whoever sealed it did so in this process and after the events were read.
  Result<void> readOn();

  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  // Positions are [0, end()); walk them with next().
  EventNo end() const { return end_; }
  const Event& operator[](EventNo n) const { return events_[n.value()]; }
  EventNo next(EventNo n) const { return n + static_cast<std::uint32_t>(slotsOf((*this)[n])); }
  std::string_view payload(EventNo n) const;
  // Of a Map event.
  MappedAt mapping(EventNo n) const;
  // Of an event that has one.
  OwnedRange range(EventNo n) const;

  // What was read of the file so far is not likely to be read again: it is no memory of this process any more, until it
  // is read. Everything stays where it is.
  void forgetPages() const;

  std::uint64_t eventCount() const { return eventCount_; }
  std::uint64_t count(EventKind kind) const { return counts_[static_cast<std::uint8_t>(kind)]; }
  // Events of groups of which a long run has few (isRare), in order: who looks for one need not pass over all others.
  std::span<const EventNo> rare() const { return rare_; }
  static constexpr bool isRare(EventGroup group) {
    switch (group) {
      case EventGroup::Sync:
      case EventGroup::File:
      case EventGroup::Map:
      case EventGroup::Thread:
      case EventGroup::Control:
      case EventGroup::Trouble:
        return true;
      default:
        return false;
    }
  }
  bool sealed() const { return header_->state == BLACKOUT_SEALED; }
  std::uint32_t problems() const { return header_->problems; }
  std::uint64_t lost() const { return header_->lost; }
  const std::string& name() const { return name_; }

  // Null for 0 (unknown).
  const Site* site(SiteNo n) const { return n == 0 ? nullptr : &sites_[n]; }
  // One behind the last.
  SiteNo siteEnd() const { return sites_.endId(); }
  const CallStack* callStack(StackId n) const { return n == 0 ? nullptr : &callStacks_[n]; }
  const Site* siteOf(const Event& e) const;
  StackId stackEnd() const { return callStacks_.endId(); }

  // By file number; numbers start at 1, row 0 is empty.
  IdSpan<FileNo, const PoolFile> files() const { return files_; }
  std::span<const LoadedModule> modules() const { return modules_; }
  ThreadNo lastThread() const { return lastThread_; }
  // Threads that have an event.
  std::size_t threadCount() const { return threads_.count(); }

 private:
  Trace();
  Result<void> load(bool asSealed = true);
  Result<void> checkSeal() const;
  Result<void> checkEvents(EventNo from);
  Result<void> checkRest(EventNo n, EventGroup group);
  bool inFile(PmAddr addr, std::uint64_t bytes) const {
    FileNo f = fileOf(addr);
    return f != 0 && files_.has(f) && offsetOf(addr) <= sizes_[f] && bytes <= sizes_[f] - offsetOf(addr);
  }
  bool inTable(PmAddr addr) const { return fileOf(addr) != 0 && files_.has(fileOf(addr)); }
  Result<void> checkPiece(EventNo n) const;
  Result<void> readTable(EventNo n);
  tl::unexpected<Error> damaged(EventNo n, std::string_view what) const;

  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  std::span<const std::byte> bytes_;
  std::string name_;
  const blackout_trace_header* header_ = nullptr;
  const Event* events_ = nullptr;
  EventNo end_ = 0;
  std::uint64_t eventCount_ = 0;
  std::array<std::uint64_t, 256> counts_{};
  std::vector<EventNo> rare_;
  std::bitset<0x10000> threads_;
  ThreadNo lastThread_ = 0;
  IdVector<SiteNo, Site> sites_;
  IdVector<StackId, CallStack> callStacks_;
  IdVector<FileNo, PoolFile> files_;
  IdVector<FileNo, std::uint64_t> sizes_;  // of the files, while checking
  std::vector<LoadedModule> modules_;
};

}  // namespace blackout
