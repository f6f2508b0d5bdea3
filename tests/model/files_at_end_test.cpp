// Replay, and the comparison of what it gives with a file on disk.
#include "model/files_at_end.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "tiny_program.h"

namespace blackout::test {
namespace {

class TemporaryFile {
 public:
  TemporaryFile() : path(::testing::TempDir() + "blackout_replay_XXXXXX") { fd_ = mkstemp(path.data()); }
  ~TemporaryFile() {
    close(fd_);
    unlink(path.c_str());
  }
  void write(std::uint64_t offset, const std::string& bytes) {
    ASSERT_EQ(pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)), static_cast<ssize_t>(bytes.size()));
  }
  void resize(std::uint64_t size) { ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(size)), 0); }
  std::string path;

 private:
  int fd_;
};

ReplayedFile replayed(TinyProgram& p) { return replay(p.trace()).at(0); }

TEST(Replay, AppliesEverything) {
  TinyProgram p;
  p.writer.fileData(p.at(0), "abc");
  p.store(1, 1, 'X');
  p.nt(1, 64, 1);
  p.rmw16(1, 128, 2, 3);
  p.range(EventKind::FileZero, 1, 2, 1);
  p.writer.blob(EventKind::FileRename, 1, p.at(0), "/b");
  ReplayedFile f = replayed(p);
  EXPECT_EQ(f.path, "/b");
  EXPECT_EQ(f.size, 4096U);
  TemporaryFile disk;
  disk.resize(4096);
  disk.write(0, std::string("aX\0", 3));
  disk.write(64, std::string("\1\0\0\0\0\0\0\0", 8));
  disk.write(128, std::string("\2\0\0\0\0\0\0\0\3", 9));
  EXPECT_TRUE(firstDifferences(f, disk.path, 10)->empty());
}

TEST(Replay, ShrinkingDropsBytes) {
  TinyProgram p;
  p.store(1, 100, 1);
  p.range(EventKind::FileSize, 1, 0, 50);
  p.range(EventKind::FileSize, 1, 0, 200);
  TemporaryFile disk;
  disk.resize(200);
  EXPECT_TRUE(firstDifferences(replayed(p), disk.path, 10)->empty());
}

TEST(Replay, NamesTheRangesThatDiffer) {
  TinyProgram p(1 << 20);
  p.store(1, 5000, 7);
  TemporaryFile disk;
  disk.resize(1 << 20);
  disk.write(10, "abc");
  disk.write(300000, std::string(2, 'z'));
  // At 5000 the file has a hole or zeros where the program stored.
  auto differences = firstDifferences(replayed(p), disk.path, 10);
  ASSERT_TRUE(differences.has_value());
  EXPECT_EQ(*differences,
            (std::vector<PmRange>{{p.at(10), p.at(13)}, {p.at(5000), p.at(5001)}, {p.at(300000), p.at(300002)}}));
  EXPECT_EQ(firstDifferences(replayed(p), disk.path, 2)->size(), 2U);
}

TEST(Replay, ADifferentSizeIsADifference) {
  TinyProgram p(4096);
  TemporaryFile disk;
  disk.resize(5000);
  EXPECT_EQ(*firstDifferences(replayed(p), disk.path, 10), (std::vector<PmRange>{{p.at(4096), p.at(5000)}}));
  disk.resize(4000);
  EXPECT_EQ(*firstDifferences(replayed(p), disk.path, 10), (std::vector<PmRange>{{p.at(4000), p.at(4096)}}));
}

TEST(Replay, AMissingFileIsAnError) {
  TinyProgram p;
  EXPECT_FALSE(firstDifferences(replayed(p), "/no/such/file", 1).has_value());
}

TEST(Replay, ALargeSparsePoolIsCheap) {
  constexpr std::uint64_t kSize = 16ULL << 30;
  TinyProgram p(kSize);
  p.store(1, 0, 1);
  p.store(1, kSize - 1, 2);
  p.range(EventKind::FileZero, 1, 4096, kSize - 8192);
  ReplayedFile f = replayed(p);
  EXPECT_EQ(f.bytes.pages().size(), 2U);
  TemporaryFile disk;
  disk.resize(kSize);
  disk.write(0, "\1");
  EXPECT_EQ(*firstDifferences(f, disk.path, 10), (std::vector<PmRange>{{p.at(kSize - 1), p.at(kSize)}}));
}

TEST(SparseBytes, ZeroingWholePagesGivesThemBack) {
  SparseBytes bytes;
  std::vector<std::byte> data(3 * SparseBytes::kPage, std::byte{1});
  bytes.write(0, data);
  bytes.zero(10, 2 * SparseBytes::kPage);
  EXPECT_EQ(bytes.pages(), (std::vector<std::uint64_t>{0, 2}));
  std::vector<std::byte> read(data.size());
  bytes.read(0, read);
  for (std::size_t i = 0; i < read.size(); ++i)
    ASSERT_EQ(read[i], std::byte{i < 10 || i >= 10 + 2 * SparseBytes::kPage ? std::uint8_t{1} : std::uint8_t{0}}) << i;
  SparseBytes zeros;
  zeros.write(0, std::vector<std::byte>(64));
  EXPECT_EQ(zeros, SparseBytes{});
}

// What is shown is what would have been written, whatever comes over it, and what it is shown from never changes.
// The page that was written last is remembered: not by a copy, which has its own, nor by what was moved from.
TEST(SparseBytes, CopiesAndMovedOnesAreWrittenApart) {
  std::byte one[] = {std::byte{1}};
  std::byte two[] = {std::byte{2}};
  std::byte read[1];
  SparseBytes first;
  first.write(5, one);
  SparseBytes copy = first;
  copy.write(5, two);
  first.read(5, read);
  EXPECT_EQ(read[0], std::byte{1});
  SparseBytes assigned;
  assigned.write(5, two);
  assigned = first;
  assigned.write(6, two);
  first.read(6, read);
  EXPECT_EQ(read[0], std::byte{0});
  SparseBytes moved = std::move(first);
  first = SparseBytes();
  first.write(5, two);
  moved.read(5, read);
  EXPECT_EQ(read[0], std::byte{1});
  moved.zero(0, SparseBytes::kPage);
  moved.write(6, two);
  moved.read(5, read);
  EXPECT_EQ(read[0], std::byte{0});
  moved.read(6, read);
  EXPECT_EQ(read[0], std::byte{2});
}

TEST(SparseBytes, ShownAndWrittenAreAlike) {
  constexpr std::size_t kSize = 8 * SparseBytes::kPage;
  std::mt19937 random(16);
  std::vector<std::byte> source(kSize);
  for (std::byte& b : source) b = static_cast<std::byte>(random());
  const std::vector<std::byte> before = source;
  for (int round = 0; round < 50; ++round) {
    SparseBytes bytes;
    std::vector<std::byte> plain(kSize);
    for (int step = 0; step < 12; ++step) {
      // Whole pages as well as any bytes.
      std::size_t unit = random() % 2 == 0 ? SparseBytes::kPage : 1;
      std::size_t from = random() % kSize / unit * unit;
      std::size_t size = (random() % (kSize - from) + unit - 1) / unit * unit;
      auto part = std::span(source).subspan(kSize - from - size, size);
      switch (random() % 3) {
        case 0:
          bytes.show(from, part);
          std::copy(part.begin(), part.end(), plain.begin() + static_cast<std::ptrdiff_t>(from));
          break;
        case 1:
          bytes.write(from, part);
          std::copy(part.begin(), part.end(), plain.begin() + static_cast<std::ptrdiff_t>(from));
          break;
        default:
          bytes.zero(from, size);
          std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(from), size, std::byte{0});
      }
      std::vector<std::byte> read(kSize);
      bytes.read(0, read);
      ASSERT_EQ(read, plain) << round << " " << step;
    }
    SparseBytes again;
    again.write(0, plain);
    EXPECT_EQ(bytes, again);
  }
  EXPECT_EQ(source, before);
}

}  // namespace
}  // namespace blackout::test
