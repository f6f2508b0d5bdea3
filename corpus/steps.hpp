// The workload of a map and what its contents must be after a crash: those after the first n steps, for an n that
// the crash allows. Each step is one operation of the recorded run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "blackout/harness.hpp"
#include "pm.h"

struct Step {
  enum Kind { Put, Remove } kind;
  std::uint64_t key;
  std::uint64_t value;  // of a put: differs from that of every other step
};

// The first steps are puts of these keys, and removes of those that are negative; more are puts of new keys.
template <std::size_t N>
std::vector<Step> stepsOf(const int (&keys)[N], std::uint64_t operations) {
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < operations; ++i) {
    const int key = i < N ? keys[i] : int(100 + i);
    if (key > 0)
      steps.push_back({Step::Put, std::uint64_t(key), 1000 + i});
    else
      steps.push_back({Step::Remove, std::uint64_t(-key), 0});
  }
  return steps;
}

using Contents = std::map<std::uint64_t, std::uint64_t>;

inline void apply(const Step& step, Contents& contents) {
  if (step.kind == Step::Put)
    contents[step.key] = step.value;
  else
    contents.erase(step.key);
}

// The recorded run's operations, on anything with put(key, value) and remove(key).
template <class Map>
void runSteps(const std::vector<Step>& steps, Map& map) {
  for (const Step& step : steps) {
    blackout::Operation operation(step.kind == Step::Put ? "put" : "remove", step.key);
    if (step.kind == Step::Put)
      map.put(step.key, step.value);
    else
      map.remove(step.key);
  }
}

// To be called last in a verify, with everything that was found.
inline void expectStepsDone(const std::vector<Step>& steps, const Contents& found) {
  Contents expected;
  auto differs = [&](std::uint64_t key) {
    const auto e = expected.find(key);
    const auto f = found.find(key);
    if (e == expected.end()) return f != found.end();
    return f == found.end() || e->second != f->second;
  };
  std::size_t differences = found.size();
  std::vector<std::size_t> candidates;  // a put and its remove lead back to earlier contents, so there may be several
  for (std::size_t n = 0;; ++n) {
    if (differences == 0) candidates.push_back(n);
    if (n == steps.size()) break;
    differences -= differs(steps[n].key);
    apply(steps[n], expected);
    differences += differs(steps[n].key);
  }
  pm_expect(!candidates.empty(), "the contents are those after a whole number of operations");
  bool allowed = false;
  for (std::size_t n : candidates) allowed = allowed || pm_done(n, steps.size());
  pm_expect(allowed, "every operation that had ended is there, and none that had not begun");
}
