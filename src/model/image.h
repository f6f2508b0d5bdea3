// The files that a crash state leaves behind: what the next start of the program finds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/crash_state.h"
#include "model/index.h"
#include "model/sparse_bytes.h"

namespace blackout {

struct FileImage {
  std::string path;
  std::uint64_t size = 0;
  SparseBytes bytes;  // zero beyond the size
  // Its number in the trace of the last level that knows it.
  FileNo number = 0;
};

struct Image {
  std::vector<FileImage> files;  // those that exist

  // Null if there is none.
  const FileImage* find(std::string_view path) const;
};

// The image of a crash state; level i is a crash in the trace of indexes[i]. A recovery's trace
// begins with the files that the level before it left: they are matched by path, and
// its stores lie over their content. An error in one sentence if a level's version is not feasible
// or a recovery knows a file from before that isn't there. Whole pages are shown where the traces have them, which must
// outlive it.
Result<Image> buildImage(const CrashState& state, std::span<const Index* const> indexes);

// One level on its own.
Result<Image> buildImage(const CrashLevel& level, const Index& index);

}  // namespace blackout
