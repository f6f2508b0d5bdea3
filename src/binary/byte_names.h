// What bytes of persistent memory are called: the pool file and offset, the struct and field that the code's debug
// information gives them, and their values before and after a store. For compiled code the name is that of the
// instruction's site; code that Blackout did not compile has places but no fields, so its bytes have no name here. An
// element of an array is known as one; which element it is, a trace does not say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/index.h"

namespace blackout {

// In the order of memory; empty: unknown.
using ByteValue = std::vector<std::byte>;

// The integer that 1, 2, 4 or 8 bytes are; none for other sizes.
std::optional<std::uint64_t> integerOf(const ByteValue& value);

struct NamedBytes {
  std::string file;  // path of the pool; empty: unknown
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string type;  // "Struct.field", "Struct.array[]"; empty: unknown
  ByteValue before;  // with everything persisted that was stored until then
  ByteValue after;
  bool operator==(const NamedBytes&) const = default;
};

// A type taken apart: "Pool.keys[]" is an element of the field "keys" of the struct "Pool". Several fields at once have
// a struct and no field.
struct FieldName {
  std::string structName;
  std::string field;
  bool element = false;
  bool operator==(const FieldName&) const = default;
};
FieldName fieldName(const std::string& type);

// Bytes that an event of the trace touches, without values.
NamedBytes namedBytes(const Trace& trace, PmAddr addr, std::uint64_t size, const Event& by);

class ByteNames {
 public:
  // The index must outlive it. `whole`: the trace knows what its pools held when it began, as a recording does; that of
  // a restart after a crash knows only what the restart stored.
  explicit ByteNames(const Index& index, bool whole = true) : index_(index), whole_(whole) {}

  // What a store wrote. `under`: what its line held before the trace, if the trace doesn't know.
  NamedBytes ofStore(StoreNo store, const LineBytes* under = nullptr) const;
  // Of an event: a store as above; what else touches persistent memory has no values.
  NamedBytes of(EventNo event) const;
  // A range just before event `at`: `after` is what it holds then, and its name that of the last store to all of it.
  NamedBytes range(PmAddr addr, std::uint64_t size, EventNo at) const;

 private:
  const Index& index_;
  bool whole_;
};

}  // namespace blackout
