// `--out FOLDER`: everything that one check leaves behind in a folder of its own, FOLDER/1, FOLDER/2 and so on: the
// report as text, as JSON and as a page, and the findings' files. FOLDER/latest leads to the last that was finished.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

class RunFolder {
 public:
  // Makes the next one. Several checks at a time get different ones.
  static Result<RunFolder> make(const std::string& parent);

  const std::string& path() const { return path_; }
  // A file of it, whole or not at all.
  Result<void> write(const std::string& name, std::string_view content) const;
  // Lets `latest` lead here.
  Result<void> finish() const;

 private:
  std::string parent_;
  std::string path_;
  std::string name_;
};

}  // namespace blackout
