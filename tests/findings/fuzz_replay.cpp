// libFuzzer target: any bytes are refused in a sentence or read without a fault. The first byte says what the
// rest is: a whole file, or a body to which a sound header is given, because no fuzzer guesses a checksum. What
// is read must come out the same when it is written again. With a folder as BLACKOUT_CORPUS it first writes seeds.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "findings/replay_file.h"

using namespace blackout;

namespace {

enum Form : char { WholeFile, BodyOnly };

// The text of a body: numbers of eight bytes, texts behind their lengths.
std::string seedBody() {
  std::string body;
  auto number = [&](std::uint64_t v) { body.append(reinterpret_cast<const char*>(&v), 8); };
  auto text = [&](std::string_view s) {
    number(s.size());
    body.append(s);
  };
  text("0.1");
  number(2);
  text("./map");
  text("pool");
  text("/home");
  number(1);
  text("/home/pool");
  number(0);
  text("");
  text("x86");
  text("trace");
  for (std::uint64_t v : {7, 1000, 50}) number(v);
  text(":pin=0");
  for (std::uint64_t v : {1, 1, 11}) number(v);
  text("");
  text("output");
  number(0);
  number(16);
  number(1);
  number(4096);
  text("{}");
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  std::string body = seedBody();
  if (!decodeReplay(packReplay(body), "seed")) __builtin_trap();  // or the fuzzer would fuzz nothing
  std::ofstream(std::filesystem::path(folder) / "body", std::ios::binary) << BodyOnly << body;
  std::ofstream(std::filesystem::path(folder) / "whole", std::ios::binary) << WholeFile << packReplay(body);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto file = decodeReplay((data[0] & 1) == WholeFile ? rest : packReplay(rest), "fuzz");
  if (!file) {
    if (file.error().sentence.empty()) __builtin_trap();
    return 0;
  }
  auto again = decodeReplay(encodeReplay(*file), "again");
  if (!again || !(*again == *file)) __builtin_trap();
  return 0;
}
