// The functions of a loaded file: by its unwind tables and by its exported names, whichever hash table counts them.
#include "runtime/trap/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "loaded_file.h"
#include "runtime/recorder.h"

namespace blackout::rt {
constinit thread_local ThreadState self = {};
}  // namespace blackout::rt

using namespace blackout::rt;

namespace {

class Functions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_.loaded()) << dlerror();
    ASSERT_TRUE(functionsOf(*file_.target().info, frameTableOf(*file_.target().info), functions_));
  }
  uintptr_t of(const char* name) { return file_.find<uintptr_t>(name); }
  // The function that begins here; its size, 0: none does.
  uintptr_t sizeOf(uintptr_t begin) {
    const FunctionRange* f = functionAt(functions_, begin);
    return f != nullptr && f->begin == begin ? f->end - f->begin : 0;
  }

  LoadedFile file_{std::string(EXPORTED_CODE_FOLDER "/libexported_code_") + GetParam() + ".so"};
  MappedArray<FunctionRange> functions_;
};

TEST_P(Functions, OfNamesThatTheTablesDoNotHave) {
  EXPECT_EQ(sizeOf(of("first")), 3U);
  EXPECT_EQ(sizeOf(of("second")), 2U);
  EXPECT_EQ(of("again"), of("second"));
  EXPECT_EQ(sizeOf(of("inside")), 0U);
  EXPECT_EQ(functionAt(functions_, of("inside")), functionAt(functions_, of("second")));
  EXPECT_EQ(functionAt(functions_, of("label")), nullptr);
  EXPECT_EQ(functionAt(functions_, of("sizeless")), nullptr);
  EXPECT_EQ(functionAt(functions_, of("number")), nullptr);
  EXPECT_EQ(functionAt(functions_, of("wrong")), nullptr);
  // What the tables say of its begin and end counts.
  EXPECT_EQ(sizeOf(of("told") - 1), 3U);
  EXPECT_EQ(sizeOf(of("told")), 0U);
}

TEST_P(Functions, StandInOrderAndDoNotOverlap) {
  ASSERT_EQ(functions_.size(), 3U);
  for (size_t n = 1; n < functions_.size(); ++n) EXPECT_LE(functions_[n - 1].end, functions_[n].begin);
  for (const FunctionRange& f : functions_) {
    EXPECT_LT(f.begin, f.end);
    EXPECT_EQ(functionAt(functions_, f.begin), &f);
    EXPECT_EQ(functionAt(functions_, f.end - 1), &f);
    EXPECT_NE(functionAt(functions_, f.end), &f);
  }
  EXPECT_EQ(functionAt(functions_, functions_[0].begin - 1), nullptr);
  EXPECT_EQ(functionAt(functions_, functions_.end()[-1].end), nullptr);
}

TEST_P(Functions, PlacesAreAllThatIsExported) {
  MappedArray<uintptr_t> places;
  ASSERT_TRUE(exportedPlaces(*file_.target().info, places));
  std::vector<uintptr_t> all(places.begin(), places.end());
  for (const char* name : {"first", "second", "inside", "label", "sizeless", "told", "number"})
    EXPECT_EQ(std::count(all.begin(), all.end(), of(name)), std::string(name) == "second" ? 2 : 1) << name;
  EXPECT_EQ(of("hidden"), 0U);
  EXPECT_EQ(all.size(), 9U) << "imported names are no places";
}

TEST_P(Functions, NoSanitizerIsInIt) {
  FunctionRange none = sanitizerCode(*file_.target().info);
  EXPECT_GE(none.begin, none.end);
}

TEST(SanitizerCode, IsBetweenItsFirstAndItsLastFunction) {
  LoadedFile file(EXPORTED_CODE_FOLDER "/libsanitizer_code.so");
  ASSERT_TRUE(file.loaded()) << dlerror();
  FunctionRange found = sanitizerCode(*file.target().info);
  EXPECT_EQ(found.begin, file.find<uintptr_t>("__asan_init"));
  EXPECT_EQ(found.end, file.find<uintptr_t>("program"));
}

INSTANTIATE_TEST_SUITE_P(HashTables, Functions, testing::Values("sysv", "gnu", "both"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
