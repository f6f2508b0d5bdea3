#include "judge/order_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "judge/answer_judge.h"

namespace blackout {

namespace {

// The operation by which a program names its specification (blackout_specification).
constexpr std::string_view kSpecification = "specification";
// What a harness names that judges its restarts by a specification of its own (blackout/lin/own.hpp).
constexpr std::string_view kOwn = "own";

bool isSpecification(std::string_view name) { return name == kSpecification; }

std::string callText(const HistoryOperation& o) {
  return textOf(History{o}) + (o.finished() && o.results.empty() ? " = nothing" : "");
}

}  // namespace

Result<std::optional<OrderRules>> orderRulesOf(const Operations& operations, lin::Criterion criterion) {
  std::vector<std::string_view> names;
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    const Operation& o = operations[n];
    if (isSpecification(o.name)) {
      Values arguments = operations.arguments(n);
      std::string name = arguments.size() == 1 ? arguments[0].bytes : std::string();
      if (name == kOwn) return std::optional<OrderRules>();
      auto kind = structureNamed(name);
      if (!kind)
        return fail(fmt::format(
            "blackout_specification(\"{}\"): there is no such specification; there are map, set, queue, stack, "
            "register, array and counter",
            name));
      return OrderRules{*kind, false, criterion};
    }
    if (o.depth == 0 && std::find(names.begin(), names.end(), o.name) == names.end()) names.push_back(o.name);
  }
  auto kind = structureOf(names);
  if (!kind) return std::optional<OrderRules>();
  return OrderRules{*kind, true, criterion};
}

bool judgesItself(const Operations& operations) {
  for (OperationNo n : idRange<OperationNo>(operations.count()))
    if (isSpecification(operations[n].name)) {
      Values arguments = operations.arguments(n);
      return arguments.size() == 1 && arguments[0].bytes == kOwn;
    }
  return false;
}

OrderJudge::OrderJudge(const Explorer& explorer, const Index& recording, CrashTraces& traces, StateJudge& inner,
                       const OrderRules& rules)
    : explorer_(explorer),
      recording_(recording),
      traces_(traces),
      inner_(inner),
      rules_(rules),
      calls_(rules.kind, rules.guessed) {
  for (const RunCalls::Row& row : callsOf(recording).rows) {
    moments_.push_back(row.began);
    if (row.ended != kNever) moments_.push_back(row.ended);
  }
  std::sort(moments_.begin(), moments_.end());
}

const OrderJudge::RunCalls& OrderJudge::callsOf(const Index& run) {
  auto [at, fresh] = runs_.try_emplace(&run);
  RunCalls& out = at->second;
  if (!fresh) return out;
  const Operations& operations = run.operations();
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    const Operation& o = operations[n];
    if (o.depth != 0 || isSpecification(o.name)) continue;
    std::optional<Values> results = operations.results(n);
    auto call = calls_.callOf(o.name, operations.arguments(n), results.value_or(Values()), results.has_value());
    if (!call) {
      out.problem = call.error().sentence;
      return out;
    }
    out.rows.push_back({n, *call, o.begin, o.end});
  }
  return out;
}

void OrderJudge::append(Judged& out, const RunCalls& run, unsigned number, EventNo crash) const {
  std::uint64_t from = out.history.crashes.empty() ? 0 : out.history.crashes.back() + 1;
  for (const RunCalls::Row& row : run.rows) {
    if (row.began >= crash) break;
    out.history.calls.push_back(
        {row.call, from + row.began.value(), row.ended < crash ? from + row.ended.value() : lin::kNever});
    out.sources.push_back({number, row.operation.value()});
  }
}

bool OrderJudge::append(Judged& out, const History& restart, unsigned number) {
  std::uint64_t from = out.history.crashes.empty() ? 0 : out.history.crashes.back() + 1;
  for (std::uint32_t i = 0; i < restart.size(); ++i) {
    const HistoryOperation& o = restart[i];
    if (isSpecification(o.name)) continue;
    auto call = calls_.callOf(o.name, o.arguments, o.results, o.finished());
    if (!call) {
      out.problem = call.error().sentence;
      return false;
    }
    out.history.calls.push_back({*call, from + o.began, o.finished() ? from + o.ended : lin::kNever});
    out.sources.push_back({number, i});
  }
  return true;
}

Result<void> OrderJudge::fits(const Outcome& intact, const std::string& ignored) {
  const RunCalls& recorded = callsOf(recording_);
  if (!recorded.problem.empty()) return fail(recorded.problem);
  std::vector<const Index*> runs = {&recording_};
  Judged alone;
  append(alone, recorded, 0, kNever);
  alone.verdict = explainHistory(rules_.kind, alone.history, rules_.criterion);
  if (alone.verdict.none) {
    NoOrder why = told(alone, runs, {});
    return fail(fmt::format("the recorded run's own answers are not those of a {} that is empty at first: {}",
                            nameOf(rules_.kind), callText(why.operations[why.contradiction].operation)));
  }
  if (intact.history.empty())
    return fail("restarts record no operations; blackout_history_begin() and marked operations say what they do");
  Judged whole;
  append(whole, recorded, 0, kNever);
  whole.history.crashes.push_back(moments_.empty() ? 1 : moments_.back().value() + 1);
  if (!append(whole, intact.history, 1)) return fail(whole.problem);
  whole.verdict = explainHistory(rules_.kind, whole.history, lin::Criterion::Durable);
  if (whole.verdict.none) {
    NoOrder why = told(whole, runs, intact);
    return fail(fmt::format(
        "a restart on what the program left, with nothing lost, answers {}, which no order of the operations explains: "
        "{}",
        callText(why.operations[why.contradiction].operation),
        ignored.empty() ? fmt::format("recovery is missing, or it is wrong, or this is no {}", nameOf(rules_.kind))
                        : ignored));
  }
  if (alone.verdict.answer == lin::Answer::Unknown || whole.verdict.answer == lin::Answer::Unknown)
    return fail("whether an order of the recorded operations explains their answers was not found out in time");
  return {};
}

OrderJudge::Judged OrderJudge::judged(SpaceNo space, const Outcome& outcome) {
  Judged out;
  auto runs = traces_.of(space);
  if (!runs) {
    out.problem = runs.error().sentence;
    return out;
  }
  std::vector<EventNo> crashes;
  for (SpaceNo s = space;; s = explorer_.space(s).parent) {
    crashes.push_back(explorer_.space(s).at);
    if (explorer_.space(s).level == 1) break;
  }
  std::reverse(crashes.begin(), crashes.end());
  for (unsigned run = 0; run < runs->size(); ++run) {
    const RunCalls& calls = callsOf(*(*runs)[run]);
    if (!calls.problem.empty()) {
      out.problem = calls.problem;
      return out;
    }
    append(out, calls, run, crashes[run]);
    std::uint64_t from = out.history.crashes.empty() ? 0 : out.history.crashes.back() + 1;
    out.history.crashes.push_back(from + crashes[run].value());
  }
  if (append(out, outcome.history, static_cast<unsigned>(runs->size())))
    out.verdict = explainHistory(rules_.kind, out.history, rules_.criterion);
  return out;
}

std::vector<std::uint32_t> OrderJudge::witnessesOf(const Judged& judged, const std::vector<const Index*>& runs) const {
  const auto last = static_cast<unsigned>(judged.history.crashes.size()) - 1;
  if (judged.history.crashes.empty() || last >= runs.size()) return {};
  const auto& calls = judged.history.calls;
  auto threadOf = [&](std::uint32_t call) {
    return runs[last]->operations()[OperationNo{judged.sources[call].number}].thread;
  };
  auto sees = [&](std::uint32_t call) {
    if (judged.sources[call].run != last || calls[call].ended == lin::kNever) return false;
    for (std::uint32_t other = 0; other < calls.size(); ++other)
      if (judged.sources[other].run == last && calls[other].ended == lin::kNever && threadOf(other) != threadOf(call) &&
          calls[other].began < calls[call].ended)
        return true;
    return false;
  };
  StructureHistory without;
  without.crashes = judged.history.crashes;
  std::vector<std::uint32_t> witnesses;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (!sees(call)) {
      without.calls.push_back(calls[call]);
      continue;
    }
    witnesses.push_back(call);
    // It may have happened, but nobody was told what it returned.
    without.calls.push_back(calls[call]);
    without.calls.back().ended = lin::kNever;
  }
  if (witnesses.empty()) return {};
  // That they relied on what was under way: without that their answers have no order either.
  StructureHistory ended;
  for (std::uint32_t call = 0; call < calls.size(); ++call)
    if (judged.sources[call].run == last && calls[call].ended != lin::kNever) ended.calls.push_back(calls[call]);
  if (last != 0 || explainHistory(rules_.kind, ended, rules_.criterion).answer != lin::Answer::No) return {};
  if (explainHistory(rules_.kind, without, rules_.criterion).answer != lin::Answer::Yes) return {};
  return witnesses;
}

NoOrder OrderJudge::told(const Judged& judged, const std::vector<const Index*>& runs, const Outcome& outcome) const {
  const NoOrderFound& none = *judged.verdict.none;
  NoOrder out;
  out.structure = nameOf(rules_.kind);
  out.criterion = nameOf(rules_.criterion);
  std::vector<std::uint32_t> witnesses = witnessesOf(judged, runs);
  for (std::uint32_t call : none.part) {
    const Source& source = judged.sources[call];
    ToldOperation o;
    o.run = source.run;
    if (source.run < runs.size()) {
      const Operations& operations = runs[source.run]->operations();
      OperationNo n{source.number};
      o.operation.name = operations[n].name;
      if (!witnesses.empty()) o.thread = operations[n].thread.value();
      o.operation.arguments = operations.arguments(n);
      if (judged.history.calls[call].ended != lin::kNever) {
        o.operation.results = operations.results(n).value_or(Values());
        o.operation.ended = 0;
      }
    } else {
      o.operation = outcome.history[source.number];
    }
    // Of its times only the order is told.
    o.operation.began = 0;
    if (o.operation.finished()) o.operation.ended = 0;
    if (std::find(witnesses.begin(), witnesses.end(), call) != witnesses.end())
      out.witnesses.push_back(static_cast<std::uint32_t>(out.operations.size()));
    if (call == none.call) out.contradiction = static_cast<std::uint32_t>(out.operations.size());
    o.explained = std::find(none.longest.begin(), none.longest.end(), call) != none.longest.end();
    out.operations.push_back(std::move(o));
  }
  for (const lin::Reply& reply : none.possible)
    out.possible.push_back(calls_.resultsOf(judged.history.calls[none.call].call, reply));
  return out;
}

OrderJudge::Short OrderJudge::shortOf(const Judged& judged) {
  Short out{judged.verdict.answer, judged.problem, std::nullopt};
  if (!judged.verdict.none) return out;
  const Source& source = judged.sources[judged.verdict.none->call];
  if (source.run == judged.history.crashes.size()) out.contradiction = source.number;
  return out;
}

Verdict OrderJudge::verdictOn(const Short& judged, const Verdict& inner, const Outcome& outcome) {
  if (inner.judgement == Judgement::Unknown) return inner;
  if (!judged.problem.empty() || judged.answer == lin::Answer::Unknown) {
    if (inner.judgement == Judgement::Failed) return inner;
    return {Judgement::Unknown,
            !judged.problem.empty()
                ? judged.problem
                : "whether an order of the operations explains the answers was not found out in time",
            {}};
  }
  if (judged.answer == lin::Answer::Yes) return inner;
  std::string symptom = "answers what no order of the operations explains";
  if (judged.contradiction) symptom += ": " + callText(outcome.history[*judged.contradiction]);
  if (inner.judgement == Judgement::Failed) symptom += ", and then " + inner.symptom;
  return {Judgement::Failed, symptom, std::string(kKey)};
}

const Verdict& OrderJudge::verdict(SpaceNo space, RecoveryNo recovery) {
  auto [at, fresh] = verdicts_.try_emplace({space, recovery});
  if (!fresh) return at->second;
  OutcomeNo outcomeNo = explorer_.outcomeNo(recovery);
  const SpaceInfo& info = explorer_.space(space);
  std::uint64_t moment =
      info.level > 1
          ? ~std::uint64_t{0} - space.value()
          : static_cast<std::uint64_t>(std::lower_bound(moments_.begin(), moments_.end(), info.at) - moments_.begin());
  auto [same, first] = known_.try_emplace({moment, outcomeNo});
  // Copies: to judge may take another run, which moves what is known.
  if (first) same->second = shortOf(judged(space, Outcome(explorer_.outcome(outcomeNo))));
  Verdict inner = inner_.verdict(space, recovery);
  at->second = verdictOn(same->second, inner, explorer_.outcome(outcomeNo));
  return at->second;
}

Verdict OrderJudge::verdict(SpaceNo space, const Outcome& outcome) {
  return verdictOn(shortOf(judged(space, outcome)), inner_.verdict(space, outcome), outcome);
}

std::optional<NoOrder> OrderJudge::noOrder(SpaceNo space, const Outcome& outcome) {
  Judged j = judged(space, outcome);
  auto runs = traces_.of(space);
  if (!runs || !j.verdict.none) return std::nullopt;
  return told(j, *runs, outcome);
}

std::string ignoresPool(const Index& recording, const RunEnd& intact) {
  if (recording.stores().empty())
    return "the operations store nothing to the pool: open() maps it, but the structure is kept somewhere else";
  bool opened = false;
  for (const Query& q : intact.queries) {
    if (q.kind == QueryKind::Bytes) return {};
    opened |= q.kind == QueryKind::Path;
  }
  if (!opened && (intact.used & kStored) == 0) return "open() ignores the pool: the restart does not open it";
  return "open() ignores what is in the pool: the restart reads nothing of it and begins anew";
}

bool dependsOnOperations(const std::string& key) {
  return key == OrderJudge::kKey || key == AnswerJudge::wrongAnswer(ExpectedAnswer::Basis::Operation).key;
}

}  // namespace blackout
