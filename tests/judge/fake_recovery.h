// A recovery program as a function: it loads from the memory of a crash and says how it ended. The runner that makes
// its runs logs what it observes as the runtime does.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model/tracked_bytes.h"
#include "run/run.h"

namespace blackout::test {

class FakeMemory {
 public:
  FakeMemory(const Baseline& baseline, const Run& request) : baseline_(baseline), request_(request) {}

  // `offset` in the first pool; `site` is the load's.
  std::uint64_t load(std::uint64_t offset, unsigned size = 8, std::uint64_t site = 0) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      PmAddr addr = pmAddr(1, offset + i);
      LineBytes bytes{};
      TrackedNo w = baseline_.tracked().find(lineOf(addr));
      if (w == TrackedBytes::kNone)
        baseline_.index().files().initialBytes(lineOf(addr), bytes);
      else
        bytes = content(w);
      value |= std::uint64_t{std::to_integer<std::uint8_t>(bytes[addr % BLACKOUT_LINE])} << (8 * i);
    }
    std::map<TrackedNo, std::uint64_t> masks;
    for (unsigned i = 0; i < size; ++i) {
      PmAddr addr = pmAddr(1, offset + i);
      if (TrackedNo w = baseline_.tracked().find(lineOf(addr)); w != TrackedBytes::kNone)
        masks[w] |= std::uint64_t{1} << (addr % BLACKOUT_LINE);
    }
    for (auto [w, mask] : masks) {
      mask &= baseline_.tracked().mask(w) & ~seen_[w];
      seen_[w] |= mask;
      if (mask != 0) queries.push_back({QueryKind::Bytes, w.value(), mask, site, 0, 0, 0});
    }
    return value;
  }
  std::uint32_t opState(std::uint32_t n) {
    if (asked_.insert({n, true}).second) queries.push_back({QueryKind::Op, n, 0, 0, 0, 0, 0});
    return baseline_.opState(request_.pointNo, OperationNo(n));
  }

  std::vector<Query> queries;
  bool stored = false;  // it stores something, it doesn't matter what

 private:
  LineBytes content(TrackedNo w) const {
    for (const auto& [line, bytes] : request_.lines)
      if (line == w) return bytes;
    return baseline_.least(request_.pointNo, w);
  }
  const Baseline& baseline_;
  const Run& request_;
  std::map<TrackedNo, std::uint64_t> seen_;
  std::map<std::uint32_t, bool> asked_;
};

using FakeRecovery = std::function<Outcome(FakeMemory&)>;

class FakeRunner : public Runner {
 public:
  FakeRunner(const Baseline& baseline, FakeRecovery recovery, unsigned workers = 1)
      : baseline_(baseline), recovery_(std::move(recovery)), workers_(workers) {}
  unsigned workers() const override { return workers_; }
  Result<void> begin(unsigned worker, const Run& request) override {
    ++runs;
    if (refuse)
      if (auto ok = refuse(request); !ok) return ok;
    FakeMemory memory(baseline_, request);
    RunEnd result;
    result.outcome = recovery_(memory);
    result.queries = std::move(memory.queries);
    if (memory.stored) result.used |= kStored;
    if (traced && request.traced) result.outcome = *traced;
    done_.emplace(worker, std::move(result));
    return {};
  }
  Result<std::pair<unsigned, RunEnd>> wait() override {
    auto first = done_.begin();
    std::pair<unsigned, RunEnd> out{first->first, std::move(first->second)};
    done_.erase(first);
    return out;
  }

  std::uint64_t runs = 0;
  std::optional<Outcome> traced;                   // how traced runs end, if not as the others
  std::function<Result<void>(const Run&)> refuse;  // an error: the run is not made

 private:
  const Baseline& baseline_;
  FakeRecovery recovery_;
  unsigned workers_;
  std::map<unsigned, RunEnd> done_;
};

inline Outcome exited(int code = 0) {
  Outcome o;
  o.code = code;
  return o;
}
inline Outcome crashed(int signal = 11) {
  Outcome o;
  o.ending = Ending::Signalled;
  o.code = signal;
  return o;
}
inline Outcome broke(std::string words) {
  Outcome o;
  o.ending = Ending::Expectation;
  o.text = std::move(words);
  return o;
}

}  // namespace blackout::test
