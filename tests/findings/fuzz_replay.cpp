// libFuzzer target: any bytes are refused in a sentence or read without a fault. The first byte says what the
// rest is: a whole file, or a body alone, because no fuzzer guesses a checksum. What is read must come out the same
// when it is written again. With a folder as BLACKOUT_CORPUS it first writes seeds.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "findings/replay_file.h"

using namespace blackout;

namespace {

enum Form : char { WholeFile, BodyOnly };

ReplayFile seed() {
  ReplayFile f;
  f.blackout = "0.1";
  f.command = {"./map", "pool"};
  f.folder = "/home";
  f.pools = {{"/home/pool", false}};
  f.model = "x86";
  f.trace = "trace";
  f.at = 7;
  f.stepLimit = 1000;
  f.seconds = 50;
  f.runtimeOptions = ":pin=0";
  f.expected.ending = Ending::Signalled;
  f.expected.code = 11;
  f.expected.output = "output";
  f.expected.frames = {4096};
  f.finding = "{}";
  return f;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / "body", std::ios::binary) << BodyOnly << encodeReplayBody(seed());
  std::ofstream(std::filesystem::path(folder) / "whole", std::ios::binary) << WholeFile << *encodeReplay(seed());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto file = (data[0] & 1) == WholeFile ? decodeReplay(rest, "fuzz") : decodeReplayBody(rest, "fuzz");
  if (!file) {
    if (file.error().sentence.empty()) __builtin_trap();
    return 0;
  }
  auto again = decodeReplay(*encodeReplay(*file), "again");
  if (!again || !(*again == *file)) __builtin_trap();
  return 0;
}
