#include "run/runtime_options.h"

#include <fmt/format.h>

namespace blackout {

RuntimeOptions& RuntimeOptions::set(std::string_view key, std::string_view value) {
  text_ += fmt::format(":{}=", key);
  for (char c : value) {
    if (c == ':' || c == '%' || c == '\0')
      text_ += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      text_ += c;
  }
  return *this;
}

RuntimeOptions& RuntimeOptions::set(std::string_view key, std::uint64_t value) {
  return set(key, std::string_view(std::to_string(value)));
}

RuntimeOptions& RuntimeOptions::pools(std::span<const PoolPattern> patterns) {
  for (const PoolPattern& p : patterns) set(p.glob ? "glob" : "pm", p.text);
  return *this;
}

RuntimeOptions& RuntimeOptions::client(const std::vector<std::string>& command) {
  std::string text = std::to_string(command.size()) + '\0';
  for (const std::string& word : command) text += word + '\0';
  return set("drive", text);
}

RuntimeOptions& RuntimeOptions::append(const RuntimeOptions& more) {
  text_ += more.text_;
  return *this;
}

}  // namespace blackout
