// A tiny traced program for tests: one 4096-byte pool, one call per event, and the set of states
// that a crash may leave, as the values of a few chosen bytes.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "events/trace_writer.h"
#include "model/cursor.h"
#include "model/image.h"
#include "model/index.h"

namespace blackout::test {

// Values of the chosen bytes after a crash, and all that are possible.
using Bytes = std::vector<int>;
using States = std::set<Bytes>;

class TinyProgram {
 public:
  explicit TinyProgram(std::uint64_t size = 4096, bool before = true, std::string path = "/pool");
  TinyProgram(TinyProgram&&) noexcept;
  ~TinyProgram();

  // Offsets are in the pool; t is the thread.
  PmAddr at(std::uint64_t offset) const { return pmAddr(file_, offset); }
  EventNo store(ThreadNo t, std::uint64_t offset, std::uint64_t value, unsigned len = 1) {
    return writer.event(EventKind::Store, t, at(offset), value, len);
  }
  EventNo nt(ThreadNo t, std::uint64_t offset, std::uint64_t value, unsigned len = 8) {
    return writer.event(EventKind::StoreNt, t, at(offset), value, len);
  }
  EventNo rmw(ThreadNo t, std::uint64_t offset, std::uint64_t value, unsigned len = 8) {
    return writer.event(EventKind::Rmw, t, at(offset), value, len);
  }
  EventNo rmw16(ThreadNo t, std::uint64_t offset, std::uint64_t low, std::uint64_t high) {
    EventNo n = writer.event(EventKind::Rmw, t, at(offset), low, 8 | BLACKOUT_JOINED);
    writer.event(EventKind::Rmw, t, at(offset + 8), high, 8);
    return n;
  }
  void wide(ThreadNo t, std::uint64_t offset, const std::string& bytes, EventKind kind = EventKind::Store) {
    writer.store(kind, t, at(offset), bytes);
  }
  EventNo clflush(ThreadNo t, std::uint64_t offset) { return writer.event(EventKind::Clflush, t, at(offset)); }
  EventNo clflushopt(ThreadNo t, std::uint64_t offset) { return writer.event(EventKind::Clflushopt, t, at(offset)); }
  EventNo clwb(ThreadNo t, std::uint64_t offset) { return writer.event(EventKind::Clwb, t, at(offset)); }
  // Any event without an address: fences, locks, threads, marks.
  EventNo event(EventKind kind, ThreadNo t = 1) { return writer.event(kind, t); }
  EventNo sfence(ThreadNo t) { return event(EventKind::Sfence, t); }
  EventNo mfence(ThreadNo t) { return event(EventKind::Mfence, t); }
  EventNo range(EventKind kind, ThreadNo t, std::uint64_t offset, std::uint64_t size) {
    return writer.event(kind, t, at(offset), size);
  }
  EventNo opBegin(ThreadNo t, std::string_view name = "op") { return writer.blob(EventKind::OpBegin, t, 0, name); }
  EventNo opEnd(ThreadNo t) { return event(EventKind::OpEnd, t); }

  // Ends the program; the trace and what refers to it live as long as this object.
  const Trace& trace();
  EventNo end();  // of the trace
  const Index& index(std::string_view options = "");

  // What the bytes at `offsets` may be after a crash just before event `point`, by the product
  // over all lines of their versions.
  States statesAt(EventNo point, const std::vector<std::uint64_t>& offsets, std::string_view options = "");
  States statesAtEnd(const std::vector<std::uint64_t>& offsets, std::string_view options = "");
  // The same over many points.
  States statesOver(PointsMode mode, const std::vector<std::uint64_t>& offsets, std::string_view options = "");

  TraceWriter writer;

 private:
  FileNo file_;
  std::string bytes_;
  std::unique_ptr<Trace> trace_;
  std::vector<std::unique_ptr<Index>> indexes_;
};

// Every crash level of the index at a point: the product over its uncertain lines. Stops the test
// if there are more than `max`.
std::vector<CrashLevel> allLevels(const Index& index, EventNo point, std::size_t max = 100000);

}  // namespace blackout::test
