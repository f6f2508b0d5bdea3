#include "findings/only.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace blackout {

namespace fs = std::filesystem;

namespace {

// Source files may be gone by now, so what exists of the path is resolved and the rest kept.
std::string canonical(const std::string& path) {
  std::error_code error;
  fs::path p = fs::weakly_canonical(path, error);
  if (error) p = fs::absolute(path, error).lexically_normal();
  std::string s = p.string();
  while (s.size() > 1 && s.back() == '/') s.pop_back();
  return s;
}

}  // namespace

Result<OnlyFilter> OnlyFilter::make(const std::vector<std::string>& paths) {
  OnlyFilter filter;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path.empty() || !fs::exists(path, error))
      return fail(
          fmt::format("--only {}: no such file or folder; name one of your source files or their folder", path));
    filter.roots_.push_back(canonical(path));
  }
  return filter;
}

bool OnlyFilter::keepsFile(const std::string& file) const {
  if (file.empty()) return false;
  std::string path = canonical(file);
  return std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
    return path == root || root == "/" ||
           (path.size() > root.size() && path.compare(0, root.size(), root) == 0 && path[root.size()] == '/');
  });
}

bool OnlyFilter::keeps(const Finding& finding) const {
  if (roots_.empty()) return true;
  auto inFrames = [&](const std::vector<Frame>& frames) {
    return std::any_of(frames.begin(), frames.end(), [&](const Frame& f) { return keepsFile(f.file); });
  };
  return std::any_of(finding.places.begin(), finding.places.end(), [&](const NumberedPlace& p) {
    return inFrames(p.stack) || std::any_of(p.alsoFrom.begin(), p.alsoFrom.end(), inFrames);
  });
}

void applyOnly(Report& report, const OnlyFilter& filter) {
  std::size_t before = report.findings.size();
  std::erase_if(report.findings, [&](const Finding& f) { return !filter.keeps(f); });
  report.hiddenByOnly += before - report.findings.size();
}

}  // namespace blackout
