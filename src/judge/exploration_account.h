// The account of an exploration: what was explored, in figures; what was left out and why; what was assumed. It says
// what a result speaks of, and finds nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "binary/site_places.h"
#include "judge/cause.h"
#include "judge/checksummed_records.h"
#include "judge/crash_check.h"
#include "judge/expected_answers.h"
#include "judge/likely_points.h"
#include "judge/state_judge.h"

namespace blackout {

class ExplorationAccount {
 public:
  // All must outlive it. What there is to say goes into `out`. `programs`: files with site tables.
  ExplorationAccount(const Explorer& explorer, const CrashRunners& runners, const CrashOptions& options, Stacks& stacks,
                     std::vector<std::string> programs, CrashCheck& out);

  // Pairs of a store and a read that race across the failure, and how many of them do no harm: no restart fails without
  // the store, and no finding is about such a race. `expected`: what answers were compared with; null: they were not.
  void countRaces(ExpectedAnswers* expected, const std::vector<Cause>& causes);
  // Figures, assumptions, what the user chose to leave out and what bounds did. What is inconclusive must be in `out`
  // by then: it is not explored either.
  void summarise(StateJudge& judge, ChecksummedRecords& checksummed);
  void tellLikelyPoints(const LikelyPoints& likely);
  // The loads that may read from more than one store.
  void listLoads();
  // Of a site: "map.cpp:60"; empty: unknown.
  std::string placeAt(std::uint64_t site);

 private:
  void assumptions(const ExplorationSummary& s, ChecksummedRecords& checksummed);
  void restrictions(const ExplorationSummary& s);
  void bounds(const ExplorationSummary& s);
  void tellBuffers();

  const Explorer& explorer_;
  const CrashRunners& r_;
  const CrashOptions& o_;
  Stacks& stacks_;
  const Index& index_;
  std::vector<std::string> programs_;
  CrashCheck& out_;
  std::optional<SitePlaces> sites_;
};

// How two runs of one restart differ, and what may be the reason.
std::string divergenceText(const Divergence& divergence, const TrackedBytes& tracked);

}  // namespace blackout
