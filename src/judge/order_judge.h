// Restarts whose operations, with those of the run before the crash, have no order that explains all answers: an
// acknowledged operation is lost, an interrupted one is half done, something appears that nobody made (durable
// linearizability). Needs a specification (lin/structure.h): one that the program names (blackout_specification), or
// one that the names of its operations leave no doubt about.
//
// A history is: the operations of the recording that had ended before the crash, with their results; those that were
// under way; the crash; what the restart says it did (blackout_history_begin). Further crashes add further runs. So
// nothing is run for it, and the same restart is judged anew for each crash that leads to it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "findings/facts.h"
#include "judge/state_judge.h"
#include "judge/state_probe.h"
#include "lin/structure.h"

namespace blackout {

struct OrderRules {
  StructureKind kind{};
  bool guessed = false;  // by the names of operations; false: the program says so
  lin::Criterion criterion = lin::Criterion::Durable;
};

// None: the program names no specification, nor do its operations. An error: it names one that there is not.
Result<std::optional<OrderRules>> orderRulesOf(const Operations& operations, lin::Criterion criterion);

// Whether its restarts judge their answers themselves, by a specification of the program's own.
bool judgesItself(const Operations& operations);

class OrderJudge : public StateJudge {
 public:
  // All must outlive it. `inner` has its say first.
  OrderJudge(const Explorer& explorer, const Index& recording, CrashTraces& traces, StateJudge& inner,
             const OrderRules& rules);

  // Whether the specification is that of the program: it explains the recorded run, and a restart on what that left
  // with nothing lost. Otherwise nothing can be said, and the error says why. `ignored`: that restart does not look at
  // the pool (ignoresPool); empty: it does.
  Result<void> fits(const Outcome& intact, const std::string& ignored = {});

  const Verdict& verdict(SpaceNo space, RecoveryNo recovery) override;
  Verdict verdict(SpaceNo space, const Outcome& outcome) override;
  // The history that has no order; none: it has one, or that is not known.
  std::optional<NoOrder> noOrder(SpaceNo space, const Outcome& outcome);
  const OrderRules& rules() const { return rules_; }

  // Verdict::key of answers that have no order.
  static constexpr std::string_view kKey = "no-order";

 private:
  // The operations of one recorded run, as calls.
  struct RunCalls {
    struct Row {
      OperationNo operation;
      lin::StructureCall call;
      EventNo began = 0;
      EventNo ended = kNever;
    };
    std::vector<Row> rows;  // by their begins
    std::string problem;    // not empty: one is none of the structure
  };
  // Where a call of the history that is judged comes from.
  struct Source {
    unsigned run = 0;
    std::uint32_t number = 0;  // of a recorded run: the operation's; of the restart: in its history
  };
  struct Judged {
    OrderVerdict verdict;
    std::string problem;
    std::vector<Source> sources;
    StructureHistory history;
  };
  // What is remembered of it.
  struct Short {
    lin::Answer answer{};
    std::string problem;
    std::optional<std::uint32_t> contradiction;  // in the restart's history
  };
  static Short shortOf(const Judged& judged);

  const RunCalls& callsOf(const Index& run);
  // `crash`: only what came before; kNever: all of it.
  void append(Judged& out, const RunCalls& run, unsigned number, EventNo crash) const;
  bool append(Judged& out, const History& restart, unsigned number);
  Judged judged(SpaceNo space, const Outcome& outcome);
  // Of the calls that had ended, those that overlapped one under way at the last crash, if there is an order without
  // them.
  std::vector<std::uint32_t> witnessesOf(const Judged& judged, const std::vector<const Index*>& runs) const;
  NoOrder told(const Judged& judged, const std::vector<const Index*>& runs, const Outcome& outcome) const;
  static Verdict verdictOn(const Short& judged, const Verdict& inner, const Outcome& outcome);

  const Explorer& explorer_;
  const Index& recording_;
  CrashTraces& traces_;
  StateJudge& inner_;
  OrderRules rules_;
  StructureCalls calls_;
  std::map<const Index*, RunCalls> runs_;
  std::vector<EventNo> moments_;  // begins and ends of the recording's operations
  // By what had begun and ended (further crashes: by the space), and by outcome.
  std::map<std::pair<std::uint64_t, OutcomeNo>, Short> known_;
  std::map<std::pair<SpaceNo, RecoveryNo>, Verdict> verdicts_;
};

// Why a restart on what the recorded run left, with nothing lost, knows nothing of it: what open() does with the pool,
// in words; empty: it reads what is there.
std::string ignoresPool(const Index& recording, const RunEnd& intact);

// Whether a failure is one because of how far the operations were (Verdict::key): after a crash at another time the
// same answer may be right.
bool dependsOnOperations(const std::string& key);

}  // namespace blackout
