// The runs of an exploration in a file, so that a later one goes on from them: each with the edge under which it hangs,
// its own queries with their replies, and its outcome. Reading believes nothing: sizes are bounded, numbers are checked
// against what they refer to. The file is a saved one (events/saved_file.h); its body has the identity, the outcomes,
// then the levels with their runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "explore/exploration.h"

namespace blackout {

struct SavedQuery {
  Query query;
  LineBytes bytes{};         // the reply, zero outside the mask
  std::uint64_t number = 0;  // the reply to other kinds
};

struct SavedRun {
  std::uint32_t tree = 0;
  bool atRoot = false;
  NodeNo under = 0;  // else it hangs under this node, by this reply
  LineBytes bytes{};
  std::uint64_t number = 0;
  std::vector<SavedQuery> queries;
  bool diverged = false;
  std::uint32_t used = 0;
  OutcomeNo outcome = 0;
  std::vector<std::string> notes;
  std::vector<std::string> unseen;
  std::shared_ptr<const KeptTrace> trace;
};

struct SavedLevel {
  std::uint64_t tracked = 0;  // digest of what was tracked
  bool shared = true;
  bool traced = false;
  std::vector<SavedRun> runs;  // in the order in which they were made
};

struct SavedExploration {
  std::uint64_t identity = 0;
  IdVector<OutcomeNo, Outcome> outcomes;
  std::vector<SavedLevel> levels;
};

std::uint64_t digestOf(const TrackedBytes& tracked);
// Of how many operations there are and what they returned, for which a restart may ask.
std::uint64_t digestOf(const Operations& operations);

// `digests`: of what was tracked at each level.
SavedExploration savedForm(const Exploration& exploration, std::uint64_t identity,
                           std::span<const std::uint64_t> digests);

Result<std::string> encode(const SavedExploration& saved);
// `name` for messages.
Result<SavedExploration> decode(std::string_view bytes, const std::string& name);
// The same without header and compression: for the fuzzer, which could not guess a checksum.
std::string encodeBody(const SavedExploration& saved);
Result<SavedExploration> decodeBody(std::string_view body, const std::string& name);

Result<void> writeExploration(const SavedExploration& saved, const std::string& path);
Result<SavedExploration> readExploration(const std::string& path);

// Adds the runs of a saved level to the last level of the exploration, which has none yet.
Result<void> restore(const SavedExploration& saved, const SavedLevel& level, const TrackedBytes& tracked,
                     Exploration& exploration, const std::string& name);

}  // namespace blackout
