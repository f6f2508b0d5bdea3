// Findings that the user knows of, hidden by function, source file and object. Without --suppressions, or with one that
// is next to right, both are reported and the exit code is 1, so each of these lines fails when it hides nothing.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/src && cp %s %t.dir/src/library.cpp && cd %t.dir
// RUN: %cxx -O2 -g -mclwb -DLIBRARY -shared -fPIC src/library.cpp -o libforgets.so
// RUN: %cxx -O2 -g -mclwb -I%S/../record %s ./libforgets.so -o main
// RUN: not %blackout check --no-explore --pm pool --print-suppressions -- ./main pool > both.txt 2>&1
// RUN: FileCheck %s --check-prefix=BOTH < both.txt
// BOTH-DAG: written here: {{.*}}suppressions.cpp:[[# @LINE + 43]]:
// BOTH-DAG: written here: src/library.cpp:
// BOTH-NOT: note: The suppression
// BOTH: suppressions that would hide these:
// BOTH-DAG: {{^}}  never-persisted:forgets(unsigned long*){{$}}
// BOTH-DAG: {{^}}  never-persisted:main{{$}}
// BOTH: SUMMARY: blackout: 2 suspected;
//
// The library's own, by each of its names; main's stays.
// RUN: for s in "never-persisted:forgets" "never-persisted:for?ets(*" "never-persisted:library.cpp" "never-persisted:src/library.cpp" "never-persisted:src/*" \
// RUN:     "never-persisted:libforgets.so" "never-persisted:*/libforgets*"; do \
// RUN:   printf '# known\n\n%%s\n' "$s" > one; not %blackout check --no-explore --suppressions one --json one.json --pm pool -- ./main pool > one.txt 2>&1 || exit 1; \
// RUN:   FileCheck %s --check-prefix=ONE < one.txt || { echo "$s"; exit 1; }; \
// RUN:   python3 -c "import json,sys; d=json.load(open('one.json')); assert d['counts']['suppressed']==1 and len(d['findings'])==1; assert d['suppressions']==[{'file':'one','line':3,'text':sys.argv[1],'findings':1}], d['suppressions']" "$s" || exit 1; done
// ONE-NOT: written here: src/library.cpp
// ONE: written here: {{.*}}suppressions.cpp:
// ONE-NOT: In this run every store
// ONE: note: The suppression one:3 ({{.*}}) hid 1 finding.
// ONE: SUMMARY: blackout: 1 suspected (1 suppressed);
//
// Next to right: parts of names, another kind.
// RUN: for s in "never-persisted:forget" "never-persisted:rary.cpp" "never-persisted:libforgets" "idle-fence:*" "race:*"; do \
// RUN:   echo "$s" > stale; not %blackout check --no-explore --suppressions stale --pm pool -- ./main pool > stale.txt 2>&1 || exit 1; \
// RUN:   grep -q "note: The suppression stale:1 (.*) matched nothing in this run" stale.txt && grep -q "SUMMARY: blackout: 2 suspected;" stale.txt || { echo "$s"; exit 1; }; done
//
// What it prints, it takes: nothing is left, and the run is clean. Two files; the first that matches counts.
// RUN: sed -n '/^suppressions that would/,/^SUMMARY/s/^  //p' both.txt > ready && echo 'never-persisted:*' > all
// RUN: %blackout check --no-explore --suppressions ready --suppressions all --pm pool -- ./main pool > none.txt 2>&1
// RUN: FileCheck %s --check-prefix=NONE < none.txt
// NONE-NOT: suspected:
// NONE: note: The suppression ready:1 ({{.*}}) hid 1 finding.
// NONE: note: The suppression ready:2 ({{.*}}) hid 1 finding.
// NONE: note: The suppression all:1 (never-persisted:*) matched nothing in this run.
// NONE: SUMMARY: blackout: no findings (2 suppressed);
#ifdef LIBRARY
extern "C++" void forgets(unsigned long* p) { *p = 1; }
#else
#include "Inputs/pool.h"

void forgets(unsigned long* p);

int main(int, char** argv) {
  auto* pool = static_cast<unsigned long*>(mapPool(argv[1], 4096));
  pool[8] = 2;
  forgets(pool);
}
#endif
