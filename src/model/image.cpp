#include "model/image.h"

#include <fmt/format.h>

#include <algorithm>

namespace blackout {

const FileImage* Image::find(std::string_view path) const {
  auto it = std::find_if(files.begin(), files.end(), [&](const FileImage& f) { return f.path == path; });
  return it == files.end() ? nullptr : &*it;
}

namespace {

// Turns what the level before left into what this one leaves.
Result<Image> applyLevel(Image before, const CrashLevel& level, const Index& index, bool first) {
  const FileTimeline& timeline = index.files();
  Image out;
  std::vector<std::size_t> place(timeline.count() + 1, SIZE_MAX);  // file number -> out.files
  for (FileNo f = 1; f <= timeline.count(); ++f) {
    FileImage image;
    if (timeline.existedBefore(f) && !first) {
      std::string_view path = timeline.pathAt(f, 0);
      auto it = std::find_if(before.files.begin(), before.files.end(), [&](const auto& b) { return b.path == path; });
      if (it == before.files.end())
        return fail(fmt::format("{}: the recovery found {}, which the crash before it did not leave",
                                index.trace().name(), path));
      image = std::move(*it);
      before.files.erase(it);
    } else {
      timeline.initialBytes(f, image.bytes);
    }
    if (!timeline.existsAt(f, level.at)) continue;
    image.path = timeline.pathAt(f, level.at);
    image.number = f;
    image.size = timeline.sizeAt(f, level.at);
    place[f] = out.files.size();
    out.files.push_back(std::move(image));
  }
  // Files that this level never touched are as they were.
  for (FileImage& rest : before.files) {
    rest.number = 0;
    out.files.push_back(std::move(rest));
  }

  // Zeroing first, over all bytes: contentOf zeroes again under the stores that came before, and lays the
  // surviving ones on top, so the order of the two is right in every line.
  for (FileNo f = 1; f <= timeline.count(); ++f) {
    if (place[f] == SIZE_MAX) continue;
    for (const ZeroRange& z : timeline.zeroRanges(f)) {
      if (z.at >= level.at) break;
      out.files[place[f]].bytes.zero(z.begin, z.end - z.begin);
    }
  }
  for (LineId id = 0; id < index.lineCount(); ++id) {
    LineNo line = index.lineNo(id);
    std::size_t at = place[fileOf(addressOf(line))];
    if (at == SIZE_MAX || index.historyLength(id, level.at) == 0) continue;
    SparseBytes& bytes = out.files[at].bytes;
    std::uint64_t offset = offsetOf(addressOf(line));
    LineBytes under;
    bytes.read(offset, under);
    bytes.write(offset, index.contentOf(id, level.at, index.versionIn(level, id), &under));
  }
  return out;
}

}  // namespace

Result<Image> buildImage(const CrashState& state, std::span<const Index* const> indexes) {
  if (state.empty() || state.size() > indexes.size())
    return fail("a crash state needs one trace for each of its levels");
  Image image;
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (const auto& [line, version] : state[i].persisted)
      if (!indexes[i]->isFeasible(line, state[i].at, version))
        return fail(
            fmt::format("{}: no crash at event {} leaves line {:#x} so; the crash state is of another trace or model",
                        indexes[i]->trace().name(), state[i].at, addressOf(line)));
    auto next = applyLevel(std::move(image), state[i], *indexes[i], i == 0);
    if (!next) return next;
    image = std::move(*next);
  }
  return image;
}

Result<Image> buildImage(const CrashLevel& level, const Index& index) {
  const Index* one = &index;
  return buildImage(CrashState{level}, {&one, 1});
}

}  // namespace blackout
