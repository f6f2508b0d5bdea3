#include "events/value.h"

#include <fmt/format.h>

#include <cstring>

#include "events/byte_stream.h"

namespace blackout {

namespace {

bool isNumber(ValueKind kind) { return kind == ValueKind::Unsigned || kind == ValueKind::Signed; }

// Calls body(kind, bytes) for each value; false: the list is damaged or too large.
template <class Body>
bool forEachValue(std::string_view bytes, Body body) {
  if (bytes.size() > BLACKOUT_MAX_VALUE_BYTES) return false;
  ByteReader in(bytes);
  for (unsigned count = 0; !in.atEnd(); ++count) {
    auto head = in.fixed<blackout_value_head>();
    auto kind = static_cast<ValueKind>(head.kind);
    std::string_view content = in.padded(head.size);
    if (!in.ok() || count == BLACKOUT_MAX_VALUES || head.kind > BLACKOUT_VALUE_TEXT ||
        (isNumber(kind) && head.size != 8))
      return false;
    body(kind, content);
  }
  return in.ok();
}

}  // namespace

std::string encodeValues(std::span<const Value> values) {
  ByteWriter out;
  for (const Value& v : values) {
    std::string_view bytes =
        isNumber(v.kind) ? std::string_view(reinterpret_cast<const char*>(&v.number), sizeof v.number) : v.bytes;
    out.fixed(blackout_value_head{static_cast<std::uint32_t>(v.kind), static_cast<std::uint32_t>(bytes.size())});
    out.padded(bytes);
  }
  return out.take();
}

std::optional<Values> decodeValues(std::string_view bytes) {
  Values values;
  bool whole = forEachValue(bytes, [&](ValueKind kind, std::string_view content) {
    Value& v = values.emplace_back();
    v.kind = kind;
    if (isNumber(kind))
      std::memcpy(&v.number, content.data(), sizeof v.number);
    else
      v.bytes = content;
  });
  return whole ? std::optional(std::move(values)) : std::nullopt;
}

bool areValues(std::string_view bytes) {
  return forEachValue(bytes, [](ValueKind, std::string_view) {});
}

std::string textOf(const Value& v) {
  constexpr std::size_t kShown = 64;
  std::string_view shown = std::string_view(v.bytes).substr(0, kShown);
  std::string rest = shown.size() < v.bytes.size() ? fmt::format("... ({} bytes)", v.bytes.size()) : std::string();
  switch (v.kind) {
    case ValueKind::Unsigned:
      return fmt::format("{}", v.number);
    case ValueKind::Signed:
      return fmt::format("{}", static_cast<std::int64_t>(v.number));
    case ValueKind::Text:
      return fmt::format("\"{}\"{}", shown, rest);
    case ValueKind::Bytes:
      break;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < shown.size(); ++i)
    text += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned char>(shown[i]));
  return text + "]" + rest;
}

}  // namespace blackout
