#include "report/finding_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "events/saved_file.h"
#include "report/json.h"
#include "report/output_file.h"

namespace fs = std::filesystem;

namespace blackout {

Result<void> checkFindingsFolder(const std::string& folder, const std::string& option) {
  auto refuse = [&](std::string_view why) {
    return fail(fmt::format("{} {}: can't be written: {}; name another folder", option, folder, why));
  };
  if (folder.empty()) return refuse("the name is empty");
  std::error_code error;
  fs::path at = folder;
  if (fs::exists(at, error) && !fs::is_directory(at, error)) return refuse("it is not a folder");
  if (!fs::exists(at, error)) at = fs::absolute(at, error).lexically_normal();
  while (!fs::exists(at, error) && at.has_parent_path() && at != at.parent_path()) at = at.parent_path();
  if (!fs::is_directory(at, error)) return refuse(fmt::format("{} is not a folder", at.string()));
  if (access(at.c_str(), W_OK | X_OK) != 0) return refuse(std::strerror(errno));
  return {};
}

void saveReplays(Report& report, const std::vector<ReplayableFinding>& replayable, const std::string& folder,
                 ReplayNames names) {
  unsigned number = 0, position = 0;
  for (Finding& finding : report.findings) {
    ++position;
    // A crash state belongs to one finding.
    auto found = std::find_if(replayable.begin(), replayable.end(), [&](const ReplayableFinding& r) {
      return r.finding.kind == finding.kind && r.finding.crashState == finding.crashState && finding.crashState &&
             r.finding.schedule == finding.schedule && r.finding.operationsFile == finding.operationsFile;
    });
    if (found == replayable.end()) continue;
    std::error_code error;
    std::string name = names == ReplayNames::Folders ? fmt::format("finding-{}/finding.blackout", position)
                                                     : fmt::format("finding-{}.blackout", ++number);
    std::string path = (fs::path(folder) / name).string();
    fs::create_directories(fs::path(path).parent_path(), error);
    finding.replay = path;
    ReplayFile file = found->replay;
    file.blackout = BLACKOUT_VERSION;
    // It is the same with and without a report that has events.
    Finding alone = finding;
    alone.trace = 0;
    file.finding = renderJson(alone);
    auto bytes = encodeReplay(file);
    if (fs::exists(path, error)) {
      if (auto before = readWholeFile(path); before && bytes && *before == *bytes) continue;
      fs::rename(path, path + "~", error);
      report.notes.push_back(
          fmt::format("{} was there before, with another finding: that one is now {}~.", path, path));
    }
    auto out = OutputFile::prepare(path, "--findings");
    auto written = !bytes ? Result<void>(tl::unexpected(bytes.error()))
                   : !out ? Result<void>(tl::unexpected(out.error()))
                          : out->write(*bytes);
    if (written) continue;
    // The finding is worth more than its file.
    finding.replay.reset();
    report.notes.push_back(fmt::format("A finding has no replay file: {}.", written.error().sentence));
  }
}

}  // namespace blackout
