// What happened to the pool files themselves: existence, path, size, the content they began
// with, and the bytes that were zeroed. All of it takes effect at once and is settled under the
// models that are ready.
//
//   - A file that was there before the recording has its first size and its content (FileData)
//     from the beginning of the trace; any other file has its content from its birth. So no point
//     ever sees half of what the recorder wrote down about a file.
//   - A file that shrinks loses its bytes, and growing again gives zeros: a shrink is a zeroing of the
//     bytes that went. Zeroing (FileZero too) is no store: it is part of every version from its
//     event on, it orders and guarantees nothing, and a store from before it survives, if it does, only in
//     the bytes that were not zeroed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "events/trace.h"
#include "model/crash_state.h"
#include "model/sparse_bytes.h"

namespace blackout {

struct ZeroRange {
  EventNo at = 0;
  std::uint64_t begin = 0;  // offsets in the file
  std::uint64_t end = 0;
};

class FileTimeline {
 public:
  explicit FileTimeline(const Trace& trace) : trace_(&trace), files_(1) {}

  // Takes an event of group File. True if it changes what a crash leaves, which the set-up of a
  // file that was there before does not.
  bool event(EventNo n);
  void finish();

  // Files have numbers 1 to count(). A point is just before event `at`.
  FileNo count() const { return static_cast<FileNo>(files_.size() - 1); }
  bool existedBefore(FileNo f) const { return files_[f].before; }
  bool existsAt(FileNo f, EventNo at) const;
  std::uint64_t sizeAt(FileNo f, EventNo at) const;
  std::string_view pathAt(FileNo f, EventNo at) const;
  std::span<const ZeroRange> zeroRanges(FileNo f) const { return files_[f].zeros; }
  // kNever if it was not removed.
  EventNo removedAt(FileNo f) const { return files_[f].removed; }

  // What the line held before any store.
  void initialBytes(LineNo line, LineBytes& out) const;
  void initialBytes(FileNo f, SparseBytes& out) const;

  // The bytes of the line, as a mask, that were zeroed after event `after` and before `at`.
  std::uint64_t zeroedMask(LineNo line, EventNo after, EventNo at) const;

 private:
  struct Change {
    EventNo at;
    std::uint64_t value;  // a size, or the event with the path
  };
  struct File {
    EventNo born = 0;
    EventNo removed = UINT32_MAX;
    bool before = false;
    std::vector<Change> sizes;
    std::vector<Change> paths;
    std::vector<ZeroRange> zeros;
    std::vector<EventNo> data;
  };
  struct PageData {
    std::uint64_t page;  // PM address / SparseBytes::kPage
    EventNo event;
    auto operator<=>(const PageData&) const = default;
  };

  const Trace* trace_;
  std::vector<File> files_;
  std::vector<PageData> pages_;  // sorted: FileData events by the pages that they touch
};

}  // namespace blackout
