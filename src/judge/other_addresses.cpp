#include "judge/other_addresses.h"

#include <algorithm>
#include <csignal>
#include <set>

#include "events/trace.h"
#include "judge/stale_pointers.h"

namespace blackout {

namespace {

constexpr std::size_t kTries = 16;  // restarts, each with reads at other places

// Words that ever held a number as large as an address, which is none of PM and is not moved anyway.
std::set<PmAddr> encodedWords(const Index& recording) {
  const Trace& trace = recording.trace();
  MovedAddresses addresses(trace);
  constexpr unsigned kSmallBits = 32;
  std::set<PmAddr> words;
  for (const StoreRow& row : recording.stores()) {
    const Event& e = trace[row.event];
    if (bytesOf(e) == sizeof e.value && e.value >> kSmallBits != 0 && e.value != UINT64_MAX &&
        !addresses.moved(e.value) && !addresses.stays(e.value))
      words.insert(e.addr);
  }
  return words;
}

bool faults(const Outcome& o) {
  return o.ending == Ending::Signalled && (o.code == SIGSEGV || o.code == SIGBUS || o.code == SIGILL);
}

// Sites of reads of these words, and the last of them.
std::set<std::uint64_t> readsOf(const RecoveryDetail& detail, const std::set<PmAddr>& words,
                                const TrackedBytes& tracked, std::uint64_t& last) {
  std::set<std::uint64_t> sites;
  for (const Observation& o : detail.observations) {
    if (o.query.kind != QueryKind::Bytes) continue;
    PmAddr line = addressOf(tracked.line(o.query.line()));
    for (auto at = words.lower_bound(line); at != words.end() && *at < line + BLACKOUT_LINE; ++at)
      if ((o.query.mask >> (*at - line) & 0xff) != 0) sites.insert(last = o.query.site);
  }
  return sites;
}

}  // namespace

Result<std::optional<FailsElsewhere>> failsElsewhere(StateProbe& probe, const Index& recording,
                                                     const RunnerElsewhere& elsewhere, const Patience& patience) {
  std::set<PmAddr> words = encodedWords(recording);
  if (words.empty()) return std::nullopt;
  Explorer& explorer = probe.explorer();
  Runner* runner = nullptr;
  std::set<std::set<std::uint64_t>> tried;
  for (SpaceNo s = 0; s.value() < explorer.spaceCount() && explorer.space(s).level == 1; ++s)
    for (RecoveryNo recovery : explorer.space(s).recoveries) {
      if (patience.over() || tried.size() >= kTries) return std::nullopt;
      if (probe.verdict(s, recovery).judgement != Judgement::Fine) continue;
      std::uint64_t last = 0;
      auto sites = readsOf(explorer.detail(s, recovery), words, probe.tracked(), last);
      if (sites.empty() || !tried.insert(std::move(sites)).second) continue;
      if (runner == nullptr) {
        auto started = elsewhere();
        if (!started) return tl::unexpected(started.error());
        runner = *started;
      }
      auto ended = runner->run(explorer.request(s, probe.largest(s, recovery), false));
      if (!ended && patience.over()) return std::nullopt;
      if (!ended) return tl::unexpected(ended.error());
      if (!faults(ended->outcome)) continue;
      // A program that needs its addresses fails so with nothing in its pools that could lead anywhere.
      auto control = runner->run(explorer.request(0, ChosenVersions{UnnamedLines::Least}, false));
      if (!control) return tl::unexpected(control.error());
      if (faults(control->outcome)) return std::nullopt;
      return FailsElsewhere{probe.verdict(s, ended->outcome).symptom, last};
    }
  return std::nullopt;
}

}  // namespace blackout
