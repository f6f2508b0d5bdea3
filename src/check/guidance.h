// A search for lists of operations that reach what others don't (a resize, a merge), by running them without any crash:
// lists of the harness's own generator, and changed ones that reached something new before. What reaches a store, or an
// order of stores, that nothing else does is shrunk as long as it still does, and kept. Recordings are cheap beside
// explorations, so of what was tried only that is explored (check/guided.h), and the lists that were there before: they
// are somebody's own, or showed something once. The same seed gives the same lists.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blackout/lin/operations.hpp"
#include "check/reached.h"
#include "events/error.h"

namespace blackout {

using OperationList = std::vector<lin::Step>;

// As --ops takes it.
std::string textOf(const OperationList& list);
// None: it is no list of operations.
std::optional<OperationList> operationsIn(const std::string& text);

struct Attempt {
  OperationList list;
  Reached reached;
};

// Runs lists of operations. None: the harness does not take this one, or does not survive it; which of both, the runner
// knows.
class ListRunner {
 public:
  virtual ~ListRunner() = default;
  virtual Result<std::optional<Attempt>> run(const OperationList& list) = 0;
  // One of its generator's.
  virtual Result<std::optional<Attempt>> generate(std::uint64_t seed, std::uint64_t operations) = 0;
  // Nobody waits any more.
  virtual bool over() const { return false; }
};

struct GuidanceOptions {
  std::uint64_t seed = 1;
  std::uint64_t operations = 24;  // of a generated list
  std::uint64_t runs = 400;       // at most, those for shrinking included
  // Which argument is a value that should differ from all others, and no key; none: there is no such.
  std::optional<std::size_t> value = std::nullopt;
};

struct Guided {
  std::vector<Attempt> known;  // that were there and can be run, each once, whatever they reach
  std::vector<Attempt> kept;   // that reach something which neither the first list, nor those, nor one before it does
  std::uint64_t runs = 0;
};

// `first` is explored in any case; so are `known`, lists of an earlier search or of somebody's own, as they are.
Result<Guided> guide(const Attempt& first, const std::vector<OperationList>& known, ListRunner& runner,
                     const GuidanceOptions& options);

}  // namespace blackout
