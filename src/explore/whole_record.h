// WholeRecord: consecutive observations of uncertain bytes by one mem* call, one blackout_checksum range, or one
// instruction with no other observation and no decision between them. A decision is a question whose reply changed what
// was asked next. Once a run of pieces has more combinations than are tried one by one, it may be a record that is
// trusted only if it is whole (Jaaru, section 4: recovery that validates a checksum), and only some combinations are
// worth a branch: all lines but one at their newest, all but one at their oldest, and a seeded sample. So such a record
// costs its size, not the product of its pieces.
//
// Of a sum that somebody answers for fewer are tried: no torn line in what is all but missing, and a smaller sample.
//
// That it is one is a hypothesis, which these combinations test: where they don't all go on alike, all whole and all
// missing apart, the search gives the hypothesis up and explores the pieces like any other reads (search.h).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "events/recovery_contract.h"
#include "explore/assumption.h"
#include "explore/crash_space.h"
#include "explore/recovery_tree.h"
#include "explore/weak_sums.h"

namespace blackout {

// A run of pieces on the way of one walk.
class WholeRecord {
 public:
  // What fails in an eighth of the states is missed by 64 samples once in 5,000.
  static constexpr std::size_t kSamples = 64;
  // Enough for a record that the program itself calls checksummed, and for a sum that somebody answers for while its
  // combinations are few enough to be searched for those that deceive it (weak_sums.h).
  static constexpr std::size_t kDeclaredSamples = 8;
  // While there are no more combinations than these, all are handed out. Of a record that the program itself calls
  // checksummed, two lines.
  static constexpr std::uint64_t kExact = 64;
  static constexpr std::size_t kExactLines = 2;
  static constexpr std::uint64_t kExactAnswered = 16;

  bool active() const { return active_; }
  void end() { active_ = false; }
  // Begins with the query of a node; not active if that can't begin one. `answered`: by one instruction, for whose sum
  // somebody answers.
  void begin(NodeNo n, const Query& q, std::uint64_t seed, bool answered);
  bool belongs(const Query& q) const {
    return active_ && (group_ != 0 || q.group != 0 ? group_ == q.group : site_ == q.site);
  }
  RecordKey key() const;
  NodeNo begins() const { return begins_; }
  bool byOneInstruction() const { return group_ == 0; }
  bool answered() const { return answered_; }
  std::uint32_t lines() const { return static_cast<std::uint32_t>(lines_.size()); }

  // These bytes of the line are about to be observed with these versions left.
  void join(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left, std::uint64_t mask);
  // It reads these bytes of the line, whether or not they differ.
  void sees(TrackedNo w, std::uint64_t mask) { seen_[w] |= mask; }
  // Whether a class of versions of a joined line is worth a branch.
  bool allows(TrackedNo w, const std::vector<std::uint32_t>& versions) const;
  void choose(TrackedNo w, const std::vector<std::uint32_t>& versions);
  // The version of `left` with which a walk goes on: what leads to a combination that is wanted.
  std::uint32_t favoured(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left) const;
  // Whether there are more combinations than are tried one by one.
  bool sampled() const {
    if (!active_) return false;
    return declared() ? lines_.size() > kExactLines
                      : states_ > static_cast<double>(answered_ ? kExactAnswered : kExact);
  }
  // How many there are, by what the bytes that it reads may hold: versions that differ elsewhere are the same to it.
  double states() const { return states_; }
  // The one that was chosen, as a number; and whether it is all of the record, or nothing of it.
  std::uint64_t combination() const { return combination_; }
  bool allNewest() const { return notNewest_ == 0; }
  bool allOldest() const { return notOldest_ == 0; }
  // Its bytes that may be one thing or another, by line.
  std::vector<std::pair<TrackedNo, std::uint64_t>> bytes() const;
  // Its uncertain lines, ascending, with the versions that were left and the bytes that were read.
  std::vector<SummedLine> summed() const;
  // Whether `favoured` may be something else than the first for lines that have not joined.
  bool favoursOthers() const { return active_ && notOldest_ > 1; }

 private:
  struct Line {
    std::uint32_t oldest = 0;
    std::uint32_t newest = 0;
    bool atOldest = true;
    bool atNewest = true;
    const UncertainLine* of = nullptr;
    std::vector<std::uint32_t> first;  // versions that were left when it joined
    std::uint64_t mask = 0;            // bytes that were observed since
    std::size_t values = 1;            // how many different ones these may have
  };
  bool declared() const { return (group_ & BLACKOUT_GROUP_CHECKSUM) != 0; }
  std::size_t samples() const;
  // What a choice adds to the lines that are not as the newest, or the oldest.
  struct Departures {
    std::uint32_t newest = 0;
    std::uint32_t oldest = 0;
  };
  Departures departures(const Line& line, const std::vector<std::uint32_t>& versions) const;
  std::size_t find(TrackedNo w) const;  // lines_.size(): it has not joined
  std::uint32_t pick(std::size_t sample, TrackedNo w, const std::vector<std::uint32_t>& left,
                     std::uint32_t newest) const;

  bool active_ = false;
  bool answered_ = false;
  NodeNo begins_ = 0;
  std::uint32_t group_ = 0;
  std::uint64_t site_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<Line> lines_;
  std::unordered_map<TrackedNo, std::size_t> places_;  // in lines_
  std::unordered_map<TrackedNo, std::uint64_t> seen_;  // bytes, by line
  double states_ = 1;
  std::uint64_t combination_ = 0;
  std::uint32_t notOldest_ = 0;
  std::uint32_t notNewest_ = 0;
  std::uint64_t alive_ = 0;  // samples that agree with all choices so far, as bits
};

// Whether a class of versions (ascending) has this one.
bool hasVersion(const std::vector<std::uint32_t>& versions, std::uint32_t v);

}  // namespace blackout
