// Stores that no mechanism protects must be on the side of the interrupted operation that the file system is on.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && printf 'creat foo\n' > creat.txt && cp %S/../../corpus/fs/mechanisms.toml .
//
// The number of files is stored after the transaction that makes one.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -I%include -I%S/../../corpus %s -o beside
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --pm image -- ./beside image > beside.out 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=BESIDE < beside.out
// BESIDE: suspected: store left on the other side of an operation [unprotected-store]
// BESIDE-NEXT: After a crash in creat the restart finds everything as after it, but not Usage.files, stored at (1): it holds 0, and no mechanism protects it.
// BESIDE-NOT: [unprotected-store]
//
// Switched off, known of, or with a strategy that doesn't go by mechanisms.
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --detect -unprotected-store --pm image -- ./beside image > off.out 2>&1 && FileCheck %s --check-prefix=NONE < off.out
// RUN: echo 'unprotected-store:Usage.files' > known.txt
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --suppressions known.txt --pm image -- ./beside image > known.out 2>&1 && FileCheck %s --check-prefix=NONE < known.out
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --strategy lazy --pm image -- ./beside image > lazy.out 2>&1 && FileCheck %s --check-prefix=NONE < lazy.out
// NONE-NOT: [unprotected-store]
//
// It is counted anew when the file system is mounted; and one that nobody reads makes no difference.
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DCOUNTED -I%include -I%S/../../corpus %s -o counted
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --pm image -- ./counted image > counted.out 2>&1 && FileCheck %s --check-prefix=NONE < counted.out
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DUNREAD -I%include -I%S/../../corpus %s -o unread
// RUN: %blackout fs --workload creat.txt --mechanisms mechanisms.toml --pm image -- ./unread image > unread.out 2>&1 && FileCheck %s --check-prefix=NONE < unread.out
#include "fs/pmfs.hpp"

// In the page of the superblock, which has room.
struct Usage {
  std::uint64_t files;
};

struct Files : pmfs::Files {
  static Usage& usage() { return *reinterpret_cast<Usage*>(static_cast<char*>(PM_BASE) + 1024); }
  static void set(std::uint64_t files) {
    usage().files = files;
    pm_persist(&usage(), sizeof(Usage));
  }
#ifdef UNREAD
  static void add(int) { set(17); }
#else
  static void add(int files) { set(usage().files + static_cast<std::uint64_t>(files)); }
#endif

  static Files* mount(const char* path) {
    auto* files = static_cast<Files*>(pmfs::Files::mount(path));
#ifdef COUNTED
    std::uint64_t names = 0;
    if (files != nullptr) files->list("", [&](const char*) { ++names; });
    if (files != nullptr) set(names);
#endif
    return files;
  }
  int creat(const char* path) {
    int result = pmfs::Files::creat(path);
    if (result == 0) add(1);
    return result;
  }
  int unlink(const char* path) {
    int result = pmfs::Files::unlink(path);
    if (result == 0) add(-1);
    return result;
  }
};

BLACKOUT_FS(Files)
