// What a program trusts, and why: the result of the static analysis, as plain values.
//
// A *field key* names the bytes that an access touches by their innermost struct and field: "Bucket.valid",
// "Node.children[]" (an element of an array, or of what the pointer Node.children leads to), "Node" (several fields at
// once). It is the text that the site table has as the type of a site (src/pass/fields.h computes both).
//
// A *guardian* is a persistent field whose value decides whether, or where, other persistent fields are read: a program
// that restarts after a crash trusts what it guards because of it. An access is a Source of events/trace.h, with the id
// that the instrumented code has (events/access_wrapper.h says how they are compared).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "events/site.h"

namespace blackout {

using FieldKey = std::string;

// The struct of a key: "Node" of "Node.children[]".
std::string structOf(const FieldKey& key);

// How the guardian's value decides. One table, shapes.def: the name, and the verb of a reason.
enum class Shape {
#define BLACKOUT_SHAPE(Name, text, verb) Name,
#include "infer/shapes.def"
#undef BLACKOUT_SHAPE
};
const char* nameOf(Shape shape);

// One read of the guardian that decides over one read of what it guards.
struct Guard {
  Shape shape{};
  Source test;  // the read of the guardian
  Source read;  // the read that depends on it
  bool operator==(const Guard&) const = default;
};

// One field that a guardian guards. `guards` has for each place where the field is read under the guardian one example,
// in order of place.
struct Guarded {
  FieldKey field;
  std::vector<Guard> guards;
  bool operator==(const Guarded&) const = default;
};

struct Guardian {
  FieldKey field;
  std::vector<Source> reads;     // that decide, in order of place
  std::vector<Source> writes;    // all that set the field, in order of place
  std::vector<Guarded> guarded;  // in order of field
  bool operator==(const Guardian&) const = default;
};

// Two guardians that must be changed together.
struct GuardianPair {
  enum class Rule {
    Together,   // one condition tests both before one read (Witcher)
    Nested,     // one read stands under a test of each
    EachOther,  // each guards the other (Huang et al.)
  };
  Rule rule{};
  FieldKey first, second;  // first < second
  FieldKey guarded;        // what both guard; empty for EachOther
  Source firstTest, secondTest;
  bool operator==(const GuardianPair&) const = default;
};

// Two fields of which one is mostly accessed where the other is.
struct CorrelatedFields {
  FieldKey first, second;                               // first < second
  std::size_t together = 0, firstIn = 0, secondIn = 0;  // functions that access both, and each
  bool operator==(const CorrelatedFields&) const = default;
};

struct Guardians {
  std::vector<Guardian> guardians;           // in order of field
  std::vector<GuardianPair> pairs;           // in order of rule, first, second, guarded
  std::vector<CorrelatedFields> correlated;  // only if asked for; in order of the fields
  std::vector<std::string> notes;            // sentences: what is missing or was left out, and what to do about it
  std::vector<std::string> incomplete;       // sentences: why nothing can be said of a part, or of all
  bool cut = false;                          // the analysis was given up: the guardians are not all there
  std::size_t volatileFields = 0;            // that decide over reads too, but nothing shows that they are persistent
  // Writes of persistent fields in the code, and how many of them set a guardian.
  std::size_t writes = 0, guardianWrites = 0;

  const Guardian* of(const FieldKey& field) const;  // null: it is none
  bool operator==(const Guardians&) const = default;
};

// "map.cpp:60 tests Bucket.valid before map.cpp:61 reads Bucket.key": for reports.
std::string reasonOf(const Guardian& guardian, const Guarded& guarded, const Guard& guard);

}  // namespace blackout
