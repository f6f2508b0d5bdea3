// The structures that there are specifications for: which operations each has, by name and shape, and whether an order
// of such operations explains their answers (include/blackout/linearize.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blackout/specifications.hpp"
#include "events/error.h"
#include "events/value.h"

namespace blackout {

enum class StructureKind : std::uint8_t { Map, Set, Queue, Stack, Register, Array, Counter };
std::string_view nameOf(StructureKind kind);
std::optional<StructureKind> structureNamed(std::string_view name);

std::string_view nameOf(lin::Criterion criterion);
std::optional<lin::Criterion> criterionNamed(std::string_view name);

using StructureHistory = lin::CrashHistory<lin::StructureCall>;

// Marked operations as calls of a structure. Values become words and back: numbers are themselves, others are numbered
// as they come.
class StructureCalls {
 public:
  // `guessed`: nobody said that it is this structure, only the names of its operations do. Then what an operation that
  // changes something returns means nothing, and a value that nobody ever put is another word for none.
  StructureCalls(StructureKind kind, bool guessed) : kind_(kind), guessed_(guessed) {}

  StructureKind kind() const { return kind_; }
  // An error, which says why: the structure has no such operation. Results of one that did not end are not looked at.
  Result<lin::StructureCall> callOf(std::string_view name, std::span<const Value> arguments,
                                    std::span<const Value> results, bool ended);
  // What a reply is as results of such a call; none: an empty list.
  Values resultsOf(const lin::StructureCall& call, const lin::Reply& reply) const;

 private:
  lin::Word wordOf(const Value& value);
  Value valueOf(lin::Word word) const;

  StructureKind kind_;
  bool guessed_;
  std::unordered_map<std::string, lin::Word> numbers_;  // of values that are no words
  std::vector<Value> values_;                           // by number
  std::unordered_map<lin::Word, bool> put_;             // values that were put
};

// Whether a structure of marked operations could be told by their names alone; none: it can't.
std::optional<StructureKind> structureOf(std::span<const std::string_view> names);

struct NoOrderFound {
  // Numbers of calls: of the part of the structure (a key, say) that has no order, by their begins; of its longest
  // beginning that has one, in that order; and the call whose answer can't come next.
  std::vector<std::uint32_t> part;
  std::vector<std::uint32_t> longest;
  std::uint32_t call = 0;
  std::vector<lin::Reply> possible;  // what it might have answered
};

struct OrderVerdict {
  lin::Answer answer = lin::Answer::Yes;
  std::optional<NoOrderFound> none;
};

OrderVerdict explainHistory(StructureKind kind, const StructureHistory& history, lin::Criterion criterion);

}  // namespace blackout
