// `--out FOLDER`: everything that one check leaves behind in a folder of its own, FOLDER/1, FOLDER/2 and so on, of
// which FOLDER/index.db knows (report/run_index.h). FOLDER/latest leads to the last that was finished.
//
// Old ones are removed when there are too many. What is removed must be a run for certain: the index has its number,
// the folder has the mark that the index knows, and nobody is at work in it. What else lies in FOLDER is not ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "findings/report.h"

namespace blackout {

class RunFolder {
 public:
  // Makes the next one. Several checks at a time get different ones.
  static Result<RunFolder> make(const std::string& parent);

  const std::string& path() const { return path_; }
  // A file of it, whole or not at all; `name` may lie in a folder, which is made.
  Result<void> write(const std::string& name, std::string_view content) const;
  // Notes in the index what came of the run, and lets `latest` lead here.
  Result<void> finish(const Report& report, FailOn failOn) const;

  struct Limits {
    std::uint64_t runs = 0;   // so many stay; 0: all
    std::uint64_t bytes = 0;  // on the disk, of all runs together; 0: any number
  };
  // Removes the oldest runs until the others, and this one in any case, keep to the limits. Returns what was removed, a
  // sentence; empty: nothing.
  Result<std::string> removeOldest(const Limits& limits) const;

 private:
  std::string parent_;
  std::string path_;
  std::uint64_t number_ = 0;
  std::shared_ptr<const int> lock_;  // held as long as somebody is at work in it
};

}  // namespace blackout
