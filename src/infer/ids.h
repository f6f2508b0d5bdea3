// The numbers of what the analysis looks at: types that can't be mixed (events/id.h).
#pragma once

#include <cstdint>

#include "events/id.h"

namespace blackout {

// A block of a function that can be reached, in reverse post-order.
using BlockNo = Id<struct BlockNoTag, std::uint32_t>;
constexpr BlockNo kNoBlock = BlockNo(UINT32_MAX);

// A function with a body.
using FunctionNo = Id<struct FunctionNoTag, std::uint32_t>;
constexpr FunctionNo kNoFunction = FunctionNo(UINT32_MAX);

// A field key, or that of a whole struct (field_table.h).
using KeyNo = Id<struct KeyNoTag, std::uint32_t>;

// Accesses that are one place of the program for a trace (program_code.h).
using AccessSite = Id<struct AccessSiteTag, std::uint32_t>;

// A read of a persistent field: an access and one of its keys (function_facts.h).
using ReadNo = Id<struct ReadNoTag, std::uint32_t>;

// A set of origins (value_sets.h); 0: the empty set.
using SetNo = Id<struct SetNoTag, std::uint32_t>;

// Where an address begins, and what an access touches there (objects.h).
using ObjectNo = Id<struct ObjectNoTag, std::uint32_t>;
using SpotNo = Id<struct SpotNoTag, std::uint32_t>;
constexpr SpotNo kAnySpot = 0;  // unknown: related to everything
constexpr SpotNo kNoSpot = 1;   // no memory: related to nothing

// PM from where a pointer leads up to the next such place (memory_cells.h).
using CellNo = Id<struct CellNoTag, std::uint32_t>;

// Two of them as the key of a hash table.
template <class A, class B>
constexpr std::uint64_t bothOf(A a, B b) {
  return (std::uint64_t{a.value()} << 32) | b.value();
}

}  // namespace blackout
