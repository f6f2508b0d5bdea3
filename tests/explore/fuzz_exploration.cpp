// libFuzzer target: any bytes are refused in a sentence or restored without a fault. The first byte says what the rest
// is: a whole file, or a body alone, so that the fuzzer does not have to invent checksums. With a folder as
// BLACKOUT_CORPUS it first writes seeds.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "events/saved_file.h"
#include "events/trace.h"
#include "events/trace_writer.h"
#include "explore/exploration_file.h"
#include "model/index.h"

using namespace blackout;

namespace {

// A program with three lines, two operations and two paths.
struct Program {
  Program() {
    TraceWriter writer;
    FileNo f = writer.file("/pool", 4096, true);
    writer.file("/other", 64, true);
    for (unsigned i = 0; i < 3; ++i) {
      writer.blob(EventKind::OpBegin, 1, 0, "op");
      writer.event(EventKind::Store, 1, pmAddr(f, 64 * i), 1, 8);
      writer.event(EventKind::OpEnd, 1);
    }
    bytes = writer.bytes();
    trace = std::make_unique<Trace>(std::move(*Trace::fromBytes(std::as_bytes(std::span(bytes)))));
    index = std::make_unique<Index>(std::move(*Index::build(*trace, {})));
    tracked = std::make_unique<TrackedBytes>(TrackedBytes::of(*index));
    baseline = std::make_unique<Baseline>(*index, *tracked, index->points(PointsMode::Enough));
  }
  std::string bytes;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Index> index;
  std::unique_ptr<TrackedBytes> tracked;
  std::unique_ptr<Baseline> baseline;
};

const Program& program() {
  static const Program made;
  return made;
}

void look(const Result<SavedExploration>& saved) {
  if (!saved) {
    if (saved.error().sentence.empty()) __builtin_trap();
    return;
  }
  for (const SavedLevel& level : saved->levels) {
    Exploration exploration(*program().tracked, *program().baseline);
    exploration.addLevel(level.shared, level.traced, std::vector<SpaceInfo>(program().baseline->count()));
    if (!restore(*saved, level, *program().tracked, exploration, "fuzzed")) continue;
    // What was restored can be saved, and its traces are refused or read.
    std::uint64_t digest = 0;
    if (!encode(savedForm(exploration, 1, {&digest, 1}))) __builtin_trap();
    for (RecoveryNo l : idRange<RecoveryNo>(exploration.recoveries.size()))
      if (exploration.recoveries[l].trace != nullptr) (void)exploration.interrupted(l);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  SavedExploration saved;
  saved.outcomes.push_back({Ending::Signalled, 11, "text", "output", true, 1234, {1, 2, 3}, {}});
  SavedLevel level;
  for (unsigned i = 0; i < 3; ++i) {
    SavedRun run;
    run.atRoot = i == 0;
    run.under = NodeNo(i == 0 ? 0 : 1);
    run.bytes[0] = std::byte(i);
    run.notes = {"a note"};
    for (std::uint32_t w = i == 0 ? 0 : 1; w < 3; ++w) {
      run.queries.emplace_back();
      run.queries.back().query = {QueryKind::Bytes, w, 0xff, 17 + w, w, 0, 0};
    }
    run.queries.emplace_back();
    run.queries.back().query = {QueryKind::Op, 1, 2, 0, 0, 0, 0};
    run.queries.emplace_back();
    run.queries.back().query = {QueryKind::Path, 1, 0, 0, 0, 0, 0};
    if (i == 0) run.queries.erase(run.queries.begin() + 1);
    level.runs.push_back(run);
  }
  saved.levels.push_back(level);
  auto put = [&](const char* name, const SavedExploration& s) {
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << '\0' << *encode(s);
    std::ofstream(std::filesystem::path(folder) / (std::string(name) + "-body"), std::ios::binary)
        << '\1' << encodeBody(s);
  };
  put("plain", saved);
  saved.levels[0].traced = true;
  KeptTrace kept;
  kept.table = 2;
  kept.packed = *pack(program().bytes);
  for (SavedRun& run : saved.levels[0].runs) {
    kept.events.assign(run.queries.size() + (run.atRoot ? 0 : 1), 5);
    run.trace = std::make_shared<KeptTrace>(kept);
  }
  put("traced", saved);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  look((data[0] & 1) == 0 ? decode(rest, "fuzzed") : decodeBody(rest, "fuzzed"));
  return 0;
}
