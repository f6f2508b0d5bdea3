#include "report/saved_finding.h"

#include <fmt/format.h>

#include "report/json_library.h"

namespace blackout {

Result<SavedFinding> readSavedFinding(std::string_view json, const std::string& name) {
  auto j = nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!j.is_object()) return fail(fmt::format("{}: has no finding in it; was it written by 'blackout check'?", name));
  auto text = [](const nlohmann::json& from, const char* key) {
    auto at = from.find(key);
    return at != from.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  SavedFinding out{text(j, "kind"), text(j, "verdict"), text(j, "hint"), {}, {}};
  if (auto fix = j.find("fix"); fix != j.end() && fix->is_object()) {
    out.tried = text(*fix, "tried");
    out.diff = text(*fix, "diff");
  }
  return out;
}

}  // namespace blackout
