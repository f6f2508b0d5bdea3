#include "model/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/trace.h"

namespace blackout {

const FileImage* Image::find(std::string_view path) const {
  auto it = std::find_if(files.begin(), files.end(), [&](const FileImage& f) { return f.path == path; });
  return it == files.end() ? nullptr : &*it;
}

namespace {

// Turns what the level before left into what this one leaves. `uncertain`: the files with numbers up to this one may
// have been otherwise than the run found them whose trace this is; all recoveries have them by the same numbers.
Result<Image> applyLevel(Image before, const CrashLevel& level, const Index& index, bool first, FileNo uncertain) {
  const FileTimeline& timeline = index.files();
  const Version survived = index.filesIn(level);
  Image out;
  IdVector<FileNo, std::size_t> place(timeline.last() + 1, SIZE_MAX);  // in out.files
  for (FileNo f = 1; f <= timeline.last(); ++f) {
    FileImage image;
    if (f <= uncertain && timeline.existedBefore(f)) {
      // What a recovery changed it had asked for; all else stays as the crash before left it.
      auto changes = [&](const FileChange& c) { return c.file == f && c.event < level.at; };
      if (std::none_of(timeline.changes().begin(), timeline.changes().end(), changes)) {
        auto it = std::find_if(before.files.begin(), before.files.end(), [&](const auto& b) { return b.number == f; });
        if (it == before.files.end()) continue;
        image = std::move(*it);
        before.files.erase(it);
        place[f] = out.files.size();
        out.files.push_back(std::move(image));
        continue;
      }
    }
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
    if (!timeline.existsAt(f, level.at, &survived)) continue;
    image.path = timeline.pathAt(f, level.at, &survived);
    image.number = f;
    image.size = timeline.sizeAt(f, level.at, &survived);
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
  for (FileNo f = 1; f <= timeline.last(); ++f) {
    if (place[f] == SIZE_MAX) continue;
    for (const ZeroRange& z : timeline.zeroRanges(f)) {
      if (z.at >= level.at) break;
      out.files[place[f]].bytes.zero(z.begin, z.end - z.begin);
    }
  }
  for (LineId id : idRange<LineId>(index.lineCount())) {
    LineNo line = index.lineNo(id);
    std::size_t at = place[fileOf(addressOf(line))];
    if (at == SIZE_MAX || index.historyLength(id, level.at) == 0) continue;
    SparseBytes& bytes = out.files[at].bytes;
    std::uint64_t offset = offsetOf(addressOf(line));
    LineBytes under;
    bytes.read(offset, under);
    bytes.write(offset, index.contentOf(id, level.at, index.versionIn(level, id), &under));
  }
  // A file whose growth was lost ends before bytes that were stored behind its old end.
  if (timeline.uncertain())
    for (FileImage& file : out.files)
      if (file.number != 0) file.bytes.zero(file.size, BLACKOUT_MAX_FILE_SIZE - file.size);
  return out;
}

}  // namespace

Result<Image> buildImage(const CrashState& state, std::span<const Index* const> indexes) {
  if (state.empty() || state.size() > indexes.size())
    return fail("a crash state needs one trace for each of its levels");
  Image image;
  bool uncertainFiles = false;
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (const auto& [line, version] : state[i].persisted)
      if (!indexes[i]->isFeasible(line, state[i].at, version))
        return fail(
            fmt::format("{}: no crash at event {} leaves line {:#x} so; the crash state is of another trace or model",
                        indexes[i]->trace().name(), state[i].at.value(), addressOf(line)));
    if (!indexes[i]->files().isFeasible(state[i].at, indexes[i]->filesIn(state[i])))
      return fail(
          fmt::format("{}: no crash at event {} leaves the pool files so; the crash state is of another trace or model",
                      indexes[i]->trace().name(), state[i].at.value()));
    FileNo uncertain = i > 0 && uncertainFiles ? indexes[0]->files().last() : 0;
    auto next = applyLevel(std::move(image), state[i], *indexes[i], i == 0, uncertain);
    uncertainFiles = uncertainFiles || indexes[i]->files().uncertain();
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
