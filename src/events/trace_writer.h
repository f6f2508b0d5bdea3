// Writes a trace from the tool's side: the records that precede a recording, traces made by
// tests, and converters from other tracers. The recorder inside a program writes the same format
// with libc alone (runtime/recorder.cpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

class TraceWriter {
 public:
  TraceWriter();

  // Before the first event: events go to this file as they come and take no memory here. save() completes it.
  Result<void> spoolTo(const std::string& path);

  // Table rows; each returns the number by which events refer to it.
  SiteNo site(const Site& site);
  StackId where(SiteNo site, std::span<const std::uint64_t> frames = {});
  void module(const LoadedModule& module);
  FileNo file(std::string_view path, std::uint64_t size, bool before);
  void remove(FileNo file);
  // Content from before the recording: whole pages of zeros are left out.
  void fileData(PmAddr addr, std::string_view bytes);

  EventNo event(EventKind kind, ThreadNo thread, PmAddr addr = 0, std::uint64_t value = 0, unsigned len = 0,
                StackId where = 0);
  EventNo blob(EventKind kind, ThreadNo thread, PmAddr addr, std::string_view payload, unsigned len = 0);
  // A store of any width at any address, cut into pieces.
  void store(EventKind kind, ThreadNo thread, PmAddr addr, std::string_view bytes, StackId where = 0);

  // Identities for a recorder that goes on with this trace: of the private copy and of the user's file.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  void identify(FileNo file, Identity copy, Identity original);

  // The whole file: unsealed, so that a recorder can go on, or sealed. Not of one that is spooled.
  std::string bytes() const;
  std::string sealedBytes() const;
  Result<void> save(const std::string& path, bool sealed);

 private:
  struct Spool;
  std::uint64_t size() const;
  void appended();
  void flush();

  std::vector<char> header_;
  std::string events_;  // that are not in the spool
  std::shared_ptr<Spool> spool_;
  blackout_trace_header& header() { return *reinterpret_cast<blackout_trace_header*>(header_.data()); }
};

// Records of sites for a trace that is not sealed: each replaces the one of its number.
Result<void> appendSites(const std::string& path, std::span<const std::pair<SiteNo, Site>> sites);

// Ends a recording: cuts the file after its last whole event, adds the program's end, further problems
// (BLACKOUT_PROBLEM_*) and the checksums.
Result<void> sealTrace(const std::string& path, int waitStatus, std::uint32_t problems = 0);

}  // namespace blackout
