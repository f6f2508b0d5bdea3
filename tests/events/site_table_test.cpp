// The site table as it is read from a program file: from this test's own, in which a few rows are
// laid out by hand exactly as contract.h says, and from damaged copies of it.

#include "events/site_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "events/contract.h"

// Offsets are relative to the field that holds them, so an assembler writes them best.
asm(R"(
  .pushsection .rodata.blackout_test,"a",@progbits
1: .asciz "_ZN4List4pushEi"
2: .asciz "/src/list.cpp"
3: .asciz "Node.next"
5: .asciz ""
  .asciz "behind it"
  .balign 8
4: # blackout_place[3]: a source of two places, then another of one
  .quad 0xaa
  .long 1b - .
  .long 2b - .
  .long 42, 14, 0, 1
  .quad 0
  .long 0
  .long 2b - .
  .long 60, 3, 1, 0
  .quad 0xbb
  .long 1b - .
  .long 0
  .long 0, 0, 0, 1
  .popsection
  .pushsection blackout_sites,"aw",@progbits
  .quad 0x1122334455667788
  .long 0
  .short 8
  .byte 2, 1
  .long 4b - .
  .long 3
  .long 3b - .
  .long 0
  .quad 5
  .long 0
  .short 0
  .byte 13, 0
  .long 4b - .
  .long 0
  .long 5b - .
  .long 0
  .popsection
)");

namespace blackout {
namespace {

std::string self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(SiteTable, RowsAreRead) {
  auto sites = readSiteTable(self());
  ASSERT_TRUE(sites) << sites.error().sentence;
  ASSERT_EQ(sites->size(), 2U);
  const Site& site = (*sites)[0];
  EXPECT_EQ(site.id, 0x1122334455667788U);
  EXPECT_EQ(site.kind, SiteKind::Store);
  EXPECT_EQ(site.size, 8);
  EXPECT_TRUE(site.atomic);
  EXPECT_EQ(site.type, "Node.next");
  ASSERT_EQ(site.sources.size(), 2U);
  EXPECT_EQ(site.sources[0],
            (Source{0xaa, {{"_ZN4List4pushEi", "/src/list.cpp", 42, 14, 0}, {"", "/src/list.cpp", 60, 3, 1}}}));
  EXPECT_EQ(site.sources[1], (Source{0xbb, {{"_ZN4List4pushEi", "", 0, 0, 0}}}));
  EXPECT_EQ((*sites)[1].kind, SiteKind::Sfence);
  EXPECT_TRUE((*sites)[1].sources.empty());
  EXPECT_EQ((*sites)[1].type, "");
}

TEST(SiteTable, OtherFilesAreRefused) {
  auto missing = readSiteTable("/no/such/program");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().sentence.find("can't be read"), std::string::npos);
  auto plain = readSiteTable("/bin/true");
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().sentence.find("build it with blackout-clang"), std::string::npos);
  auto text = readSiteTable("/etc/passwd");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().sentence.find("not instrumented"), std::string::npos);
}

TEST(SiteTable, DamagedFilesNeverCrash) {
  std::ifstream in(self(), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  std::string path = (std::filesystem::temp_directory_path() / ("blackout-sites-" + std::to_string(getpid()))).string();
  auto tried = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    auto sites = readSiteTable(path);
    return sites ? std::string() : sites.error().sentence;
  };
  auto header = *reinterpret_cast<const std::uint64_t(*)[8]>(whole.data());
  std::uint64_t sections = header[5];  // e_shoff
  std::mt19937_64 random(3);
  for (int i = 0; i < 60; ++i) {
    // The header, the section headers, and the table itself.
    std::string bytes = whole;
    std::size_t at = i % 2 == 0 ? random() % 64 : sections + random() % (whole.size() - sections);
    bytes[at] = static_cast<char>(random());
    tried(bytes);
  }
  for (int i = 0; i < 20; ++i) tried(whole.substr(0, random() % whole.size()));
  EXPECT_FALSE(tried(whole.substr(0, 100)).empty());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace blackout
