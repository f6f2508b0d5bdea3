// The replay file: what is written is read, damage is refused in a sentence, and the trace in it is the crash
// state that it was made from.
#include "findings/replay_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "events/trace.h"
#include "model/crash_trace.h"
#include "model/tracked_bytes.h"
#include "tiny_program.h"

namespace blackout {
namespace {

using test::TinyProgram;

ReplayFile sample() {
  ReplayFile f;
  f.blackout = "0.1.0";
  f.command = {"./map", "pool img", ""};
  f.folder = "/home/x";
  f.pools = {{"/home/x/pool", false}, {"/home/x/*.img", true}};
  f.input = std::string("line\n\0x", 7);
  f.model = "model=x86";
  f.trace = std::string(100000, 't');
  f.at = 77;
  f.stepLimit = 1u << 30;
  f.seconds = 5;
  f.runtimeOptions = ":pin=0";
  f.exitCodeCounts = true;
  f.expected.ending = Ending::Signalled;
  f.expected.code = 11;
  f.expected.text = "text";
  f.expected.output = "out";
  f.expected.outputCut = true;
  f.expected.faultAddress = 0x10;
  f.expected.frames = {1, 2, 3};
  f.expected.history = {{1, "get", {Value::ofText("key")}, {Value::ofSigned(-1)}, 0, 2}, {2, "put", {}, {}, 1}};
  f.finding = "{}";
  return f;
}

TEST(ReplayFile, ComesBackAsItWas) {
  ReplayFile f = sample();
  std::string bytes = *encodeReplay(f);
  EXPECT_LT(bytes.size(), 2000U) << "the trace is compressed";
  auto back = decodeReplay(bytes, "f");
  ASSERT_TRUE(back) << back.error().sentence;
  EXPECT_EQ(*back, f);
  f.expected.code = -1;
  EXPECT_EQ(decodeReplay(*encodeReplay(f), "f")->expected.code, -1);
}

TEST(ReplayFile, DamageIsRefused) {
  std::string bytes = *encodeReplay(sample());
  auto refused = [](const std::string& b, const std::string& what) {
    auto back = decodeReplay(b, "the file");
    ASSERT_FALSE(back);
    EXPECT_NE(back.error().sentence.find(what), std::string::npos) << back.error().sentence;
    EXPECT_EQ(back.error().sentence.find("the file: "), 0U);
  };
  refused("", "not a replay file");
  refused("BLACKOUT", "not a replay file");
  refused(bytes.substr(0, 20), "cut short");
  refused(bytes.substr(0, bytes.size() - 1), "damaged or cut short");
  refused(bytes + "x", "damaged");
  for (std::size_t i = 8; i < bytes.size(); i += 3) {
    std::string b = bytes;
    b[i] = static_cast<char>(b[i] ^ 0x20);
    EXPECT_FALSE(decodeReplay(b, "f")) << "byte " << i;
  }
  for (const char* body : {"", "short"}) EXPECT_FALSE(decodeReplayBody(body, "f"));
  EXPECT_FALSE(decodeReplayBody(encodeReplayBody(sample()) + "x", "f"));
}

TEST(ReplayFile, WhatCantBeReadIsSaid) {
  auto none = openReplay("/no/such/file");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().sentence.find("/no/such/file: No such file or directory; name a replay file"),
            std::string::npos)
      << none.error().sentence;
  EXPECT_NE(openReplay("/").error().sentence.find("a folder"), std::string::npos);
}

RC_GTEST_PROP(ReplayFile, AnyTextsComeBack, (std::vector<std::string> command, std::string input, std::string output)) {
  ReplayFile f = sample();
  f.command = command;
  f.command.push_back("x");
  f.input = input;
  f.expected.output = output;
  auto back = decodeReplay(*encodeReplay(f), "f");
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == f);
}

// --- the trace in it ---

struct Opened {
  std::string bytes;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Index> index;
};
Opened open(const CrashTrace& crash) {
  Opened o;
  o.bytes = crash.bytes;
  auto trace = Trace::fromBytes(std::as_bytes(std::span(o.bytes)));
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence);
  o.trace = std::make_unique<Trace>(std::move(*trace));
  o.index = std::make_unique<Index>(std::move(*Index::build(*o.trace, {})));
  return o;
}

TEST(CrashTrace, LeavesWhatTheStateLeaves) {
  TinyProgram p(3 * 4096);
  p.store(1, 0, 5);
  p.store(1, 8192, 6);
  p.store(1, 8192 + 100, 7);
  EventNo at = p.sfence(1);
  p.store(1, 0, 9);
  const Index& index = p.index();
  for (const CrashLevel& level : test::allLevels(index, at)) {
    const Index* one = &index;
    auto crash = crashTrace({level}, {&one, 1});
    ASSERT_TRUE(crash);
    Opened o = open(*crash);
    auto image = buildImage(CrashLevel(crash->at, UnnamedLines::Least), *o.index);
    auto expected = buildImage(level, index);
    ASSERT_TRUE(image && expected);
    ASSERT_EQ(image->files.size(), 1U);
    EXPECT_EQ(image->files[0].path, expected->files[0].path);
    EXPECT_EQ(image->files[0].size, expected->files[0].size);
    EXPECT_TRUE(image->files[0].bytes == expected->files[0].bytes);
  }
}

TEST(CrashTrace, KeepsOperationsMappingsAndFilesToCome) {
  TinyProgram p(4096);
  std::string place(16, '\1');
  p.writer.blob(EventKind::Map, 1, p.at(0), place);
  p.opBegin(1);
  p.opBegin(2);
  Values results{Value::ofBytes("old"), Value::ofUnsigned(7)};
  p.writer.blob(EventKind::OpValues, 2, 0, encodeValues(results), BLACKOUT_VALUES_RESULTS);
  p.writer.event(EventKind::OpEnd, 2, 0, 0, BLACKOUT_OP_VALUES);
  p.opBegin(2);
  p.store(1, 0, 1);
  EventNo at = p.sfence(1);
  p.opBegin(3);
  FileNo later = p.writer.file("/later", 64, false);
  p.writer.blob(EventKind::Map, 1, pmAddr(later, 0), place);
  const Index& index = p.index();
  const Index* one = &index;
  auto crash = crashTrace({CrashLevel(at, UnnamedLines::Least)}, {&one, 1});
  ASSERT_TRUE(crash);
  Opened o = open(*crash);
  TrackedBytes tracked = TrackedBytes::of(*o.index);
  ASSERT_EQ(tracked.operations(), 4U);
  Baseline baseline(*o.index, tracked, {crash->at});
  std::vector<std::uint32_t> states;
  for (OperationNo i : idRange<OperationNo>(4)) states.push_back(baseline.opState(0, i));
  EXPECT_EQ(states, (std::vector<std::uint32_t>{1, 2, 1, 0}));
  EXPECT_EQ(o.index->operations().results(1), results);
  EXPECT_FALSE(o.index->operations().results(0));
  ASSERT_EQ(tracked.paths().size(), 2U);
  EXPECT_EQ(tracked.paths()[0], "/later");
  EXPECT_EQ(baseline.pathState(0, 0), PathState{});
  EXPECT_EQ(baseline.pathState(0, 1), (PathState{1, 4096}));
  std::vector<std::string> mapped;
  for (EventNo n = 0; n < o.trace->end(); n = o.trace->next(n))
    if (kindOf((*o.trace)[n]) == EventKind::Map) {
      EXPECT_EQ(o.trace->payload(n), place);
      mapped.push_back(o.trace->files()[fileOf((*o.trace)[n].addr)].path);
    }
  EXPECT_EQ(mapped, (std::vector<std::string>{"/pool", "/later"}));
}

}  // namespace
}  // namespace blackout
