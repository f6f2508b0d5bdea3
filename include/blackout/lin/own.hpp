// A structure with a specification of its author's own: the restart itself looks for the order that explains the
// answers.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "blackout/lin/operations.hpp"
#include "blackout/lin/runtime.hpp"
#include "blackout/linearize.hpp"

namespace blackout::lin {

template <class T>
const T& made();

template <class Spec, class = void>
struct HasProbes : std::false_type {};
template <class Spec>
struct HasProbes<Spec, std::void_t<decltype(Spec::probes(made<std::vector<typename Spec::Call>>()))>> : std::true_type {
};

template <class Spec, class T>
int runOwn(int argc, char** argv) {
  using Call = typename Spec::Call;
  static_assert(std::is_trivially_copyable_v<Call>, "a call is kept as its bytes");
  Settings settings = settingsOf(argc, argv);
  if (!settings.operations) settings.operations = kUsualOperations;
  std::vector<Step> given;
  if (settings.file != nullptr) given = stepsOf(settings.file);  // first of all: what is wrong there is said alone
  T* opened = T::open(settings.pool);
  if (opened == nullptr) stop(std::string(settings.pool) + ": open() gave nothing");
  Opened<T> structure = own(opened);
  // A call is made by a seed of its own, so that a list of them can be written down: "call 17".
  auto listed = [](const std::vector<Step>& steps) {
    std::vector<Call> calls;
    for (const Step& step : steps) {
      if (step.name != "call" || step.arguments.size() != 1)
        stop("--ops: a call of a specification of one's own is \"call N\", and it is Spec::make(Random(N))");
      Random random(step.arguments[0]);
      calls.push_back(Spec::make(random));
    }
    return calls;
  };
  auto generated = [&](const Settings& by) {
    Random random(by);
    std::vector<Call> calls;
    if (by.bytes != nullptr) {
      while (random.wants(calls.size(), by)) calls.push_back(Spec::make(random));
      return calls;
    }
    std::vector<Step> steps;
    while (random.wants(steps.size(), by)) steps.push_back({"call", {random.below(1U << 31)}});
    if (!runtime::recovering()) listSteps(by, steps);
    return listed(steps);
  };
  std::vector<Call> calls = settings.file != nullptr ? listed(given) : generated(settings);
  auto make = [&](Call& call) {
    const blackout_value before = blackout_bytes(&call, sizeof call);
    runtime::begin("call", &before, 1);
    structure->call(call);
    const blackout_value after = blackout_bytes(&call, sizeof call);
    runtime::end(&after, 1);
  };
  std::vector<Call> made = calls;
  if (!runtime::recovering()) {
    const blackout_value name = blackout_text("own");
    runtime::begin("specification", &name, 1);
    runtime::end(&name, 0);
    for (Call& call : made) make(call);
    if (runtime::active()) return 0;
  }
  constexpr std::uint64_t kBefore = 1;  // the operation that names the specification
  std::vector<Call> probes;
  if constexpr (HasProbes<Spec>::value)
    probes = Spec::probes(calls);
  else
    probes = generated(Settings{settings.pool, settings.seed + 1, 16});
  for (Call& call : probes) make(call);
  CrashHistory<Call> history;
  if (runtime::recovering()) {
    // How many had ended: they were made one after the other, so few questions will do.
    std::uint64_t low = 0, high = calls.size();
    while (low < high) {
      std::uint64_t middle = low + (high - low) / 2;
      if (runtime::ended(middle + kBefore))
        low = middle + 1;
      else
        high = middle;
    }
    for (std::uint64_t i = 0; i < low; ++i) {
      blackout_value result{};
      if (runtime::result(i + kBefore, &result, 1) != 1 || result.size != sizeof(Call))
        stop("a recorded result is not a call");
      std::memcpy(&made[i], result.data, sizeof(Call));
    }
    made.resize(low);
    if (low < calls.size() && runtime::begun(low + kBefore)) made.push_back(calls[low]);
    for (std::uint64_t i = 0; i < made.size(); ++i)
      history.calls.push_back({made[i], 2 * i, i < low ? 2 * i + 1 : kNever});
  } else {
    for (std::uint64_t i = 0; i < made.size(); ++i) history.calls.push_back({made[i], 2 * i, 2 * i + 1});
  }
  std::uint64_t crash = 2 * made.size();
  history.crashes.push_back(crash);
  for (std::uint64_t i = 0; i < probes.size(); ++i)
    history.calls.push_back({probes[i], crash + 1 + 2 * i, crash + 2 + 2 * i});
  Answer answer = explain<Spec>(history).answer;
  if (answer == Answer::Unknown) stop("whether an order explains the answers was not found out");
  runtime::expect(answer == Answer::Yes, "an order of the operations explains the answers");
  if (answer != Answer::Yes) stop("no order of the calls explains the answers");
  return 0;
}

}  // namespace blackout::lin
