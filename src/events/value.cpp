#include "events/value.h"

#include <fmt/format.h>

#include <cstring>

namespace blackout {

namespace {

constexpr std::size_t padded(std::size_t size) { return (size + 7) / 8 * 8; }

// Calls body(kind, bytes) for each value; false: the list is damaged or too large.
template <class Body>
bool forEachValue(std::string_view bytes, Body body) {
  if (bytes.size() > BLACKOUT_MAX_VALUE_BYTES) return false;
  for (unsigned count = 0; !bytes.empty(); ++count) {
    blackout_value_head head;
    if (bytes.size() < sizeof head || count == BLACKOUT_MAX_VALUES) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes.remove_prefix(sizeof head);
    auto kind = static_cast<ValueKind>(head.kind);
    bool isNumber = kind == ValueKind::Unsigned || kind == ValueKind::Signed;
    if (head.kind > BLACKOUT_VALUE_TEXT || (isNumber && head.size != 8) || padded(head.size) > bytes.size())
      return false;
    body(kind, bytes.substr(0, head.size));
    bytes.remove_prefix(padded(head.size));
  }
  return true;
}

}  // namespace

std::string encodeValues(std::span<const Value> values) {
  std::string out;
  for (const Value& v : values) {
    bool isNumber = v.kind == ValueKind::Unsigned || v.kind == ValueKind::Signed;
    std::string_view bytes =
        isNumber ? std::string_view(reinterpret_cast<const char*>(&v.number), sizeof v.number) : v.bytes;
    blackout_value_head head{static_cast<std::uint32_t>(v.kind), static_cast<std::uint32_t>(bytes.size())};
    out.append(reinterpret_cast<const char*>(&head), sizeof head);
    out.append(bytes);
    out.resize(padded(out.size()));
  }
  return out;
}

std::optional<Values> decodeValues(std::string_view bytes) {
  Values values;
  bool whole = forEachValue(bytes, [&](ValueKind kind, std::string_view content) {
    Value& v = values.emplace_back();
    v.kind = kind;
    if (kind == ValueKind::Unsigned || kind == ValueKind::Signed)
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
