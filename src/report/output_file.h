// A file that a report is written to. Whether it can be written is asked before the program runs, so
// that no long run is lost to a mistyped folder; the content arrives whole, by a rename, or not
// at all.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

class OutputFile {
 public:
  // "-" is standard output. `option` names the option in the complaint.
  static Result<OutputFile> prepare(const std::string& path, const std::string& option);

  Result<void> write(std::string_view content) const;
  bool isStandardOutput() const { return path_ == "-"; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool direct_ = false;  // a device, or a folder that takes no new files: written in place
};

}  // namespace blackout
