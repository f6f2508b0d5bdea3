// `--trust OBJECT`: a library whose crash consistency is taken for granted. A call into it is one step: no crash
// inside it is of interest, only one before it, and what it does there is its own affair.
//
// An event is inside such a call if the trusted object is anywhere on its stack: its instruction lies in it (by its
// site), or one of the calls that led to it was made there, so that what the library calls back is inside as well.
//
// What is approximated:
//  - A trace has return addresses and no beginnings and ends of calls. Events of a thread belong to one call if the
//    outermost trusted function was called from the same place by the same callers, and if nothing of the caller's came
//    in between: an event outside, or an operation's mark. So calls in a loop that does nothing else count as one; mark
//    them as operations, and they are told apart.
//  - Stacks are cut at --stack-depth. Where that hides the outermost call, a deeper one stands for it.
//  - Code of a header that is in a trusted and in another object alike is trusted only by its callers.
//  - A crash may still come in the middle of a call, just before an event of another thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

// One of PMDK's own libraries, by its path.
bool isPmdkLibrary(std::string_view path);

class Trusted {
 public:
  // Patterns as in suppressions: file names, ends of paths, globs. An error if one of them matches nothing that the
  // program loaded, or what can't be trusted. The trace must outlive it.
  static Result<Trusted> of(const Trace& trace, const std::vector<std::string>& patterns);

  // The same for PMDK's own libraries, as many of them as the program loaded, and further objects; none: it loaded none
  // of PMDK's.
  static Result<std::optional<Trusted>> pmdk(const Trace& trace, std::vector<std::string> further = {});

  bool inside(const Event& e) const { return callStacks_[stackOf(e)].inside; }
  bool inside(EventNo n) const;
  bool insideAt(StackId where) const { return callStacks_[where].inside; }
  // Names the call that the place is inside of: equal for events of one call.
  std::uint64_t callAt(StackId where) const { return callStacks_[where].call; }
  // Whether the instruction lies in a trusted object, and in no other.
  bool trustedSite(std::uint64_t siteId) const { return sites_.contains(siteId); }
  bool contains(const Site& site) const { return trustedSite(site.id); }

  // The points (ascending), with those inside a call replaced by one just before its first event. What a call left is
  // seen by a point behind it, which is added where there is none.
  std::vector<EventNo> thin(const std::vector<EventNo>& points) const;

  // Paths of the trusted objects.
  const std::vector<std::string>& objects() const { return objects_; }

 private:
  struct WhereRow {
    bool inside = false;
    std::uint64_t call = 0;  // names the call: equal for events of one call
  };

  explicit Trusted(const Trace& trace) : trace_(&trace) {}
  Result<void> choose(const std::vector<std::string>& patterns);
  Result<void> readSites();
  void readWheres();

  const Trace* trace_;
  std::vector<std::string> objects_;
  std::unordered_set<std::uint64_t> sites_;
  IdVector<StackId, WhereRow> callStacks_;
};

}  // namespace blackout
