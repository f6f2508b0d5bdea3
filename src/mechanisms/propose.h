// A first description from one run: which stores look like entries of a journal, tails of logs, replicas, pointers that
// are swapped. Each with what supports it and what contradicts it; a guess, to be read before it is used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binary/struct_layouts.h"
#include "model/index.h"

namespace blackout {

struct Proposal {
  std::string table;  // "[journal.undo]" and its lines
  std::string what;   // what was counted: "writes in place whose bytes from before are in an entry"
  std::uint64_t support = 0;
  std::uint64_t of = 0;
  std::vector<std::string> against;  // sentences
};

// Most support first.
std::vector<Proposal> proposeMechanisms(const Index& index, const StructLayouts& layouts);

// As a file that `blackout check --mechanisms` takes.
std::string renderProposals(const std::vector<Proposal>& proposals);

}  // namespace blackout
