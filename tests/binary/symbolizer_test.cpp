// Return addresses of this very test, looked up in its own debug info.

#include "binary/symbolizer.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "events/trace.h"
#include "report/places.h"
#include "sample_trace.h"

namespace blackout {

// Two real calls and an inlined one. Not in an anonymous namespace, so that names are plain.
std::array<std::uint64_t, 2> symbolizerTestAddresses;
__attribute__((noinline)) void symbolizerInner() {
  symbolizerTestAddresses[0] = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  asm volatile("" ::: "memory");
}
__attribute__((always_inline)) inline void symbolizerInlined() {
  symbolizerInner();
  asm volatile("" ::: "memory");
}
__attribute__((noinline)) void symbolizerOuter() {
  symbolizerTestAddresses[1] = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  symbolizerInlined();
  asm volatile("" ::: "memory");
}

namespace {

LoadedModule thisProgram() {
  LoadedModule module;
  module.path = std::filesystem::read_symlink("/proc/self/exe").string();
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& m = *static_cast<LoadedModule*>(data);
        m.bias = info->dlpi_addr;
        m.begin = UINT64_MAX;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          std::uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
          m.begin = std::min(m.begin, from);
          m.end = std::max(m.end, from + info->dlpi_phdr[i].p_memsz);
        }
        return 1;  // the program itself comes first
      },
      &module);
  return module;
}

std::vector<Frame> resolved(std::vector<std::uint64_t> frames, Site site, std::vector<LoadedModule> modules) {
  TraceWriter w;
  for (const LoadedModule& m : modules) w.module(m);
  StackId where = w.where(w.site(site), frames);
  std::string bytes = w.bytes();
  auto trace = Trace::fromBytes(test::asBytes(bytes));
  EXPECT_TRUE(trace);
  return Symbolizer(*trace).stackOf(where);
}

std::vector<std::string> functions(const std::vector<Frame>& stack) {
  std::vector<std::string> names;
  for (const Frame& f : stack) names.push_back(f.function);
  return names;
}

TEST(Symbolizer, SitePlacesThenCalls) {
  symbolizerOuter();
  auto stack = resolved({symbolizerTestAddresses[0], symbolizerTestAddresses[1]}, test::sampleSite(), {thisProgram()});
  ASSERT_GE(stack.size(), 5U);
  std::vector<std::string> names = functions(stack);
  names.resize(4);
  EXPECT_EQ(names, (std::vector<std::string>{"List::push(int)", "List::insert(int)", "blackout::symbolizerInlined()",
                                             "blackout::symbolizerOuter()"}));
  EXPECT_TRUE(stack[0].inlined);
  EXPECT_FALSE(stack[1].inlined);
  EXPECT_TRUE(stack[2].inlined);
  EXPECT_TRUE(stack[3].file.ends_with("symbolizer_test.cpp")) << stack[3].file;
  EXPECT_GT(stack[3].line, 0U);
  EXPECT_NE(stack[4].function.find("SitePlacesThenCalls"), std::string::npos) << stack[4].function;
}

TEST(Symbolizer, AddressesInNoModuleAreDropped) {
  auto stack = resolved({0x10, 0, UINT64_MAX}, test::sampleSite(), {thisProgram()});
  EXPECT_EQ(stack.size(), 2U);
}

TEST(Symbolizer, AModuleThatIsGoneKeepsItsName) {
  auto stack = resolved({0x1500}, test::sampleSite(), {{"/no/such/module", 0x1000, 0x1000, 0x2000, true}});
  ASSERT_EQ(stack.size(), 3U);
  EXPECT_EQ(stack[2].module, "/no/such/module");
}

// Frames are kept from one trace to the next, but not for another file at the same path.
TEST(Symbolizer, WhatIsKnownOfAProgramGoesWithIt) {
  namespace fs = std::filesystem;
  symbolizerOuter();
  LoadedModule module = thisProgram();
  fs::path copy = fs::path(testing::TempDir()) / ("symbolizer_test." + std::to_string(getpid()));
  fs::copy_file(module.path, copy, fs::copy_options::overwrite_existing);
  module.path = copy.string();
  auto first = functions(resolved({symbolizerTestAddresses[1]}, test::sampleSite(), {module}));
  EXPECT_EQ(functions(resolved({symbolizerTestAddresses[1]}, test::sampleSite(), {module})), first);
  ASSERT_GE(first.size(), 3U);
  EXPECT_NE(first[2].find("WhatIsKnownOfAProgramGoesWithIt"), std::string::npos) << first[2];
  std::ofstream(copy, std::ios::trunc) << "no program";
  auto then = resolved({symbolizerTestAddresses[1]}, test::sampleSite(), {module});
  ASSERT_EQ(then.size(), 3U);
  EXPECT_EQ(then[2].function, "");
  EXPECT_EQ(then[2].module, copy.string());
  fs::remove(copy);
}

TEST(Symbolizer, TheRuntimeIsLeftOut) {
  auto stack = resolved({0x1500}, test::sampleSite(), {{"/opt/lib/libblackout_rt.so", 0x1000, 0x1000, 0x2000, true}});
  EXPECT_EQ(stack.size(), 2U);
}

TEST(Symbolizer, EndsAtMain) {
  Site site = test::sampleSite();
  site.sources = {{1, {{"main", "/src/main.c", 3, 1, 0}}}};
  symbolizerOuter();
  EXPECT_EQ(resolved({symbolizerTestAddresses[0]}, site, {thisProgram()}).size(), 1U);
}

TEST(Symbolizer, ASiteWithoutSourcesDoesNotTakeItsCallersPlace) {
  symbolizerOuter();
  auto stack = resolved({symbolizerTestAddresses[0]}, Site{1, SiteKind::Store, 8, false, {}, {}}, {thisProgram()});
  ASSERT_GE(stack.size(), 2U);
  EXPECT_EQ(stack[0], Frame{});
}

TEST(Symbolizer, MergedSourcesAreKept) {
  std::string bytes = test::sampleTrace().sealedBytes();
  auto trace = Trace::fromBytes(test::asBytes(bytes));
  ASSERT_TRUE(trace);
  Report r;
  r.findings = {makeFinding(FindingKind::NeverPersisted)};
  r.findings[0].places = {placeOf(*trace, "written here", 1)};
  resolvePlaces(r, *trace);
  ASSERT_EQ(r.findings[0].places[0].alsoFrom.size(), 1U);
  EXPECT_EQ(r.findings[0].places[0].alsoFrom[0][0].function, "List::append(int)");
}

}  // namespace
}  // namespace blackout
