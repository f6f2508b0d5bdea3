#include "report/escape.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace blackout {

namespace {

struct Decoded {
  std::uint32_t code = 0;
  std::size_t size = 0;  // 0: no valid UTF-8 sequence begins here
};

Decoded decode(std::string_view s) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  std::size_t size = first >= 0xf0 && first < 0xf5   ? 4
                     : first >= 0xe0 && first < 0xf0 ? 3
                     : first >= 0xc2 && first < 0xe0 ? 2
                                                     : 0;
  if (size == 0 || s.size() < size) return {};
  std::uint32_t code = first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Overlong forms, surrogates and what lies beyond Unicode.
  if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) || code > 0x10ffff ||
      (code >= 0xd800 && code < 0xe000))
    return {};
  return {code, size};
}

bool isHarmful(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace

std::string escapeText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Decoded d = decode(text);
    if (d.size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (d.code == '\n')
      out += "\\n";
    else if (d.code == '\t')
      out += "\\t";
    else if (isHarmful(d.code))
      out += d.code < 0x100 ? fmt::format("\\x{:02x}", d.code) : fmt::format("\\u{:04x}", d.code);
    else
      out += text.substr(0, d.size);
    text.remove_prefix(d.size);
  }
  return out;
}

}  // namespace blackout
