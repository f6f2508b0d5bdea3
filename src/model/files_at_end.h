// A trace replayed with everything persisted: what the files hold when the program ended. The
// recorder checks itself with it. One pass over the trace, and memory only for pages that were
// written, so that a large sparse pool costs little.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"
#include "model/sparse_bytes.h"

namespace blackout {

struct ReplayedFile {
  FileNo number = 0;
  std::string path;  // its last one
  bool removed = false;
  std::uint64_t size = 0;
  SparseBytes bytes;
};

// The files while a trace is read, with everything persisted so far. Events are given in order.
class Replay {
 public:
  explicit Replay(const Trace& trace) : trace_(&trace), files_(1) {}
  void event(EventNo n);
  // Zero where nothing is known.
  void read(PmAddr addr, std::span<std::byte> bytes) const {
    if (files_.has(fileOf(addr))) files_[fileOf(addr)].bytes.read(offsetOf(addr), bytes);
  }
  std::uint64_t sizeOf(FileNo f) const { return files_.has(f) ? files_[f].size : 0; }
  std::vector<ReplayedFile> take();

 private:
  const Trace* trace_;
  IdVector<FileNo, ReplayedFile> files_;  // row 0 is empty
};

// All files of the trace, by number. What they held before the recording is shown where the trace has it, which must
// outlive them.
std::vector<ReplayedFile> replay(const Trace& trace);

// The first ranges, at most `max`, in which a file on disk differs from the replayed one; bytes
// that only one of them has differ. Holes of the file are skipped, not read. `compared` is called now and then, when
// what was compared so far will not be read again.
Result<std::vector<PmRange>> firstDifferences(const ReplayedFile& file, const std::string& path, std::size_t max,
                                              const std::function<void()>& compared = {});

}  // namespace blackout
