// A few lines of a source file around a place, with a mark under the column.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace blackout {

struct ExcerptLine {
  std::uint32_t number = 0;
  std::string text;  // tabs expanded, escaped
  std::string mark;  // "      ^" under the place's line, else empty
  bool operator==(const ExcerptLine&) const = default;
};

// Reads each file once. A file that can't be read, or has no such line, gives no excerpt: sources
// are often not where the program was built.
class SourceFiles {
 public:
  std::vector<ExcerptLine> excerpt(const std::string& path, std::uint32_t line, std::uint32_t column,
                                   std::uint32_t context);

  // All lines as they are; null: it can't be read.
  const std::vector<std::string>* linesOf(const std::string& path);

 private:
  std::map<std::string, std::optional<std::vector<std::string>>> files_;
};

}  // namespace blackout
