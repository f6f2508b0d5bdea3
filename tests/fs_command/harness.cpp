// REQUIRES: full
// Harnesses that are wrong themselves, and what a finding of a right one looks like.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: printf 'creat foo\nrename foo bar\n' > rename.txt
// RUN: printf 'creat foo\nmkdir A\n' > mkdir.txt
//
// RUN: %cxx -std=c++20 -O1 -g -mclwb -I%include -I%S/../../corpus %s -o right
// RUN: %blackout fs --workload rename.txt --pm image -- ./right image > right.out 2>&1 && FileCheck %s --check-prefix=RIGHT < right.out
// RIGHT: 1 of 1 workload: 1 explored, 0 only made
// RIGHT: SUMMARY: blackout: {{no findings|[0-9]+ performance}};
//
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DBUG=4 -I%include -I%S/../../corpus %s -o torn
// RUN: %blackout fs --workload rename.txt --pm image -- ./torn image > torn.out 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=TORN < torn.out
// TORN: update not atomic
// TORN: after a crash in: rename foo bar: neither before it (bar is there) nor after it (foo is there)
// TORN: list:{{.*}}rename.txt
// The workload is kept for the replay.
// RUN: test -s blackout-findings/workloads/rename.txt
// RUN: %blackout replay blackout-findings/finding-1.blackout > replay.out 2>&1; FileCheck %s --check-prefix=REPLAY < replay.out
// REPLAY: neither before it
// RUN: rm -rf blackout-findings && %blackout fs --workload rename.txt --out kept --pm image -- ./torn image > torn.out 2>&1; test $? -eq 1 && test -s kept/1/workloads/rename.txt && test ! -e blackout-findings
//
// mount() formats.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DFORMATS -I%include -I%S/../../corpus %s -o formats
// RUN: %blackout fs --workload mkdir.txt --pm image -- ./formats image > formats.out 2>&1; test $? -ne 0
// RUN: FileCheck %s --check-prefix=FORMATS < formats.out
// FORMATS: without a crash, mounted again: there is no
//
// What it lists does not come from the pool.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DIGNORES -I%include -I%S/../../corpus %s -o ignores
// RUN: %blackout fs --workload mkdir.txt --pm image -- ./ignores image > ignores.out 2>&1; test $? -ne 0
// RUN: FileCheck %s --check-prefix=IGNORES < ignores.out
// IGNORES: after a crash in: {{.*}}there is no
//
// fsck() is asked after each crash; one that is content changes nothing.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DFSCK -I%include -I%S/../../corpus %s -o checks
// RUN: %blackout fs --workload rename.txt --pm image -- ./checks image > checks.out 2>&1 && FileCheck %s --check-prefix=RIGHT < checks.out
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DFSCK -DBUG=4 -I%include -I%S/../../corpus %s -o complains
// RUN: %blackout fs --workload rename.txt --pm image -- ./complains image > complains.out 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=COMPLAINS < complains.out
// COMPLAINS: after a crash in: rename foo bar, fsck says: Structure needs cleaning
//
// An operation that it does not have.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DPOOR -I%include -I%S/../../corpus %s -o poor
// RUN: %blackout fs --workload rename.txt --pm image -- ./poor image > poor.out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=POOR < poor.out
// POOR: inconclusive: 1 of 1 workload was not explored: the harness has no rename; if the file system has none, say so with --without rename.
// RUN: mkdir two && cp rename.txt mkdir.txt two && %blackout fs --workload two --without rename,open --out less --pm image -- ./poor image > less.out 2>&1 && FileCheck %s --check-prefix=LESS < less.out
// LESS: not explored:{{.*}}1 of 2 workloads was not explored: the harness has no rename.
// LESS-NOT: inconclusive
// RUN: %blackout fs --merge less > less.out 2>&1 && FileCheck %s --check-prefix=LESS < less.out
// RUN: not %blackout fs --without rname --pm image -- ./poor image 2>&1 | FileCheck %s --check-prefix=RNAME
// RNAME: rname
//
// A program that is no harness marks no operations, and nothing is explored.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DUNMARKED -I%include -I%S/../../corpus %s -o unmarked
// RUN: %blackout fs --workload rename.txt --pm image -- ./unmarked image > none.out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=NONE < none.out
// NONE: inconclusive: {{.*}}marks no operations
#include "fs/pmfs.hpp"

#if defined FORMATS
struct Files : pmfs::Files {
  static Files* mount(const char* path) {
    mkfs(path);
    return static_cast<Files*>(pmfs::Files::mount(path));
  }
};
#elif defined IGNORES
struct Files : pmfs::Files {
  static inline std::vector<std::string> made;
  static Files* mount(const char* path) { return static_cast<Files*>(pmfs::Files::mount(path)); }
  int creat(const char* path) { return made.push_back(path), pmfs::Files::creat(path); }
  int mkdir(const char* path) { return made.push_back(path), pmfs::Files::mkdir(path); }
  template <class Visit>
  int list(const char* path, Visit visit) {
    for (const std::string& name : made)
      if (*path == '\0') visit(name.c_str());
    return 0;
  }
};
#elif defined FSCK
// A file of one link has one name: with BUG 4 a crash in a rename leaves two. Only fsck() sees the second one.
struct Files : pmfs::Files {
  static Files* mount(const char* path) { return static_cast<Files*>(pmfs::Files::mount(path)); }
  int fsck() {
    int names = 0;
    pmfs::Files::list("", [&](const char*) { ++names; });
    return names > 1 ? -EUCLEAN : 0;
  }
  template <class Visit>
  int list(const char* path, Visit visit) {
    int names = 0;
    return pmfs::Files::list(path, [&](const char* name) {
      if (names++ == 0) visit(name);
    });
  }
};
#elif defined POOR
class Files {
 public:
  static int mkfs(const char* path) { return pmfs::Files::mkfs(path); }
  static Files* mount(const char* path) {
    auto* all = pmfs::Files::mount(path);
    return all == nullptr ? nullptr : new Files{std::unique_ptr<pmfs::Files>(all)};
  }
  void unmount() { all_->unmount(); }
  int creat(const char* path) { return all_->creat(path); }
  int mkdir(const char* path) { return all_->mkdir(path); }
  int unlink(const char* path) { return all_->unlink(path); }
  int write(const char* path, std::uint64_t at, const void* data, std::size_t size) {
    return all_->write(path, at, data, size);
  }
  int read(const char* path, std::uint64_t at, void* data, std::size_t size) {
    return all_->read(path, at, data, size);
  }
  int stat(const char* path, blackout::fs::Status& status) { return all_->stat(path, status); }
  template <class Visit>
  int list(const char* path, Visit visit) {
    return all_->list(path, visit);
  }

 private:
  explicit Files(std::unique_ptr<pmfs::Files> all) : all_(std::move(all)) {}
  std::unique_ptr<pmfs::Files> all_;
};
#else
using pmfs::Files;
#endif

#ifdef UNMARKED
int main(int, char** argv) {
  auto* word = static_cast<std::uint64_t*>(pm_map(argv[1], 4096));
  *word = 1;
  pm_persist(word, sizeof *word);
}
#else
BLACKOUT_FS(Files)
#endif
