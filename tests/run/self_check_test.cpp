// What a recording says of bytes that its trace does not explain.
#include "run/self_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "events/byte_stream.h"
#include "events/trace.h"
#include "events/trace_writer.h"

namespace blackout::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A trace of some files, and the folder in which the program has left them.
class Recorded : public ::testing::Test {
 protected:
  Recorded() : folder_(::testing::TempDir() + "blackout_self_check_XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~Recorded() override { fs::remove_all(folder_); }

  FileNo file(const std::string& path, const std::string& stored) {
    FileNo n = writer_.file(path, kSize, false);
    writer_.store(EventKind::Store, 1, pmAddr(n, 0), stored);
    return n;
  }
  void leave(const std::string& path, std::string bytes) {
    bytes.resize(kSize);
    fs::path copy = fs::path(folder_) / fs::path(path).relative_path();
    fs::create_directories(copy.parent_path());
    std::ofstream(copy, std::ios::binary) << bytes;
  }
  Words unexplained() {
    const std::string path = folder_ + "/trace";
    EXPECT_TRUE(writer_.save(path, true).has_value());
    auto trace = Trace::open(path);
    if (!trace) return {trace.error().sentence};
    auto words = unexplainedBytes(*trace, folder_);
    return words ? *words : Words{words.error().sentence};
  }

  static constexpr std::uint64_t kSize = 256;
  std::string folder_;
  TraceWriter writer_;
};

TEST_F(Recorded, WhatTheTraceExplainsIsNotNamed) {
  file("/pm/a", "stored");
  leave("/pm/a", "stored");
  EXPECT_EQ(unexplained(), Words{});
}

TEST_F(Recorded, AFileThatIsNotThereIsNamedAndTheOthersAreComparedAllTheSame) {
  file("/pm/a", "stored");
  file("/pm/b", "stored");
  leave("/pm/b", "stared");
  EXPECT_EQ(unexplained(), (Words{"/pm/a: it should be there and is not", "/pm/b: bytes 0x2 to 0x3"}));
}

TEST_F(Recorded, AFileThatWasRemovedNeedNotBeThere) {
  writer_.remove(file("/pm/a", "stored"));
  EXPECT_EQ(unexplained(), Words{});
}

TEST_F(Recorded, FourPlacesOfAFileAreNamed) {
  file("/pm/a", "a.b.c.d.e.f");
  leave("/pm/a", "A.B.C.D.e.f");
  EXPECT_EQ(unexplained(), (Words{"/pm/a: bytes 0x0 to 0x1", "/pm/a: bytes 0x2 to 0x3", "/pm/a: bytes 0x4 to 0x5",
                                  "/pm/a: bytes 0x6 to 0x7"}));
  leave("/pm/a", "A.B.C.D.E.F");
  Words five = unexplained();
  ASSERT_EQ(five.size(), 5U);
  EXPECT_EQ(five.back(), "/pm/a: and more");
}

// Memory that was registered ends where it ends, and its pages do not.
TEST_F(Recorded, BesidesRegisteredMemoryNothingIsCompared) {
  FileNo n = file("/registered/1", "stored");
  ByteWriter mapped;
  mapped.fixed(MappedAt{0x10000, 64});
  writer_.blob(EventKind::Map, 1, pmAddr(n, 0), mapped.take());
  leave("/registered/1", "stared" + std::string(100, '\0') + "beside");
  EXPECT_EQ(unexplained(), Words{"/registered/1: bytes 0x2 to 0x3"});
}

}  // namespace
}  // namespace blackout::test
