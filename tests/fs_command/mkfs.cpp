// Before mkfs has ended there is no file system, and nobody mounts what a crash in it left. One that dies of an empty
// image is right all the same; one that mkfs promises and that isn't durable is not.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && printf 'creat foo\n' > creat.txt
// RUN: %cxx -std=c++20 -O1 -g -mclwb -I%include -I%S/../../corpus %s -o dies
// RUN: %blackout fs --workload creat.txt --pm image -- ./dies image > dies.out 2>&1 && FileCheck %s --check-prefix=DIES < dies.out
// DIES: SUMMARY: blackout: {{no findings|[0-9]+ performance}};
//
// RUN: %cxx -std=c++20 -O1 -g -mclwb -DFORGETS -I%include -I%S/../../corpus %s -o forgets
// RUN: %blackout fs --workload creat.txt --pm image -- ./forgets image > forgets.out 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=FORGETS < forgets.out
// FORGETS: it can't be mounted after a crash in or after: mkfs
#include <sys/stat.h>

#include "fs/pmfs.hpp"

struct Files : pmfs::Files {
  static int mkfs(const char* path) {
#ifdef FORGETS
    auto* image = static_cast<pmfs::Image*>(pm_map(path, pmfs::kBlocks * pmfs::kBlock));
    image->inodes[pmfs::kRoot].kind = pmfs::kDirectory;
    image->inodes[pmfs::kRoot].links = 2;
    pm_persist(&image->inodes[pmfs::kRoot], sizeof(pmfs::Inode));
    image->super.magic = pmfs::kMagic;
    return 0;
#else
    return pmfs::Files::mkfs(path);
#endif
  }
  static Files* mount(const char* path) {
    struct stat status {};
    if (::stat(path, &status) != 0 || status.st_size == 0) std::abort();
    return static_cast<Files*>(pmfs::Files::mount(path));
  }
};

BLACKOUT_FS(Files)
