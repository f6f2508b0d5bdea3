// Printing, filtering and counting on the sample trace, escapes, excerpts and output files.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "events/trace.h"
#include "report/escape.h"
#include "report/excerpt.h"
#include "report/output_file.h"
#include "report/sites_text.h"
#include "report/trace_count.h"
#include "report/trace_text.h"
#include "sample_trace.h"

namespace blackout {
namespace {

namespace fs = std::filesystem;

class TraceView : public ::testing::Test {
 protected:
  void SetUp() override {
    bytes_ = test::sampleTrace().sealedBytes();
    trace_.emplace(std::move(*Trace::fromBytes(test::asBytes(bytes_), "sample")));
  }
  std::vector<std::string> kinds(const TraceFilterText& text) {
    auto filter = TraceFilter::make(*trace_, text);
    EXPECT_TRUE(filter) << filter.error().sentence;
    std::vector<std::string> out;
    for (EventNo n = 0; filter && n < trace_->end(); n = trace_->next(n))
      if (filter->wants(*trace_, n)) out.emplace_back(nameOf(kindOf((*trace_)[n])));
    return out;
  }
  std::string complaint(const TraceFilterText& text) {
    auto filter = TraceFilter::make(*trace_, text);
    return filter ? std::string() : filter.error().sentence;
  }
  std::vector<CountRow> counts(CountBy by, const TraceFilterText& text = {}) {
    return countEvents(*trace_, *TraceFilter::make(*trace_, text), by);
  }
  std::string bytes_;
  std::optional<Trace> trace_;
};

using Names = std::vector<std::string>;

TEST_F(TraceView, Golden) {
  EventPrinter printer(*trace_);
  std::string text = printer.header();
  for (EventNo n = 0; n < trace_->end(); n = trace_->next(n)) text += printer.line(n) + "\n";
  std::string path = std::string(BLACKOUT_GOLDEN_FOLDER) + "/trace.txt";
  if (std::getenv("BLACKOUT_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream in(path, std::ios::binary);
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST_F(TraceView, FilterByKindAndGroup) {
  EXPECT_EQ(kinds({.kinds = {"clwb"}}), Names{"clwb"});
  EXPECT_EQ(kinds({.kinds = {"flushes"}}), (Names{"clflush", "clflushopt", "clwb"}));
  EXPECT_EQ(kinds({.kinds = {"lock", "unlock"}}), (Names{"lock", "unlock"}));
  EXPECT_EQ(kinds({.kinds = {"tables"}}),
            (Names{"module", "module", "site", "site", "where", "where", "module", "patched"}));
  EXPECT_NE(complaint({.kinds = {"stroe"}}).find("no such kind"), std::string::npos);
}

TEST_F(TraceView, FilterByThreadRangeAndPlace) {
  EXPECT_EQ(kinds({.kinds = {"stores"}, .threads = {"2"}}), Names{"store"});
  EXPECT_EQ(kinds({.at = {"persist.c:7"}}), (Names{"clflush", "clflushopt", "clwb", "flush-outside"}));
  EXPECT_EQ(kinds({.at = {"src/persist.c:7"}}).size(), 4U);
  EXPECT_TRUE(kinds({.at = {"ersist.c:7"}}).empty()) << "part of a name is no path";
  EXPECT_EQ(kinds({.at = {"list.cpp:60"}}), kinds({.at = {"list.cpp:42"}})) << "inlined places count";
  EXPECT_TRUE(kinds({.from = 5, .to = 5}).empty());
  EXPECT_NE(complaint({.threads = {"x"}}), "");
  EXPECT_NE(complaint({.at = {"list.cpp"}}), "");
}

TEST_F(TraceView, FilterByFileAndLine) {
  Names second = {"file-new", "file-size", "file-size", "file-zero", "file-rename", "file-unlink"};
  EXPECT_EQ(kinds({.files = {"c.img"}}), second);
  EXPECT_EQ(kinds({.files = {"2"}}), second);
  EXPECT_EQ(kinds({.kinds = {"stores", "flushes"}, .lines = {"0x1040"}}),
            (Names{"store", "store", "clflush", "clflushopt"}))
      << "the wide store begins in the line's last 4 bytes";
  EXPECT_EQ(kinds({.kinds = {"stores", "flushes"}, .lines = {"1:0x107f"}}).size(), 4U) << "any byte of the line";
  EXPECT_EQ(kinds({.kinds = {"syncs"}, .lines = {"0x1040"}}), (Names{"msync", "fsync"}));
  EXPECT_EQ(kinds({.kinds = {"load-range"}, .lines = {"0xc0"}}), Names{"load-range"}) << "it reaches from 0x80 to 0xe4";
  EXPECT_TRUE(kinds({.kinds = {"load-range"}, .lines = {"0x100"}}).empty());
  EXPECT_NE(complaint({.files = {"d.img"}}), "");
  EXPECT_NE(complaint({.lines = {"3:0x10"}}), "");
  EXPECT_NE(complaint({.lines = {"0xzz"}}), "");
}

TEST_F(TraceView, Counts) {
  EXPECT_EQ(counts(CountBy::Kind, {.kinds = {"fences"}}),
            (std::vector<CountRow>{{"lfence", 1}, {"mfence", 1}, {"rmw-fence", 1}, {"sfence", 1}}));
  std::vector<CountRow> lines = counts(CountBy::Line, {.kinds = {"stores"}});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], (CountRow{"1:0x1080", 3})) << "the wide store's second line";
  std::vector<CountRow> places = counts(CountBy::Place, {.kinds = {"stores", "flushes", "fences"}});
  EXPECT_EQ(places[0].key, "/src/list.cpp:42");
  EXPECT_EQ(places[1], (CountRow{"no place", 4}));
  EXPECT_EQ(places[2], (CountRow{"/src/persist.c:7", 3}));
  std::vector<CountRow> operations = counts(CountBy::Operation, {.kinds = {"stores"}});
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].key, "put");
  EXPECT_EQ(operations[1], (CountRow{"no operation", 1})) << "thread 2 has none";
  EXPECT_EQ(counts(CountBy::Site, {.kinds = {"clwb"}}),
            (std::vector<CountRow>{{"0000000000000099 clwb /src/persist.c:7:5 in flush_line", 1}}));
  EXPECT_EQ(counts(CountBy::Thread, {.kinds = {"stores"}})[1], (CountRow{"t2", 1}));
  EXPECT_EQ(counts(CountBy::File, {.kinds = {"file-zero"}}), (std::vector<CountRow>{{"/pool/c.img", 1}}));
  EXPECT_EQ(countByNamed("site"), CountBy::Site);
  EXPECT_FALSE(countByNamed("nothing"));
}

TEST(Escape, ControlCharactersAndBrokenText) {
  EXPECT_EQ(escapeText("plain"), "plain");
  EXPECT_EQ(escapeText("a\x1b[31mb\r\n\t"), "a\\x1b[31mb\\x0d\\n\\t");
  EXPECT_EQ(escapeText("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(escapeText("\xc2\x9b"), "\\x9b") << "a control character of two bytes";
  EXPECT_EQ(escapeText("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(escapeText("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80") << "overlong, surrogate";
  EXPECT_EQ(escapeText("\xe0\x82\x80"), "\\xe0\\x82\\x80") << "overlong";
  EXPECT_EQ(escapeText("\xf0\x82\x80\x80"), "\\xf0\\x82\\x80\\x80") << "overlong";
  EXPECT_EQ(escapeText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(escapeText("\xe2\x80\xae"), "\\u202e") << "turns the text around";
  EXPECT_EQ(escapeText(std::string_view("\0", 1)), "\\x00");
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("blackout-view-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string in(const char* name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

TEST_F(Files, ExcerptMarksTheColumn) {
  std::ofstream(in("a.c")) << "one\n\n\tx = 1;\r\nfour\nfive\nsix\n";
  SourceFiles files;
  auto e = files.excerpt(in("a.c"), 3, 4, 2);
  ASSERT_EQ(e.size(), 5U);
  EXPECT_EQ(e[2], (ExcerptLine{3, "        x = 1;", "          ^"}));
  EXPECT_EQ(e[0].mark, "");
  auto whole = files.excerpt(in("a.c"), 3, 0, 0);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].mark, "        ~~~~~~");
  EXPECT_EQ(files.excerpt(in("a.c"), 3, 4, 1).size(), 2U) << "a blank line at the edge";
  EXPECT_EQ(files.excerpt(in("a.c"), 3, 999, 0)[0].mark, "");
  EXPECT_TRUE(files.excerpt(in("a.c"), 7, 1, 2).empty());
  EXPECT_TRUE(files.excerpt(in("a.c"), 0, 1, 2).empty());
  EXPECT_FALSE(files.excerpt(in("a.c"), UINT32_MAX - 1, 1, 5).size());
  std::ofstream(in("b.c")) << "ab\tx = 1;\n";
  EXPECT_EQ(files.excerpt(in("b.c"), 1, 4, 0)[0], (ExcerptLine{1, "ab      x = 1;", "        ^"}));
}

TEST_F(Files, ExcerptOfWhatCantBeRead) {
  SourceFiles files;
  EXPECT_TRUE(files.excerpt(in("missing.c"), 1, 1, 2).empty());
  EXPECT_TRUE(files.excerpt(folder_.string(), 1, 1, 2).empty());
  ASSERT_EQ(mkfifo(in("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(files.excerpt(in("pipe"), 1, 1, 2).empty()) << "and it does not wait for a writer";
}

TEST_F(Files, OutputIsCheckedBeforeAndWrittenWhole) {
  auto out = OutputFile::prepare(in("r.json"), "--json");
  ASSERT_TRUE(out);
  EXPECT_FALSE(fs::exists(in("r.json"))) << "preparing makes nothing";
  ASSERT_TRUE(out->write("one"));
  ASSERT_TRUE(out->write("two"));
  std::ifstream file(in("r.json"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing else is left behind";
  ASSERT_TRUE(OutputFile::prepare("/dev/null", "--json")->write("x"));
  for (const std::string& bad : {in("no/such/r.json"), folder_.string(), in("r.json/x"), std::string()}) {
    auto refused = OutputFile::prepare(bad, "--json");
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().exit, ExitCode::Usage);
    EXPECT_EQ(refused.error().sentence.find("--json"), 0U);
  }
}

TEST_F(Files, AFullDiskIsInconclusive) {
  auto out = OutputFile::prepare("/dev/full", "--json");
  ASSERT_TRUE(out);
  auto written = out->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().exit, ExitCode::Inconclusive);
}

TEST(Sites, TextAndJson) {
  std::string text = renderSitesText({test::sampleSite()});
  EXPECT_EQ(text,
            "1122334455667788 store 8 Node.next\n"
            "    /src/list.cpp:42:14 in List::push(int)\n"
            "      inlined into /src/list.cpp:60:3 in List::insert(int)\n"
            "    or, merged: /src/list.cpp:52:14 in List::append(int)\n"
            "1 site\n");
  std::string json = renderSitesJson("/bin/x", {test::sampleSite()});
  EXPECT_NE(json.find("\"linkage_name\": \"_ZN4List4pushEi\""), std::string::npos);
}

}  // namespace
}  // namespace blackout
