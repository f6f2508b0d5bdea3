#include "findings/replay_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "events/byte_stream.h"
#include "events/saved_file.h"

namespace blackout {

namespace {

constexpr SavedFormat kFormat{"BLKRPLAY", 3,
                              // Pools are sparse, so that only a damaged or hostile file comes near.
                              std::uint64_t{4} << 30, "replay file", "name one that 'blackout check' wrote",
                              "make it again with 'blackout check'"};

// More words than a command can have, and not much memory.
constexpr std::uint64_t kMostTexts = 1 << 16;

}  // namespace

std::string encodeReplayBody(const ReplayFile& file) {
  ByteWriter w;
  w.text(file.blackout);
  w.number(file.command.size());
  for (const std::string& word : file.command) w.text(word);
  w.text(file.folder);
  w.number(file.pools.size());
  for (const PoolPattern& p : file.pools) {
    w.text(p.text);
    w.number(p.glob ? 1 : 0);
  }
  w.text(file.input);
  w.text(file.model);
  w.text(file.trace);
  w.number(file.at.value());
  w.number(file.stepLimit);
  w.number(file.seconds);
  w.text(file.runtimeOptions);
  w.number(file.exitCodeCounts ? 1 : 0);
  encode(w, file.expected);
  w.text(file.finding);
  return w.take();
}

Result<ReplayFile> decodeReplayBody(std::string_view body, const std::string& name) {
  ByteReader r(body);
  ReplayFile file;
  file.blackout = r.text();
  file.command.resize(r.number(kMostTexts));
  for (std::string& word : file.command) word = r.text();
  file.folder = r.text();
  file.pools.resize(r.number(kMostTexts));
  for (PoolPattern& p : file.pools) {
    p.text = r.text();
    p.glob = r.flag();
  }
  file.input = r.text();
  file.model = r.text();
  file.trace = r.text();
  file.at = EventNo(r.small());
  file.stepLimit = r.number();
  file.seconds = r.small();
  file.runtimeOptions = r.text();
  file.exitCodeCounts = r.flag();
  file.expected = decodeOutcome(r);
  file.finding = r.text();
  if (!r.finished() || file.command.empty()) return damagedFile(kFormat, name);
  return file;
}

Result<std::string> encodeReplay(const ReplayFile& file) { return packFile(kFormat, encodeReplayBody(file)); }

Result<ReplayFile> decodeReplay(std::string_view bytes, const std::string& name) {
  auto body = unpackFile(kFormat, bytes, name);
  if (!body) return tl::unexpected(body.error());
  return decodeReplayBody(*body, name);
}

Result<ReplayFile> openReplay(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(fmt::format("{}: a folder; name a replay file in it that 'blackout check' wrote", path));
  auto bytes = readWholeFile(path);
  if (!bytes)
    return fail(fmt::format("{}: {}; name a replay file that 'blackout check' wrote", path, bytes.error().sentence));
  return decodeReplay(*bytes, path);
}

}  // namespace blackout
