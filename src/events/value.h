// An argument or a result of an operation, as a plain value: a number, or bytes of any length. Lists of them are kept
// in one encoding everywhere (trace_format.h): in the trace, in the plan of recovery runs, in the histories of
// restarts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/trace_format.h"

namespace blackout {

enum class ValueKind : std::uint32_t {
  Unsigned = BLACKOUT_VALUE_UNSIGNED,
  Signed = BLACKOUT_VALUE_SIGNED,
  Bytes = BLACKOUT_VALUE_BYTES,
  Text = BLACKOUT_VALUE_TEXT,
};

struct Value {
  ValueKind kind = ValueKind::Unsigned;
  std::uint64_t number = 0;  // Unsigned; of a Signed one, its bits
  std::string bytes;         // Bytes and Text

  static Value ofUnsigned(std::uint64_t v) { return {ValueKind::Unsigned, v, {}}; }
  static Value ofSigned(std::int64_t v) { return {ValueKind::Signed, static_cast<std::uint64_t>(v), {}}; }
  static Value ofBytes(std::string_view v) { return {ValueKind::Bytes, 0, std::string(v)}; }
  static Value ofText(std::string_view v) { return {ValueKind::Text, 0, std::string(v)}; }
  bool operator==(const Value&) const = default;
};

using Values = std::vector<Value>;

std::string encodeValues(std::span<const Value> values);
// None: the bytes are no list of values, or more than one operation may have.
std::optional<Values> decodeValues(std::string_view bytes);
// The same question without the answer, for a reader that only checks.
bool areValues(std::string_view bytes);

// 42, -3, "text" or [00 ff]; of long bytes the beginning. Not escaped.
std::string textOf(const Value& value);

}  // namespace blackout
