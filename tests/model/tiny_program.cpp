#include "tiny_program.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "events/trace.h"

namespace blackout::test {

TinyProgram::TinyProgram(std::uint64_t size, bool before, std::string path) : file_(writer.file(path, size, before)) {}
TinyProgram::TinyProgram(TinyProgram&&) noexcept = default;
TinyProgram::~TinyProgram() = default;

const Trace& TinyProgram::trace() {
  if (trace_ == nullptr) {
    bytes_ = writer.sealedBytes();
    auto opened = Trace::fromBytes(std::as_bytes(std::span(bytes_)));
    if (!opened) throw std::runtime_error(opened.error().sentence);
    trace_ = std::make_unique<Trace>(std::move(*opened));
  }
  return *trace_;
}

const Index& TinyProgram::index(std::string_view options) {
  auto parsed = parseModelOptions(options);
  if (!parsed) throw std::runtime_error(parsed.error().sentence);
  auto built = Index::build(trace(), *parsed);
  if (!built) throw std::runtime_error(built.error().sentence);
  indexes_.push_back(std::make_unique<Index>(std::move(*built)));
  return *indexes_.back();
}

std::vector<CrashLevel> allLevels(const Index& index, EventNo point, std::size_t max) {
  std::vector<CrashLevel> levels{CrashLevel(point, UnnamedLines::Least)};
  Cursor cursor(index);
  cursor.moveTo(point);
  for (LineNo line : cursor.uncertainLines()) {
    LineVersions versions = cursor.versions(line);
    EXPECT_TRUE(versions.complete);
    std::vector<CrashLevel> next;
    for (const CrashLevel& level : levels)
      for (const LineVersion& v : versions.versions) {
        next.push_back(level);
        next.back().persisted[line] = v.version;
      }
    if (next.size() > max) throw std::runtime_error("too many states for this test");
    levels = std::move(next);
  }
  return levels;
}

States TinyProgram::statesAt(EventNo point, const std::vector<std::uint64_t>& offsets, std::string_view options) {
  const Index& i = index(options);
  States states;
  for (const CrashLevel& level : allLevels(i, point)) {
    auto image = buildImage(level, i);
    if (!image) throw std::runtime_error(image.error().sentence);
    Bytes bytes;
    for (std::uint64_t offset : offsets) {
      std::byte b{};
      if (!image->files.empty()) image->files.front().bytes.read(offset, {&b, 1});
      bytes.push_back(static_cast<int>(b));
    }
    states.insert(bytes);
  }
  return states;
}

EventNo TinyProgram::end() { return trace().end(); }

States TinyProgram::statesAtEnd(const std::vector<std::uint64_t>& offsets, std::string_view options) {
  return statesAt(end(), offsets, options);
}

States TinyProgram::statesOver(PointsMode mode, const std::vector<std::uint64_t>& offsets, std::string_view options) {
  States states;
  for (EventNo point : index(options).points(mode)) states.merge(statesAt(point, offsets, options));
  return states;
}

}  // namespace blackout::test
