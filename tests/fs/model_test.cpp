// The model of a file system against a folder of the operating system, and the corpus's own file system against both:
// the same results, the same tree, after any operations.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "directory.hpp"
#include "fs/pmfs.hpp"

using namespace blackout::fs;

namespace {

// A private folder that is gone afterwards.
struct Folder {
  Folder() {
    const char* base = std::getenv("TMPDIR");
    path = std::string(base == nullptr ? "/tmp" : base) + "/blackout-fs-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

Call anyCall() {
  static const std::vector<std::string> paths{"foo", "bar", "A", "B", "A/foo", "A/bar", "A/C", "A/C/bar", "B/foo"};
  Call call;
  call.operation = operationForms()[*rc::gen::inRange<std::size_t>(0, operationForms().size())].operation;
  call.path = *rc::gen::elementOf(paths);
  if (formOf(call.operation).to) call.to = *rc::gen::elementOf(paths);
  call.offset = *rc::gen::element<std::uint64_t>(0, 10, 4096, 9000);
  call.size = *rc::gen::element<std::uint64_t>(1, 50, 4096, 5000);
  if (call.operation == Operation::Truncate) call.size = *rc::gen::element<std::uint64_t>(0, 50, 4096, 12000);
  call.fill = static_cast<char>('a' + *rc::gen::inRange(0, 26));
  return call;
}

template <class F>
void follow(F& files, Model& model, int count) {
  OpenFiles opened;
  for (int i = 0; i < count; ++i) {
    Call call = anyCall();
    int right = model.apply(call);
    int result = execute(files, call, opened);
    RC_LOG() << textOf(call) << " -> " << result << ", model " << right << "\n";
    RC_ASSERT(result == right);
    Tree tree;
    std::string why;
    RC_ASSERT(readTree(files, "", tree, why));
    std::string difference = differenceOf(tree, model.tree());
    RC_LOG() << difference << "\n";
    RC_ASSERT(difference.empty());
    std::string wrong = wrongIn(files, opened, model);
    RC_LOG() << wrong << "\n";
    RC_ASSERT(wrong.empty());
    RC_ASSERT(fsckOf(files, 0) == 0 || fsckOf(files, 0) == -ENOSYS);
  }
  while (!opened.empty()) {
    Call call{Operation::Close, opened.begin()->first, "", 0, 0, 'a'};
    RC_ASSERT(model.apply(call) == 0);
    RC_ASSERT(execute(files, call, opened) == 0);
  }
}

TEST(Model, IsAsAFolderOfTheOperatingSystem) {
  EXPECT_TRUE(rc::check([] {
    Folder folder;
    Directory directory(folder.path);
    Model model;
    follow(directory, model, 40);
  }));
}

TEST(Model, TheCorpussFileSystemIsAsTheModel) {
  EXPECT_TRUE(rc::check([] {
    Folder folder;
    std::string image = folder.path + "/image";
    ASSERT_EQ(pmfs::Files::mkfs(image.c_str()), 0);
    Model model;
    for (int mounts = 0; mounts < 3; ++mounts) {
      std::unique_ptr<pmfs::Files> files(pmfs::Files::mount(image.c_str()));
      RC_ASSERT(files != nullptr);
      follow(*files, model, 15);
      files->unmount();
    }
  }));
}

TEST(Difference, NamesWhatIsWrong) {
  Model one, other;
  auto both = [&](const Call& call) {
    one.apply(call);
    other.apply(call);
  };
  auto difference = [&] { return differenceOf(one.tree(), other.tree()); };
  both({Operation::Creat, "foo", "", 0, 0, 'a'});
  both({Operation::Creat, "bar", "", 0, 0, 'a'});
  EXPECT_EQ(difference(), "");
  one.apply({Operation::Mkdir, "A", "", 0, 0, 'a'});
  EXPECT_EQ(difference(), "A is there");
  EXPECT_EQ(differenceOf(other.tree(), one.tree()), "there is no A");
  other.apply({Operation::Mkdir, "A", "", 0, 0, 'a'});
  one.apply({Operation::Write, "foo", "", 0, 10, 'a'});
  EXPECT_EQ(difference(), "foo has 10 bytes instead of 0");
  other.apply({Operation::Write, "foo", "", 0, 10, 'b'});
  EXPECT_EQ(difference(), "foo has other bytes from offset 0 on");
  other.apply({Operation::Write, "foo", "", 0, 10, 'a'});
  one.apply({Operation::Link, "foo", "A/foo", 0, 0, 'a'});
  EXPECT_EQ(difference(), "A/foo is there");
}

TEST(Difference, OneFileWithTwoNamesIsNotTwoFiles) {
  Tree linked{{"a", {Kind::File, 7, 2, ""}}, {"b", {Kind::File, 7, 2, ""}}};
  Tree apart{{"a", {Kind::File, 7, 2, ""}}, {"b", {Kind::File, 8, 2, ""}}};
  EXPECT_EQ(differenceOf(linked, apart), "b has the inode number 7 of another file");
  EXPECT_EQ(differenceOf(apart, linked), "two names of one file have different inode numbers");
}

}  // namespace
