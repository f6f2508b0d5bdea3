// Which stores of a trace are likely to commit an operation (Durinn, section 5.2): those to *instances* of guardians,
// the addresses that the guardians' deciding reads touched in the trace, and locked instructions; but not those to
// memory that nothing persistent leads to yet and that is published later (publish after initialisation).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/site.h"
#include "infer/guardians.h"

namespace blackout {

struct LikelyCommit {
  EventNo store = 0;
  FieldKey guardian;  // empty: only because it is a locked instruction, or an atomic store
  bool locked = false;
  bool atomic = false;  // a store that the source calls atomic
  bool operator==(const LikelyCommit&) const = default;
};

// Bytes of PM that a guardian's deciding reads touched; of one whose reads are none of the trace's (a restart has
// them), those that its writes touched.
struct GuardianInstance {
  PmAddr begin = 0;
  std::uint64_t size = 0;
  FieldKey guardian;
  bool operator==(const GuardianInstance&) const = default;
};

struct LikelyCommits {
  std::vector<LikelyCommit> commits;        // in order of the trace
  std::vector<GuardianInstance> instances;  // in order of address, then field
  std::uint64_t loads = 0;                  // in the trace
  std::uint64_t stores = 0;                 // in the trace
  // What each rule alone leaves of them (Durinn, figure 11): those to instances or by locked instructions, and those to
  // memory that is published or never is.
  std::vector<EventNo> toGuardians, published;
};

// Whether stores that the source calls atomic count, as locked instructions do: a word that is replaced in place has no
// guardian.
enum class AtomicStores : std::uint8_t { Plain, Commit };

// What has to be known of a guardian for it: plain values, which one analysis gives for any number of traces.
struct GuardianAccesses {
  FieldKey field;
  std::vector<std::uint64_t> reads, writes;  // ids of accesses (infer/access_id.h)
  std::string why;                           // "map.cpp:60 tests ..."; empty: there is no example
  bool operator==(const GuardianAccesses&) const = default;
};
std::vector<GuardianAccesses> accessesOf(const Guardians& guardians);  // in order of field

LikelyCommits likelyCommits(const Trace& trace, const std::vector<GuardianAccesses>& guardians,
                            AtomicStores atomic = AtomicStores::Plain);

// "sets Bucket.valid: map.cpp:60 tests Bucket.valid before map.cpp:61 reads Bucket.key": for reports.
std::string reasonOf(const LikelyCommit& commit, const std::vector<GuardianAccesses>& guardians);

}  // namespace blackout
