// A trace, read in place: the file is mapped and its events are used where they lie. Opening
// checks everything that a reader relies on (checksums of a sealed trace, the shape of every
// event, every number that refers to another record), so that no later code has to. A trace that
// is still being written is read up to its last whole event.
#pragma once

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

 private:
  Trace();
  Result<void> load();
  Result<void> checkSeal() const;
  Result<void> checkEvents();
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
  ThreadNo lastThread_ = 0;
  IdVector<SiteNo, Site> sites_;
  IdVector<StackId, CallStack> callStacks_;
  IdVector<FileNo, PoolFile> files_;
  IdVector<FileNo, std::uint64_t> sizes_;  // of the files, while checking
  std::vector<LoadedModule> modules_;
};

}  // namespace blackout
