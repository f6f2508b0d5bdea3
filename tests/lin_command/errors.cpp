// Harnesses that are wrong themselves: each is told with a sentence, and never as a bug of the structure.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cxx -std=c++17 -O1 -g -I%include %s -o harness
// RUN: %blackout lin --operations 8 --pm pool -- ./harness pool > right.txt 2>&1 && FileCheck %s --check-prefix=RIGHT < right.txt
// RIGHT: SUMMARY: blackout: no findings;
//
// open() begins anew each time: recovery is missing.
// RUN: %cxx -std=c++17 -O1 -g -DANEW -I%include %s -o anew
// RUN: %blackout lin --operations 4 --pm pool -- ./anew pool > anew.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=ANEW < anew.txt
// ANEW: What restarts answer was not judged: a restart on what the program left, with nothing lost, answers get({{[0-9]+}}){{.*}}, which no order of the operations explains: open() ignores what is in the pool: the restart reads nothing of it and begins anew.
// ANEW-NOT: No restart read any
//
// It reads what is there, and throws it away.
// RUN: %cxx -std=c++17 -O1 -g -DFORGETS -I%include %s -o forgets
// RUN: %blackout lin --operations 4 --pm pool -- ./forgets pool > forgets.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=FORGETS < forgets.txt
// FORGETS: answers get({{[0-9]+}}){{.*}}, which no order of the operations explains: recovery is missing, or it is wrong, or this is no map.
//
// open() maps the pool and works on something else.
// RUN: %cxx -std=c++17 -O1 -g -DELSEWHERE -I%include %s -o elsewhere
// RUN: %blackout lin --operations 4 --pm pool -- ./elsewhere pool > elsewhere.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=ELSEWHERE < elsewhere.txt
// ELSEWHERE: explains: the operations store nothing to the pool: open() maps it, but the structure is kept somewhere else.
//
// A second insert of a key succeeds: this is no map.
// RUN: %cxx -std=c++17 -O1 -g -DMULTI -I%include %s -o multi
// RUN: echo "insert 1 10" > twice.txt && echo "insert 1 11" >> twice.txt
// RUN: %blackout lin --pm pool --ops twice.txt -- ./multi pool > multi.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=MULTI < multi.txt
// MULTI: What restarts answer was not judged: the recorded run's own answers are not those of a map that is empty at first: insert(1, 11) = 1.
//
// Results that can't be compared, an operation that there is not, a specification that there is not.
// RUN: %cxx -std=c++17 -O1 -g -DBYHAND='"insert", "yes"' -I%include %s -o text
// RUN: %blackout check --pm pool -- ./text pool > text.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=TEXT < text.txt
// TEXT: not judged: "insert" of a map returns yes or no, and was marked with "yes".
// RUN: %cxx -std=c++17 -O1 -g -DBYHAND='"upsert", true' -I%include %s -o upsert
// RUN: %blackout check --pm pool -- ./upsert pool > upsert.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=UPSERT < upsert.txt
// UPSERT: not judged: a map has no operation "upsert".
//
// A program that says nothing.
// RUN: %blackout lin --pm pool -- ./upsert pool silent > silent.txt 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=SILENT < silent.txt
// SILENT: the program does not say what structure it is; build a harness with <blackout/lin.hpp>, or call blackout_specification().
//
// Operations that can't be read, or that the structure has not.
// RUN: not %blackout lin --pm pool --ops missing.txt -- ./harness pool 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: --ops missing.txt: can't be read
// RUN: not %blackout lin --pm pool --criterion loose -- ./harness pool 2>&1 | FileCheck %s --check-prefix=LOOSE
// LOOSE: --criterion loose: it is durable, strict or buffered
//
// Files of operations that are wrong: the one sentence of the harness, and nothing is explored.
// RUN: printf 'enqueue 7\n' > other.ops && printf 'insert 1 10\ninsert seven 7\n' > words.ops && printf 'insert -3 1\n' > negative.ops
// RUN: printf 'insert 99999999999999999999 1\n' > large.ops && printf '\n# none\n' > none.ops && : > empty.ops && printf 'insert \001\377 1\n' > bytes.ops
// RUN: for f in other words negative large none empty bytes; do %blackout lin --pm pool --ops $f.ops -- ./harness pool > $f.txt 2>&1; test $? -eq 3 || exit 1; done
// RUN: %blackout lin --pm pool --ops . -- ./harness pool > folder.txt 2>&1; test $? -eq 3
// RUN: cat other.txt words.txt negative.txt large.txt none.txt empty.txt bytes.txt folder.txt | FileCheck %s --check-prefix=FILES
// FILES: other.ops: enqueue 7: this map has no such operation; it has insert with 2 arguments, get with 1 argument, remove with 1 argument
// FILES-NEXT: blackout lin: ./harness: it ended with exit code 2 before it mapped any PM; nothing was recorded
// FILES: words.ops, line 2: arguments are numbers from 0 to 2^64 - 1: insert seven 7
// FILES-NEXT: nothing was recorded
// FILES: negative.ops, line 1: arguments are numbers
// FILES-NEXT: nothing was recorded
// FILES: large.ops, line 1: arguments are numbers
// FILES-NEXT: nothing was recorded
// FILES: none.ops: there is no operation in it
// FILES-NEXT: nothing was recorded
// FILES: empty.ops: can't be read, or is empty
// FILES-NEXT: nothing was recorded
// FILES: bytes.ops, line 1: arguments are numbers from 0 to 2^64 - 1: insert ?? 1
// FILES-NEXT: nothing was recorded
// FILES: can't be read, or is empty
// FILES-NEXT: nothing was recorded
// RUN: not %blackout lin --pm pool --operations 0 -- ./harness pool 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: --operations 0: nothing would be tested; one at least
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

struct Root {
  struct alignas(64) {
    uint64_t key, value;
  } entry[64];
};

struct Map {
  static Map* open(const char* pool) {
    auto* map = new Map{mapPool<Root>(pool)};
#ifdef ELSEWHERE
    map->root = new Root(*map->root);
#endif
#if defined(ANEW) || defined(FORGETS)
    for (auto& e : map->root->entry) {
#ifdef FORGETS
      if (e.key == 0) continue;
#endif
      e.key = 0;
      persist(&e);
    }
#endif
    return map;
  }
  Root* root;
  bool insert(uint64_t key, uint64_t value) {
#ifndef MULTI
    if (get(key)) return false;
#endif
    for (auto& e : root->entry)
      if (e.key == 0) {
        e.value = value;
        __atomic_store_n(&e.key, key, __ATOMIC_RELEASE);  // the same line
        persist(&e);
        return true;
      }
    return false;
  }
  std::optional<uint64_t> get(uint64_t key) {
    for (auto& e : root->entry)
      if (e.key == key) return e.value;
    return std::nullopt;
  }
  bool remove(uint64_t key) {
    for (auto& e : root->entry)
      if (e.key == key) {
        __atomic_store_n(&e.key, 0, __ATOMIC_RELEASE);
        persist(&e);
        return true;
      }
    return false;
  }
};

#ifndef BYHAND
BLACKOUT_MAP(Map)
#else
template <class Result>
void made(const char* name, Result result) {
  blackout::Operation op(name, 1, 2);
  op.end(result);
}
int main(int argc, char** argv) {
  Map* map = Map::open(argv[1]);
  if (argc == 2) blackout_specification("map");
  blackout_history_begin();
  map->insert(1, 2);
  if (argc == 2) made(BYHAND);
  return 0;
}
#endif
