#include "judge/stale_pointers.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "detect/by_site.h"
#include "events/address_map.h"
#include "events/trace.h"

namespace blackout {

namespace {

// Room for a program file where nothing is. Low bits of addresses stay as they are.
constexpr std::uint64_t kSlot = std::uint64_t{1} << 32;
// The stack of the first thread ends where addresses do, if they are not random; libraries lie below its room.
constexpr std::uint64_t kStackBegin = 0x7ffff8000000;
constexpr std::uint64_t kStackEnd = 0x800000000000;
// Where a process has its mappings (thread-local memory, stacks of its threads, large blocks of malloc) and the heap
// behind its program, if addresses are not random: as much as one room takes.
constexpr std::uint64_t kMappingsBegin = kStackBegin - kSlot + 4096;
constexpr std::uint64_t kHeapBegin = 0x555555554000;
constexpr std::uint64_t kHeapEnd = kHeapBegin + kSlot - 4096;
// What free() looks at lies before what it is given.
constexpr std::uint64_t kBlockHeader = 16;
// Bits in which programs keep something else than the address: above it, and below what is aligned.
constexpr std::uint64_t kTopTag = ~((std::uint64_t{1} << 48) - 1);
constexpr std::uint64_t kLowTag = 15;

}  // namespace

MovedAddresses::MovedAddresses(const Trace& recording) {
  // A program that is linked to fixed addresses has them in every process.
  for (const LoadedModule& m : recording.modules())
    if (m.bias != 0)
      add(m.begin, m.end);
    else
      stay_.emplace_back(m.begin, m.end);
  // So has PM, wherever that is.
  for (EventNo n = 0; n < recording.end(); n = recording.next(n))
    if (kindOf(recording[n]) == EventKind::Map) {
      auto [address, size] = recording.mapping(n);
      stay_.emplace_back(address, address + size);
    }
  add(kStackBegin, kStackEnd);
  // Whatever lies in between.
  addAround(kMappingsBegin, kStackBegin);
  addAround(kHeapBegin, kHeapEnd);
}

void MovedAddresses::add(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kPage = 4096;
  begin &= ~(kPage - 1);
  for (Range& r : ranges_)
    if (begin < r.end && r.begin < end) return;  // recorded twice, or loaded where another one had been
  addAround(begin, end);
}

void MovedAddresses::addAround(std::uint64_t begin, std::uint64_t end) {
  if (end - begin >= kSlot || (ranges_.size() + 1) * kSlot > kNowhereSpan) return;
  ranges_.push_back({begin, end, kNowhereBase + ranges_.size() * kSlot});
}

std::optional<std::uint64_t> MovedAddresses::moved(std::uint64_t address) const {
  if (stays(address)) return std::nullopt;
  for (const Range& r : ranges_)
    if (std::uint64_t plain = address & ~kTopTag; plain >= r.begin && plain < r.end)
      return (plain - r.begin + r.to) | (address & kTopTag);
  return std::nullopt;
}

bool MovedAddresses::stays(std::uint64_t address) const {
  std::uint64_t plain = address & ~kTopTag;
  return std::any_of(stay_.begin(), stay_.end(),
                     [&](const auto& range) { return plain >= range.first && plain < range.second; });
}

std::optional<std::uint64_t> MovedAddresses::original(std::uint64_t address) const {
  for (const Range& r : ranges_)
    if (address >= r.to - kBlockHeader && address - (r.to - kBlockHeader) < kSlot) return address - r.to + r.begin;
  return std::nullopt;
}

namespace {

class Experiments {
 public:
  Experiments(StateProbe& probe, const Index& recording, const Patience& patience)
      : probe_(probe),
        explorer_(probe.explorer()),
        index_(recording),
        trace_(recording.trace()),
        patience_(patience),
        addresses_(trace_) {}

  Result<std::vector<Cause>> run(const std::vector<Cause>& shown) {
    for (const Cause& c : shown)
      if (c.kind == FindingKind::StalePointer && c.first && c.first->level == 1) blamed_.insert(siteOf(c.first->store));
    findWords();
    if (words_.empty()) return std::move(causes_);
    std::set<RecoveryNo> known;
    for (SpaceNo s = 0; s.value() < explorer_.spaceCount() && explorer_.space(s).level == 1; ++s)
      for (RecoveryNo recovery : explorer_.space(s).recoveries) {
        if (patience_.over()) return std::move(causes_);
        ++leading_[recovery];
        if (!known.insert(recovery).second || probe_.verdict(s, recovery).judgement != Judgement::Fine) continue;
        if (auto ok = look(s, recovery); !ok) return tl::unexpected(ok.error());
      }
    for (Cause& c : causes_) c.states = c.points = leading_[c.recovery];
    return std::move(causes_);
  }

 private:
  static constexpr unsigned kTries = 8;           // restarts per store and read; the first ones may not come to use it
  static constexpr std::uint64_t kObject = 4096;  // how far behind a pointer is still what it points to

  // A pointer in a crash state that its restart reads.
  struct Pointer {
    PmAddr at = 0;
    std::uint64_t value = 0;
    StoreNo store = kNoStore;
    std::size_t read = 0;  // the observation
  };

  SiteKey siteOf(StoreNo s) const { return siteKey(trace_, trace_[index_.stores()[s].event]); }

  // Calls `take` with the words that a store writes whole: address and value.
  template <class Take>
  void wordsOf(StoreNo store, Take take) const {
    const Event& e = trace_[index_.stores()[store].event];
    if (std::uint64_t first = sizeof e.value - e.addr % sizeof e.value; first < sizeof e.value) {
      // A word that is not aligned is two pieces; one over two lines is left out.
      if (bytesOf(e) != first || (e.len & BLACKOUT_WIDE) == 0) return;
      const Event& rest = (&e)[1];
      if (!isStore(rest) || rest.addr != e.addr + first || rest.len != sizeof e.value - first) return;
      if (lineOf(rest.addr) == lineOf(e.addr))
        take(e.addr, (e.value & ((std::uint64_t{1} << 8 * first) - 1)) | rest.value << 8 * first);
      return;
    }
    if (bytesOf(e) != sizeof e.value && (e.len & BLACKOUT_JOINED) == 0) return;
    take(e.addr, e.value);
    if ((e.len & BLACKOUT_JOINED) != 0) take(e.addr + sizeof e.value, (&e)[1].value);
  }

  void findWords() {
    for (StoreNo s : idRange<StoreNo>(index_.stores().size()))
      wordsOf(s, [&](PmAddr at, std::uint64_t value) {
        if (addresses_.moved(value)) words_.insert(at);
      });
  }

  std::uint64_t valueIn(SpaceNo space, const ChosenVersions& state, PmAddr at) {
    TrackedNo w = probe_.tracked().find(lineOf(at));
    const UncertainLine& line = probe_.crashSpace(space).line(w);
    auto chosen = state.versions.find(w);
    std::uint64_t value = 0;
    std::memcpy(
        &value,
        line.versions[chosen == state.versions.end() ? line.newest : chosen->second].bytes.data() + at % BLACKOUT_LINE,
        sizeof value);
    return value;
  }

  // The last store before the crash that put the value there.
  StoreNo sourceOf(PmAddr at, std::uint64_t value, EventNo crash) const {
    LineId id = index_.lineId(lineOf(at));
    auto history = index_.history(id).first(index_.historyLength(id, crash));
    for (std::size_t i = history.size(); i-- > 0;) {
      bool found = false;
      wordsOf(history[i], [&](PmAddr a, std::uint64_t v) { found |= a == at && v == value; });
      if (found) return history[i];
    }
    return kNoStore;
  }

  std::vector<Pointer> pointersRead(SpaceNo space, const ChosenVersions& state, const RecoveryDetail& detail) {
    struct Read {
      std::size_t first = 0;
      std::uint64_t bytes = 0;
    };
    std::map<PmAddr, Read> read;
    for (std::size_t i = 0; i < detail.observations.size(); ++i) {
      const Query& q = detail.observations[i].query;
      if (q.kind != QueryKind::Bytes) continue;
      PmAddr line = addressOf(probe_.tracked().line(q.line()));
      for (auto at = words_.lower_bound(line); at != words_.end() && *at < line + BLACKOUT_LINE; ++at)
        if (std::uint64_t bytes = q.mask >> (*at - line) & 0xff; bytes != 0)
          read.try_emplace(*at, Read{i, 0}).first->second.bytes |= bytes;
    }
    std::vector<Pointer> pointers;
    for (const auto& [at, r] : read) {
      std::uint64_t value = valueIn(space, state, at);
      if (r.bytes != 0xff || !addresses_.moved(value)) continue;
      StoreNo store = sourceOf(at, value, explorer_.space(space).at);
      if (store != kNoStore && !blamed_.contains(siteOf(store))) pointers.push_back({at, value, store, r.first});
    }
    return pointers;
  }

  // The one that led to the address at which a restart faulted.
  const Pointer* followed(const Outcome& outcome, const std::vector<Pointer>& pointers) const {
    if (outcome.ending != Ending::Signalled || (outcome.code != SIGSEGV && outcome.code != SIGBUS)) return nullptr;
    auto address = addresses_.original(outcome.faultAddress);
    if (!address) return nullptr;
    const Pointer* nearest = nullptr;
    auto leadsTo = [](const Pointer& p) { return (p.value & ~kTopTag & ~kLowTag) - kBlockHeader; };
    for (const Pointer& p : pointers)
      if (*address >= leadsTo(p) && *address - leadsTo(p) < kObject &&
          (nearest == nullptr || leadsTo(p) > leadsTo(*nearest)))
        nearest = &p;
    return nearest;
  }

  Result<void> look(SpaceNo space, RecoveryNo recovery) {
    RecoveryDetail detail = explorer_.detail(space, recovery);
    ChosenVersions state = probe_.largest(space, recovery);
    std::vector<Pointer> pointers = pointersRead(space, state, detail);
    bool fresh = false;
    for (const Pointer& p : pointers)
      fresh |= tried_[{siteOf(p.store), detail.observations[p.read].query.site}]++ < kTries;
    if (!fresh) return {};
    // What it does not read now it may read then.
    std::vector<ReplacedWord> replaced;
    for (PmAddr at : words_)
      if (auto to = addresses_.moved(valueIn(space, state, at))) replaced.push_back({at, *to});
    while (!pointers.empty()) {
      auto ended = probe_.with(space, state, replaced);
      if (!ended && patience_.over()) return {};
      if (!ended) return tl::unexpected(ended.error());
      const Pointer* found = followed(ended->outcome, pointers);
      if (found == nullptr) return {};
      if (auto ok = tell(space, recovery, state, replaced, *found, ended->outcome); !ok) return ok;
      // With that one as it is here the restart may come to others.
      SiteKey site = siteOf(found->store);
      blamed_.insert(site);
      std::erase_if(pointers, [&](const Pointer& p) {
        if (siteOf(p.store) != site) return false;
        std::erase_if(replaced, [&](const ReplacedWord& word) { return word.at == p.at; });
        return true;
      });
    }
    return {};
  }

  Result<void> tell(SpaceNo space, RecoveryNo recovery, const ChosenVersions& state,
                    const std::vector<ReplacedWord>& replaced, const Pointer& pointer, const Outcome& outcome) {
    Cause c;
    c.kind = FindingKind::StalePointer;
    c.space = space;
    c.chosen = state;
    c.recovery = recovery;
    c.key = probe_.verdict(space, outcome).key;
    auto lost = probe_.lostStores(space, state);
    if (!lost) return tl::unexpected(lost.error());
    c.lost = std::move(*lost);
    c.first = StoreRef{1, pointer.store};
    c.read = pointer.read;
    c.replaced = replaced;
    causes_.push_back(std::move(c));
    return {};
  }

  StateProbe& probe_;
  Explorer& explorer_;
  const Index& index_;
  const Trace& trace_;
  const Patience& patience_;
  MovedAddresses addresses_;
  std::set<PmAddr> words_;  // that ever held an address which is moved
  std::set<SiteKey> blamed_;
  std::map<std::pair<SiteKey, std::uint64_t>, unsigned> tried_;  // by the sites of store and read
  std::map<RecoveryNo, std::uint64_t> leading_;                  // how many crashes lead to it
  std::vector<Cause> causes_;
};

}  // namespace

Result<std::vector<Cause>> followedPointers(StateProbe& probe, const Index& recording, const std::vector<Cause>& shown,
                                            const Patience& patience) {
  return Experiments(probe, recording, patience).run(shown);
}

}  // namespace blackout
