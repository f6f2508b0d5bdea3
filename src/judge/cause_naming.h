// The cause of one failing crash state. The state is made as small as it gets: as few lost stores as possible, by
// letting one line after the other persist as long as the restart fails in the same way. What is left is the store
// whose loss matters. What relies on it is the store without which the failure is gone (so it is what leads there),
// also if the lost store had persisted (so it can wait for it): then their order is what is wrong, and the trace says
// how. If the second does not hold, neither may be there without the other: the update is not atomic. Where no single
// store is what leads there, several are. A restart that follows a pointer into the memory of the earlier process fails
// by that, whatever was lost. The cure that the name asks for is tried (cure.h); what it does not cure is named
// otherwise, or has no cure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "judge/cure.h"
#include "judge/state_probe.h"

namespace blackout {

struct Cause {
  FindingKind kind{};
  // The smallest state that shows it.
  SpaceNo space = 0;
  ChosenVersions chosen{UnnamedLines::Newest};
  RecoveryNo recovery = 0;
  std::string key;  // Verdict::key of its outcome

  // stale-pointer: what it was shown with (stale_pointers.h); none: it fails by itself.
  std::vector<ReplacedWord> replaced;

  std::vector<StoreRef> lost;  // all stores that the state loses of what the recovery reads
  // The store that is lost, or comes too late; not-atomic: that begins the update; stale-pointer: of the pointer.
  std::optional<StoreRef> first;
  std::optional<StoreRef> second;   // what survives and relies on it; not-atomic: that completes the update
  std::optional<EventNo> promised;  // instead of `second`: the operation of the lost store had ended here
  std::optional<EventNo> flush;     // that no fence completed in time, or that came too late
  std::optional<std::size_t> read;  // the observation in which the recovery met the lost store's bytes
  bool tested = false;              // what `first` and `second` are to each other was found by runs
  bool eitherWay = false;           // not-atomic: a crash may keep each of the two without the other
  bool late = false;                // wrong-order: `first` was stored after `second`
  std::vector<StoreRef> others;     // not-atomic: further stores of the update, besides the two
  unsigned lines = 0;               // not-atomic: `first` alone is the update, over so many lines; 0: it is not
  bool sameBytes = false;           // not-atomic: `second` replaces what `first` stored
  // The same: where the two are updated the other way round, and a crash in between fails in the same way.
  std::optional<std::pair<StoreRef, StoreRef>> mirrored;
  bool everFlushed = false;  // whether a flush of its line follows `first`, in time or not
  bool everFenced = false;   // whether a fence follows that flush, in time or not

  // Nothing is lost: the neighbouring points at which it fails, and whether they begin where a pool file was made.
  std::optional<std::pair<SpaceNo, SpaceNo>> window;
  bool creation = false;
  // not-atomic: `first` could have waited for `second`, which was tried, though that seems to end what protects it.
  bool canWait = false;
  // The same: no single store begins the update, those of these instructions together do; without all of them the
  // restart ends well.
  std::set<SiteKey> begun;

  // What was tried and works; none: nothing did, or nothing could be tried.
  std::optional<CureKind> cure;
  // Add: the bytes that a transaction had not logged, as the stores to them, and its begin and end. None: that was not
  // tried by putting these bytes back.
  struct NotAdded {
    Unlogged in;
    std::vector<StoreNo> stores;  // the pieces of the one that the finding tells
  };
  std::optional<NotAdded> notAdded;
  // Flushes and fences: what they make of the trace. Of bytes that a transaction had not logged: durable before what
  // relies on them, as logged ones are.
  std::shared_ptr<CureTrial::Applied> applied;
  std::uint64_t cured = 0;  // of `states`, those that can't come about then
  // Flushes and fences as a change of the source would make them, after which none of `states` can come about; the
  // cheapest first (fixes.h).
  std::vector<TriedFix> fixes;
  bool logged = false;   // Add: with these bytes logged, each of `states` ends well or can't come about
  bool examined = true;  // false: there were more failing states than are examined

  // How its states fail, in words, by Verdict::key; the smallest state's among them.
  std::map<std::string, std::string> symptoms;
  TestStage stage = TestStage::None;  // the first at which one of its states was met
  std::uint64_t states = 0;
  std::uint64_t points = 0;
  std::set<SiteKey> lostSites;  // of the recording's stores that these states lose
};

struct NamingOptions {
  std::size_t triesPerState = 1000;  // states that are asked for in order to make one small
  std::size_t candidates = 24;       // stores that are tried for what relies on the lost one
};

// The stores of a transaction, up to a crash in it, to bytes that it had not logged: rolled back as they should be,
// none of them would be there.
std::vector<StoreRef> madeUnlogged(const Index& index, const Cause::NotAdded& what, EventNo crash);

// Spaces that fail with nothing lost of the run in which the crash comes, and how (Verdict::key).
using WholeFailures = std::map<SpaceNo, std::string>;

// `chosen` leads to `recovery`, which fails.
Result<Cause> nameCause(StateProbe& probe, CureTrial& trial, const WholeFailures& whole, SpaceNo space,
                        RecoveryNo recovery, const ChosenVersions& chosen, const NamingOptions& options);

}  // namespace blackout
