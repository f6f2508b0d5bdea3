// libFuzzer target: any bytes are refused in one line that names the place, or read without a fault. What is read says
// the same when its lines are written again, and matching ends in time.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "findings/suppressions.h"

using namespace blackout;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / "seed", std::ios::binary)
      << "# known\n\nidle-fence:drain*\nrace : src/a.c\r\nperformance:lib?.so\nmissing-flush:Map::put(int) const\n";
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Suppressions first;
  auto ok = first.parse(text, "fuzz");
  if (!ok) {
    const std::string& sentence = ok.error().sentence;
    if (!sentence.starts_with("--suppressions fuzz:") || sentence.find('\n') != std::string::npos) __builtin_trap();
    return 0;
  }
  std::string written;
  for (const Suppression& s : first.rows()) written += s.text + "\n";
  Suppressions again;
  if (!again.parse(written, "fuzz") || again.rows().size() != first.rows().size()) __builtin_trap();
  for (std::size_t i = 0; i < first.rows().size(); ++i) {
    const Suppression& a = first.rows()[i];
    const Suppression& b = again.rows()[i];
    if (a.pattern != b.pattern || a.kind != b.kind || a.bugClass != b.bugClass || a.pattern.empty()) __builtin_trap();
    // A name is a pattern that matches itself, whatever stars it has.
    Finding f = makeFinding(a.kind.value_or(FindingKind::IdleFence));
    f.bugClass = a.kind ? f.bugClass : a.bugClass;
    f.places.emplace_back();
    f.places[0].stack = {{a.pattern, "/" + a.pattern, 1, 1, std::string(text), false}};
    if (!matches(a, f)) __builtin_trap();
  }
  return 0;
}
