// libFuzzer target: any bytes as unwind tables are read without a fault and without an end that isn't reached. The
// first byte says where on the stack the walks begin. With a folder as BLACKOUT_CORPUS it first writes seeds.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frame_table_bytes.h"

using namespace blackout::rt;
using namespace blackout::test;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  std::string plt("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
  std::string loop("\x16\x10\x0d\x30\x23\x64\x12\x0a\xe8\x03\x2d\x28\xf6\xff\x16\x13", 16);
  std::vector<std::string> programs = {"",   "\x41\x0e\x10\x86\x02\x43\x0d\x06",
                                       plt,  "\x0a\x50\x0e\x18\x50\x0b",
                                       loop, "\x10\x06\x02\x76\x10\x09\x10\x0c\x15\x07\x7f"};
  for (const char* letters : {"zR", "zPLR", "zRS"})
    std::ofstream(std::filesystem::path(folder) / letters, std::ios::binary)
        << '\0' << frameTableBytes(programs, "", letters).bytes;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  MappedTable mapped(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  struct {
    std::uintptr_t stack[32];
    int count = 0;
    std::uintptr_t last = 0;
  } functions;
  forEachFunction(
      mapped.table,
      [](const FunctionRange& f, void* out) {
        auto& into = *static_cast<decltype(functions)*>(out);
        if (f.begin < into.last || f.end < f.begin) __builtin_trap();
        into.last = f.begin;
        into.stack[into.count++] = f.begin + (f.end - f.begin) / 2;
        return into.count < 32;
      },
      &functions);
  if (functions.count == 0) return 0;
  for (int i = functions.count; i < 32; ++i) functions.stack[i] = functions.stack[i % functions.count];
  addFrameTable(mapped.table);
  // Exactly as long as it says: a sanitizer sees every read outside.
  std::vector<std::uintptr_t> stack(functions.stack, functions.stack + 32);
  auto low = reinterpret_cast<std::uintptr_t>(stack.data());
  for (int i = 0; i < functions.count; ++i) {
    std::uintptr_t sp = low + data[0];
    Frame frame{functions.stack[i], sp, sp + 16, sp + 32, sp + 48, low, low + 256, 0, sp + 8};
    std::uint64_t cold[64];
    std::uint64_t warm[64];
    int n = unwind(frame, low, low + 256, cold, 64);
    // What is remembered leads the same way.
    if (unwind(frame, low, low + 256, warm, 64) != n || std::memcmp(cold, warm, std::size_t(n) * 8) != 0)
      __builtin_trap();
  }
  forgetFrameTables(mapped.table.begin, mapped.table.end);
  return 0;
}
