// A pool by all its names: links, "..", characters that mean something in a glob, files renamed into the pools.
// Whatever the name, the program works on the private copy and the user's file stays as it was.
//
// RUN: %cxx -O2 %s -o %t && rm -rf %t.dir && mkdir -p %t.dir/sub "%t.dir/a[b]" && cd %t.dir
// RUN: head -c 8192 /dev/zero > pool && head -c 8192 /dev/zero > "a[b]/p?" && cp pool prepared
// RUN: ln -s pool soft && ln -s sub way && ln pool hard && sha256sum pool "a[b]/p?" prepared > %t.sum
// RUN: %blackout record --pm pool -o %t.trace -- %t soft
// RUN: %blackout record --pm pool -o %t.trace -- %t way/../pool
// RUN: %blackout record --pm soft -o %t.trace -- %t pool
// RUN: %blackout record --pm pool --pm hard -o %t.trace -- %t hard
// RUN: %blackout record --pm pool --pm sub -o %t.trace -- %t hard
// RUN: %blackout trace %t.trace | FileCheck %s --check-prefix=HARD
// RUN: %blackout record --pm "a[b]/p?" -o %t.trace -- %t "a[b]/p?"
// RUN: %blackout record --pm "a[b]/*" -o %t.trace -- %t "a[b]/p?"
// RUN: %blackout record --pm moved -o %t.trace -- %t moved prepared
// RUN: sha256sum -c %t.sum && test ! -e moved
// HARD: names.cpp.tmp.dir/pool
// HARD: store
#include "Inputs/pool.h"

int main(int argc, char** argv) {
  if (argc > 2 && rename(argv[2], argv[1]) != 0) return 1;
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  pool[3] = 7;
  return 0;
}
