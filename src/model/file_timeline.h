// What happened to the pool files themselves: existence, path, size, the content they began with, and the bytes that
// were zeroed.
//
//   - Creations, renames, sizes and removals are the history of the files, in trace order over all of them. Each is
//     guaranteed or not, as the model says (PersistencyModel::fileEvent; under the models that are ready each is at
//     once), and what survives of them is a down-set, just as of a line's stores: two changes of one file, or of one
//     path, are in trace order; others are not ordered.
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
#include <string>
#include <string_view>
#include <vector>

#include "events/site.h"
#include "model/crash_state.h"
#include "model/sparse_bytes.h"

namespace blackout {

// A pool file as a crash leaves it. Numbers are those of the program's trace; in a request (run.h) a file that a
// recovery made itself has a number above them.
struct FileState {
  FileNo number = 0;
  std::string path;
  std::uint64_t size = 0;
  auto operator<=>(const FileState&) const = default;
};

// An entry of the files' history.
struct FileChange {
  EventNo event = 0;
  FileNo file = 0;
  // The event that made it guaranteed: it is so at every point after that number.
  EventNo guaranteedAt = kNever;
  // Events with the paths that it takes from the file and gives to it; kNever: none.
  EventNo from = kNever;
  EventNo to = kNever;
};

// A version of the files with what it holds: those that exist, ascending by number.
struct FilesVersion {
  Version version;
  std::vector<FileState> files;
};

struct FilesVersions {
  // One per distinct outcome, smallest down-set first: the first is the least version.
  std::vector<FilesVersion> versions;
  std::size_t newest = 0;  // the one with everything
  bool complete = true;    // false: the enumeration was stopped at its limit
};

inline constexpr std::size_t kFilesVersionLimit = 4096;

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

  // --- what is guaranteed, told by a model while the trace is read ---
  // The change becomes guaranteed, and with it what is ordered before it.
  void guarantee(std::uint32_t change, EventNo at);
  void guaranteeAll(EventNo at);
  // Changes that are not guaranteed, ascending.
  std::span<const std::uint32_t> open() const { return open_; }

  // --- the history ---
  std::span<const FileChange> changes() const { return changes_; }
  // Whether some point may leave more than one version of the files.
  bool uncertain() const { return uncertain_; }
  Version leastAt(EventNo at) const;
  Version newestAt(EventNo at) const { return {changesBefore(at), {}}; }
  FilesVersions versionsAt(EventNo at) const;
  bool isFeasible(EventNo at, const Version& version) const;
  // The files that a version leaves, ascending by number.
  std::vector<FileState> filesIn(EventNo at, const Version& version) const;

  // Files have numbers 1 to last(). A point is just before event `at`. `survived`: of the changes before it only
  // these; null: all of them, which is what the program saw.
  FileNo last() const { return files_.endId() - 1; }
  bool existedBefore(FileNo f) const { return files_[f].before; }
  bool existsAt(FileNo f, EventNo at, const Version* survived = nullptr) const;
  std::uint64_t sizeAt(FileNo f, EventNo at, const Version* survived = nullptr) const;
  std::string_view pathAt(FileNo f, EventNo at, const Version* survived = nullptr) const;
  std::span<const ZeroRange> zeroRanges(FileNo f) const { return files_[f].zeros; }
  // kNever if it was not removed.
  EventNo removedAt(FileNo f) const { return files_[f].removed; }

  // What the line held before any store.
  void initialBytes(LineNo line, LineBytes& out) const;
  // Shown where the trace has it.
  void initialBytes(FileNo f, SparseBytes& out) const;

  // The bytes of the line, as a mask, that were zeroed after event `after` and before `at`.
  std::uint64_t zeroedMask(LineNo line, EventNo after, EventNo at) const;

 private:
  static constexpr std::uint32_t kSetUp = UINT32_MAX;  // no change: so it was found
  template <class T>
  struct Change {
    EventNo at;
    T value;
    std::uint32_t number = kSetUp;  // in changes_
  };
  struct File {
    EventNo born = 0;
    std::uint32_t birth = kSetUp;  // in changes_
    EventNo removed = kNever;
    std::uint32_t removal = kSetUp;
    bool before = false;
    std::vector<Change<std::uint64_t>> sizes;
    std::vector<Change<EventNo>> paths;  // the events with them
    std::vector<ZeroRange> zeros;
    std::vector<EventNo> data;
  };
  struct PageData {
    std::uint64_t page;  // PM address / SparseBytes::kPage
    EventNo event;
    auto operator<=>(const PageData&) const = default;
  };

  std::uint32_t add(EventNo n, EventNo from = kNever, EventNo to = kNever);
  std::uint32_t changesBefore(EventNo at) const;
  // Whether `earlier` must survive if `later` does, by a single step of the order.
  bool ordered(const FileChange& earlier, const FileChange& later) const;

  const Trace* trace_;
  IdVector<FileNo, File> files_;
  std::vector<FileChange> changes_;
  std::vector<std::uint32_t> open_;  // changes that are not guaranteed yet
  bool uncertain_ = false;
  std::vector<PageData> pages_;  // sorted: FileData events by the pages that they touch
};

}  // namespace blackout
