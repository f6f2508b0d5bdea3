// WholeRecord: consecutive observations of uncertain bytes by one mem* call, one blackout_checksum range, or one
// instruction with no other observation and no decision between them. A decision is a question whose reply changed what
// was asked next. Once a run of pieces has more combinations than are tried one by one, only some combinations are
// worth a branch: all lines but one at their newest, all but one at their oldest, and a seeded sample. So a record that
// is read whole costs its size, not the product of its pieces. (Jaaru, section 4: recovery that validates a checksum.)
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "explore/crash_space.h"
#include "run/run.h"

namespace blackout {

// A run of pieces on the way of one walk.
class WholeRecord {
 public:
  static constexpr std::size_t kSamples = 8;
  // So many combinations are explored exactly: a short loop over flags looks like a checksum, and must not be taken for
  // one.
  // Of a record that the program itself calls checksummed, two lines.
  static constexpr std::uint64_t kExact = 256;
  static constexpr std::size_t kExactLines = 2;

  bool active() const { return active_; }
  void end() { active_ = false; }
  // Begins with a query; not active if the query can't begin one.
  void begin(const Query& q, std::uint64_t seed);
  bool belongs(const Query& q) const {
    return active_ && (group_ != 0 || q.group != 0 ? group_ == q.group : site_ == q.site);
  }
  std::uint64_t site() const { return site_; }
  bool annotated() const { return group_ != 0; }
  std::uint32_t lines() const { return static_cast<std::uint32_t>(lines_.size()); }

  // The line is about to be observed with these versions left.
  void join(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left);
  // Whether a class of versions of a joined line is worth a branch.
  bool allows(TrackedNo w, const std::vector<std::uint32_t>& versions) const;
  void choose(TrackedNo w, const std::vector<std::uint32_t>& versions);
  // The version of `left` with which a walk goes on: what leads to a combination that is wanted.
  std::uint32_t favoured(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left) const;
  // Whether `favoured` may be something else than the first for lines that have not joined.
  bool favoursOthers() const { return active_ && notOldest_ > 1; }

 private:
  struct Line {
    std::uint32_t oldest = 0;
    std::uint32_t newest = 0;
    bool atOldest = true;
    bool atNewest = true;
    std::array<std::uint32_t, kSamples> picks{};
  };
  std::size_t find(TrackedNo w) const;  // lines_.size(): it has not joined
  std::uint32_t pick(std::size_t sample, TrackedNo w, const std::vector<std::uint32_t>& left) const;

  bool active_ = false;
  std::uint32_t group_ = 0;
  std::uint64_t site_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<Line> lines_;
  std::unordered_map<TrackedNo, std::size_t> places_;  // in lines_
  std::uint64_t combinations_ = 1;                     // of the versions of its lines; no more than kExact + 1
  std::uint32_t notOldest_ = 0;
  std::uint32_t notNewest_ = 0;
  std::uint32_t alive_ = 0;  // samples that agree with all choices so far, as bits
};

// Whether a class of versions (ascending) has this one.
bool hasVersion(const std::vector<std::uint32_t>& versions, std::uint32_t v);

}  // namespace blackout
