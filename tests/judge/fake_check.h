// The check for crashes on tiny recorded programs, with a recovery that is a function.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "fake_recovery.h"
#include "judge/crash_check.h"
#include "judge/intact.h"
#include "judged_program.h"
#include "report/sentences.h"

namespace blackout::test {

// No debug information: places stay bare.
class NoStacks : public Stacks {
 public:
  std::vector<Frame> at(const Trace&, StackId) override { return {}; }
  std::vector<Frame> endOf(const Trace&, const Outcome&) override { return {}; }
};

// A node (value at 64) that a root (at 0) publishes: a restart follows the root.
enum : std::uint64_t { kRoot = 0, kValue = 64 };
inline Outcome follow(FakeMemory& m) {
  if (m.load(kRoot) == 0) return exited();
  return m.load(kValue) == 5 ? exited() : crashed();
}

inline CrashCheck check(JudgedProgram& p, const FakeRecovery& recovery, CrashOptions options = {},
                        std::optional<Outcome> traced = std::nullopt, std::string_view model = "",
                        std::uint64_t* made = nullptr, std::function<Result<void>(const Run&)> refuse = {}) {
  const Index& index = p.index(model);
  TrackedBytes tracked = TrackedBytes::of(index);
  Baseline ends(index, tracked, uncrashedPoints(index.trace()));
  Baseline baseline(index, tracked, *choosePoints(index, options.points));
  FakeRunner uncrashed(ends, recovery);
  FakeRunner runs(baseline, recovery, options.jobs);
  runs.traced = std::move(traced);
  runs.refuse = std::move(refuse);
  options.program.command = {"/no/program"};
  NoStacks stacks;
  auto result =
      checkCrashes({uncrashed, ends, runs, tracked, baseline, [] { return Result<void>(); }}, options, stacks);
  if (made != nullptr) *made = runs.runs;
  EXPECT_TRUE(result) << result.error().sentence;
  return result ? std::move(*result) : CrashCheck{};
}

inline const Finding& only(const CrashCheck& c) {
  EXPECT_EQ(c.findings.size(), 1U);
  static const Finding none;
  for (const auto& f : c.findings) SCOPED_TRACE(verdictOf(f.finding));
  return c.findings.empty() ? none : c.findings.front().finding;
}

inline std::vector<std::uint64_t> causeSites(const Finding& f) {
  std::vector<std::uint64_t> sites;
  for (const NumberedPlace& p : f.places)
    if (!p.incidental) sites.push_back(p.siteId);
  return sites;
}

inline bool says(const Finding& f, std::string_view what) {
  std::vector<std::string> evidence = evidenceOf(f);
  return std::any_of(evidence.begin(), evidence.end(),
                     [&](const std::string& e) { return e.find(what) != std::string::npos; });
}

}  // namespace blackout::test
