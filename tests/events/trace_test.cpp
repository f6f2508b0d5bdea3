// The trace's reader and writer: what is written is read, and what is no trace is refused in one
// sentence that names the cure.

#include "events/trace.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "events/trace_writer.h"
#include "sample_trace.h"

namespace blackout {
namespace {

using test::asBytes;
using test::sampleTrace;

std::string sentenceOf(const std::string& bytes) {
  auto trace = Trace::fromBytes(asBytes(bytes), "t");
  return trace ? "accepted" : trace.error().sentence;
}

class TempFile {
 public:
  explicit TempFile(std::string_view name)
      : path_((std::filesystem::temp_directory_path() / ("blackout-" + std::to_string(getpid()) + std::string(name)))
                  .string()) {}
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Trace, SampleHasEveryKind) {
  std::string bytes = sampleTrace().sealedBytes();
  auto trace = Trace::fromBytes(asBytes(bytes));
  ASSERT_TRUE(trace) << trace.error().sentence;
  std::set<std::uint8_t> kinds;
  for (EventNo n = 0; n < trace->end(); n = trace->next(n)) kinds.insert((*trace)[n].kind);
#define BLACKOUT_EVENT(code, Name, text, Group, Body, doc) EXPECT_TRUE(kinds.contains(code)) << text;
#include "events/event_kinds.def"
#undef BLACKOUT_EVENT
}

TEST(Trace, TablesAreRead) {
  std::string bytes = sampleTrace().sealedBytes();
  auto trace = Trace::fromBytes(asBytes(bytes));
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->sealed());
  EXPECT_EQ(trace->lastThread().value(), 2U);
  ASSERT_EQ(trace->files().size(), 3U);
  EXPECT_EQ(trace->files()[1].path, "/pool/a.img");
  EXPECT_TRUE(trace->files()[1].before);
  EXPECT_EQ(trace->files()[2].path, "/pool/c.img") << "the last name of a renamed file";
  EXPECT_TRUE(trace->files()[2].removed);
  ASSERT_EQ(trace->modules().size(), 3U);
  EXPECT_TRUE(trace->modules()[2].trapped);
  EXPECT_EQ(trace->modules()[2].patched, 5U);
  EXPECT_EQ(trace->modules()[2].unproved, 1U);
  EXPECT_EQ(trace->modules()[0].path, "/bin/program");
  EXPECT_EQ(trace->modules()[0].begin, 0x401000U);
  EXPECT_EQ(trace->modules()[0].bias, 0x1000U);
  EXPECT_TRUE(trace->modules()[0].instrumented);
  ASSERT_NE(trace->site(1), nullptr);
  EXPECT_EQ(*trace->site(1), test::sampleSite());
  ASSERT_EQ(trace->stackEnd().value(), 3U);
  ASSERT_EQ(trace->callStack(1)->frames.size(), 2U);
  EXPECT_EQ(trace->callStack(1)->frames[1], 0x401200U);
  EXPECT_EQ(trace->site(0), nullptr);
  EXPECT_EQ(trace->callStack(0), nullptr);
}

TEST(Trace, WideStoresAreCutAtUnits) {
  TraceWriter w;
  FileNo f = w.file("p", 4096, true);
  w.store(EventKind::Store, 1, pmAddr(f, 61), "abcdefghijk");
  std::string bytes = w.bytes();
  auto trace = Trace::fromBytes(asBytes(bytes));
  ASSERT_TRUE(trace);
  std::vector<unsigned> sizes;
  std::vector<bool> wide;
  for (EventNo n = 0; n < trace->end(); n = trace->next(n))
    if (isStore((*trace)[n])) {
      sizes.push_back(bytesOf((*trace)[n]));
      wide.push_back(((*trace)[n].len & BLACKOUT_WIDE) != 0);
    }
  EXPECT_EQ(sizes, (std::vector<unsigned>{3, 8}));
  EXPECT_EQ(wide, (std::vector<bool>{true, false}));
}

TEST(Trace, FileDataLeavesOutZeroPages) {
  TraceWriter w;
  FileNo f = w.file("p", 5 * 4096, true);
  std::string content(5 * 4096, '\0');
  content[4096] = 'x';
  content[4 * 4096 + 5] = 'y';
  w.fileData(pmAddr(f, 0), content);
  std::string bytes = w.bytes();
  auto trace = Trace::fromBytes(asBytes(bytes));
  ASSERT_TRUE(trace);
  std::string rebuilt(content.size(), '\0');
  std::size_t kept = 0;
  for (EventNo n = 0; n < trace->end(); n = trace->next(n))
    if (kindOf((*trace)[n]) == EventKind::FileData) {
      kept += trace->payload(n).size();
      rebuilt.replace(offsetOf((*trace)[n].addr), trace->payload(n).size(), trace->payload(n));
    }
  EXPECT_EQ(rebuilt, content);
  EXPECT_EQ(kept, 2 * 4096U);
}

TEST(Trace, ForeignFilesAreRefused) {
  EXPECT_NE(sentenceOf("").find("not a Blackout trace"), std::string::npos);
  EXPECT_NE(sentenceOf("\x7f"
                       "ELF and more")
                .find("blackout record"),
            std::string::npos);
  EXPECT_NE(sentenceOf("BLACKOUT").find("cut short inside its header"), std::string::npos);
}

TEST(Trace, OtherVersionsAreRefused) {
  std::string bytes = sampleTrace().bytes();
  reinterpret_cast<blackout_trace_header*>(bytes.data())->version = 99;
  EXPECT_NE(sentenceOf(bytes).find("format version 99"), std::string::npos);
}

TEST(Trace, MissingFilesAndFoldersAreRefused) {
  auto missing = Trace::open("/no/such/trace");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().sentence,
            "/no/such/trace: No such file or directory; name a trace that 'blackout record' wrote");
  EXPECT_EQ(missing.error().exit, ExitCode::Usage);
  auto folder = Trace::open("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().sentence.find("not a file"), std::string::npos);
}

TEST(Trace, EachBrokenRuleIsNamed) {
  struct Case {
    std::string_view rule;
    std::function<void(TraceWriter&, FileNo)> write;
  };
  std::vector<Case> cases = {
      {"a store outside its file", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f, 4096), 1, 1); }},
      {"a store outside its file", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f + 1, 0), 1, 1); }},
      {"across two 8-byte units", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f, 4), 1, 8); }},
      {"no possible size", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f, 0), 0, 0); }},
      {"no possible size", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f, 0), 0, 9); }},
      {"more bytes than its size", [](auto& w, FileNo f) { w.event(EventKind::Store, 1, pmAddr(f, 0), 256, 1); }},
      {"half of a 16-byte store",
       [](auto& w, FileNo f) { w.event(EventKind::Rmw, 1, pmAddr(f, 0), 1, 8 | BLACKOUT_JOINED); }},
      {"a flush of no file", [](auto& w, FileNo) { w.event(EventKind::Clwb, 1, 0); }},
      {"a load from no file", [](auto& w, FileNo f) { w.event(EventKind::Load, 1, pmAddr(f + 1, 0), 0, 8); }},
      {"a sync of no file", [](auto& w, FileNo) { w.event(EventKind::Fsync, 1, 0); }},
      {"no event kind 200", [](auto& w, FileNo) { w.event(static_cast<EventKind>(200), 1); }},
      {"not in the trace", [](auto& w, FileNo) { w.event(EventKind::Sfence, 1, 0, 0, 0, 7); }},
      {"longer than the trace", [](auto& w, FileNo) { w.event(EventKind::OpBegin, 1, 0, 1 << 20); }},
      {"a pool file out of turn", [](auto& w, FileNo f) { w.blob(EventKind::FileNew, 0, pmAddr(f + 5, 0), "x"); }},
      {"impossible size",
       [](auto& w, FileNo f) { w.event(EventKind::FileSize, 0, pmAddr(f, 0), BLACKOUT_MAX_FILE_SIZE + 1); }},
      {"content outside its file",
       [](auto& w, FileNo f) { w.blob(EventKind::FileData, 0, pmAddr(f, 4090), "0123456789"); }},
      {"a range outside any file", [](auto& w, FileNo) { w.event(EventKind::Discard, 1, 5, 5); }},
      {"a range outside any file", [](auto& w, FileNo) { w.event(EventKind::CommitVar, 1, 5, 5); }},
      {"a range outside any file", [](auto& w, FileNo f) { w.event(EventKind::TxIgnore, 1, pmAddr(f + 1, 0), 5); }},
      {"a range without its size", [](auto& w, FileNo f) { w.blob(EventKind::TxAdd, 1, pmAddr(f, 0), "short"); }},
      {"a range outside any file",
       [](auto& w, FileNo f) { w.blob(EventKind::TxRemove, 1, pmAddr(f, 0), std::string(16, '\xff')); }},
      {"a range outside any file",  // by no variable
       [](auto& w, FileNo f) { w.blob(EventKind::CommitRange, 1, pmAddr(f, 0), std::string(16, '\0')); }},
      {"values of no possible shape", [](auto& w, FileNo) { w.blob(EventKind::OpValues, 1, 0, "short"); }},
      {"values of no possible shape", [](auto& w, FileNo) { w.blob(EventKind::OpValues, 1, 0, "", 2); }},
      {"values of no possible shape",  // a number of 4 bytes
       [](auto& w, FileNo) { w.blob(EventKind::OpValues, 1, 0, std::string("\0\0\0\0\4\0\0\0\1\0\0\0\0\0\0\0", 16)); }},
      {"without its address", [](auto& w, FileNo f) { w.blob(EventKind::Map, 1, pmAddr(f, 0), "short"); }},
      {"a site's record", [](auto& w, FileNo) { w.blob(EventKind::Site, 0, 1, "short"); }},
      {"a place's record", [](auto& w, FileNo) { w.blob(EventKind::Where, 0, 1, "short"); }},
      {"a program file's record", [](auto& w, FileNo) { w.blob(EventKind::Module, 0, 1, "short"); }},
  };
  for (const Case& c : cases) {
    TraceWriter w;
    FileNo f = w.file("p", 4096, true);
    c.write(w, f);
    std::string sentence = sentenceOf(w.sealedBytes());
    EXPECT_NE(sentence.find(c.rule), std::string::npos) << c.rule << " gave: " << sentence;
    EXPECT_NE(sentence.find("record it again"), std::string::npos) << sentence;
  }
}

// A trace that goes to its file as it is written is the one that is written at once.
TEST(TraceWriter, SpooledIsTheSame) {
  TempFile file("spool");
  std::string content(3 << 20, 'x');
  auto write = [&](TraceWriter& w) {
    FileNo f = w.file("/pool", 64 << 20, true);
    for (std::uint64_t n = 0; n < 4; ++n) w.fileData(pmAddr(f, n * content.size()), content);
    return w.event(EventKind::Store, 1, pmAddr(f, 8), 1, 8);
  };
  TraceWriter whole, spooled;
  ASSERT_TRUE(spooled.spoolTo(file.path()));
  EXPECT_EQ(write(whole), write(spooled));
  ASSERT_TRUE(spooled.save(file.path(), false));
  std::ifstream in(file.path(), std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == whole.bytes());
}

TEST(SealTrace, EndsAGrowingTrace) {
  TempFile file("seal");
  TraceWriter w;
  w.file("p", 4096, true);
  ASSERT_TRUE(w.save(file.path(), false));
  {
    // What a recorder reserved ahead.
    std::ofstream(file.path(), std::ios::app | std::ios::binary) << std::string(100000, '\0');
  }
  auto growing = Trace::open(file.path());
  ASSERT_TRUE(growing) << growing.error().sentence;
  EXPECT_FALSE(growing->sealed());
  EventNo end = growing->end();
  ASSERT_TRUE(sealTrace(file.path(), 256));
  auto sealed = Trace::open(file.path());
  ASSERT_TRUE(sealed) << sealed.error().sentence;
  EXPECT_TRUE(sealed->sealed());
  EXPECT_EQ(sealed->end(), end + 1);
  EXPECT_EQ(kindOf((*sealed)[end]), EventKind::End);
  EXPECT_EQ((*sealed)[end].value, 256U);
}

// What was added, and the end with its seal, without all of it being read again.
TEST(ReadOn, FindsWhatWasAdded) {
  for (std::size_t reserved : {std::size_t{0}, std::size_t{100000}}) {
    TempFile file("readon");
    TraceWriter w;
    FileNo f = w.file("p", 4096, true);
    SiteNo site = w.site({.id = 7, .kind = SiteKind::Store, .trapped = true});
    StackId where = w.where(site);
    w.event(EventKind::Store, 1, pmAddr(f, 8), 5, 8, where);
    w.event(EventKind::Sfence, 2);
    ASSERT_TRUE(w.save(file.path(), false));
    {
      std::ofstream(file.path(), std::ios::app | std::ios::binary) << std::string(reserved, '\0');
    }
    auto trace = Trace::open(file.path());
    ASSERT_TRUE(trace) << trace.error().sentence;
    EXPECT_EQ(trace->count(EventKind::Store), 1U);
    EXPECT_EQ(trace->threadCount(), 2U);
    std::size_t rare = trace->rare().size();
    EventNo end = trace->end();
    Site named{.id = 9, .kind = SiteKind::Store, .trapped = true, .module = "/bin/p"};
    ASSERT_TRUE(appendSites(file.path(), std::vector<std::pair<SiteNo, Site>>{{site, named}}));
    ASSERT_TRUE(sealTrace(file.path(), 256));
    EXPECT_EQ(trace->site(site)->id, 7U);
    auto ok = trace->readOn();
    ASSERT_TRUE(ok) << ok.error().sentence;
    EXPECT_TRUE(trace->sealed());
    EXPECT_EQ(trace->site(site)->id, 9U);
    EXPECT_GT(trace->end(), end);
    auto again = Trace::open(file.path());
    ASSERT_TRUE(again) << again.error().sentence;
    EXPECT_EQ(trace->end(), again->end());
    EXPECT_EQ(trace->eventCount(), again->eventCount());
    for (int kind = 0; kind < 256; ++kind)
      EXPECT_EQ(trace->count(static_cast<EventKind>(kind)), again->count(static_cast<EventKind>(kind)));
    EXPECT_EQ(trace->rare().size(), rare + 1);  // the end
    EXPECT_EQ(kindOf((*trace)[trace->rare().back()]), EventKind::End);
  }
}

TEST(ReadOn, ChecksWhatWasAdded) {
  TempFile file("readon");
  TraceWriter w;
  w.file("p", 4096, true);
  ASSERT_TRUE(w.save(file.path(), false));
  auto trace = Trace::open(file.path());
  ASSERT_TRUE(trace) << trace.error().sentence;
  w.event(EventKind::Store, 1, pmAddr(FileNo(1), 8192), 5, 8);
  ASSERT_TRUE(w.save(file.path(), false));
  auto ok = trace->readOn();
  ASSERT_FALSE(ok);
  EXPECT_NE(ok.error().sentence.find("a store outside its file"), std::string::npos) << ok.error().sentence;
}

TEST(SealTrace, RefusesWhatIsNoTrace) {
  TempFile file("notrace");
  EXPECT_FALSE(sealTrace(file.path(), 0));
  std::ofstream(file.path()) << "short";
  EXPECT_FALSE(sealTrace(file.path(), 0));
}

}  // namespace
}  // namespace blackout
