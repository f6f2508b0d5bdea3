// `--suppressions FILE`: findings that the user knows of and does not want to hear about again. A file has one
// suppression per line, kind:pattern, empty lines and comments (# first). The kind is one of finding_kinds.def, or a
// class of them (race, semantic, performance). The pattern (findings/pattern.h) is matched against the function, the
// source file and the object of every call, inlined ones included, of every numbered place of a finding; that of an
// unprotected store also against its struct and field ("Super.files").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/report.h"

namespace blackout {

struct Suppression {
  std::string file;  // as the user named it
  std::uint32_t line = 0;
  std::string text;                 // "idle-fence:drain*"
  std::optional<FindingKind> kind;  // none: all of the class
  BugClass bugClass{};
  std::string pattern;
  bool operator==(const Suppression&) const = default;
};

bool matches(const Suppression& suppression, const Finding& finding);

// Far more than anybody writes by hand: what is larger is some other file, named by mistake.
constexpr std::size_t kMaxSuppressionFile = std::size_t{1} << 20;

class Suppressions {
 public:
  // Errors name the file and the line.
  static Result<Suppressions> read(const std::vector<std::string>& files);
  Result<void> parse(std::string_view text, const std::string& file);

  const std::vector<Suppression>& rows() const { return rows_; }

 private:
  std::vector<Suppression> rows_;
};

// Takes the findings that are suppressed out of a resolved report and says in it which suppression hid how many. A
// finding that several match counts for the first.
void applySuppressions(Report& report, const Suppressions& suppressions);

// The line that would hide the finding: by the innermost function that is known, else by file or object. Empty if
// nothing is known of its places.
std::string suppressionFor(const Finding& finding);

// The same for all findings, each line once, in their order.
std::vector<std::string> suppressionsFor(const std::vector<Finding>& findings);

}  // namespace blackout
