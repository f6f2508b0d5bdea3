#!/usr/bin/env bash
# PMDK's example programs, compiled with the wrappers and linked to the distribution's libraries:
# they must behave as before, and Blackout must be honest about what it could see.
#
#   examples.sh GROUP BUILD-FOLDER
#
# Programs on libpmem alone are seen whole (its functions are hooks). libpmemobj writes PM itself
# and isn't instrumented, so without traps (tests/real has them) programs on it get the sentence that says so, and exit
# code 3.
set -euo pipefail
group=$1
build=$2
examples=/usr/share/doc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# compile OUT ARGS: OUT with the wrapper, OUT.plain with the compiler as it is.
compile() {
  local out=$1; shift
  "$build/bin/blackout-clang" -g -O2 "$@" -o "$out"
  clang-19 -g -O2 "$@" -o "$out.plain"
}
blackout=$build/bin/blackout
export PMEM_IS_PMEM_FORCE=1

# What the packages leave out.
cat > ex_common.h <<'H'
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#define CREATE_MODE_RW (S_IWUSR | S_IRUSR)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static inline int file_exists(const char *file) { return access(file, F_OK); }
static inline unsigned find_last_set_64(uint64_t v) { return 63u - (unsigned)__builtin_clzll(v); }
H

fail() { echo "FAILED: $*" >&2; exit 1; }

# same NAME EXPECTED-EXIT SENTENCE -- COMMAND: the native output and exit code, and the check's.
# POOL in the command is the pool file; input comes from $input.
same() {
  local name=$1 expected=$2 sentence=$3; shift 4
  local code=0
  local program=$1; shift
  set -- "${@//POOL/pool}"
  rm -f pool
  "$program.plain" "$@" < "$input" > native.out 2>&1 || fail "$name: it fails natively: $(cat native.out)"
  rm -f pool
  "$program" "$@" < "$input" > instrumented.out 2>&1 || fail "$name: it fails instrumented: $(cat instrumented.out)"
  diff <(grep -v '^seed:' native.out) <(grep -v '^seed:' instrumented.out) || fail "$name: behaves differently instrumented"
  rm -f pool
  "$blackout" check --trap never --pm pool -- "$program" "$@" < "$input" > program.out 2> report.txt || code=$?
  # The report goes to one stream and the program's output to the other; both may hold either.
  cat program.out report.txt > all.out
  while IFS= read -r line; do
    grep -qF -- "$line" all.out || fail "$name: behaves differently under the check: no line '$line'"
  done < <(grep -v '^seed:' native.out)  # mapcli prints the time
  [ "$code" -eq "$expected" ] || fail "$name: exit code $code instead of $expected: $(tail -n 5 all.out)"
  grep -qF -- "$sentence" all.out || fail "$name: no sentence '$sentence': $(cat all.out)"
  [ ! -e pool ] || fail "$name: the check made a pool"
  echo "passed: $name"
}

honest='libpmemobj.so.1, which is not instrumented, touched PM unseen, so nothing is said about durability'
input=/dev/null

build_mapcli() {
  cp -r $examples/libpmemobj-dev/examples obj
  ( cd obj/map
    compile ../../mapcli -I. -I.. -I../.. -I../hashmap -I../tree_map -I../list_map mapcli.c map.c map_*.c \
      ../hashmap/*.c ../tree_map/*.c ../list_map/*.c -lpmemobj )
  printf 'i 1 2\ni 3 4\ni 5 6\nr 3\nc 5\nc 1\nq\n' > commands
  input=commands
}

case $group in
  libpmem)
    head -c 5000 /dev/urandom > source
    for p in simple_copy full_copy; do
      compile $p -I. $examples/libpmem-dev/examples/$p.c -lpmem
      same $p 3 'Restarts ran without traps (--trap never)' -- ./$p source POOL
    done
    ;;
  maps)
    build_mapcli
    for map in hashmap_tx btree; do same "mapcli $map" 3 "$honest" -- ./mapcli $map POOL 12; done
    ;;
  all-maps)
    build_mapcli
    for map in ctree btree rtree rbtree hashmap_atomic hashmap_tx hashmap_rp skiplist; do
      # Some versions of a map fail by themselves; that is their bug and no test of ours.
      rm -f pool
      ./mapcli.plain $map pool 12 < commands > native.out 2>&1 || { echo "left out: mapcli $map fails by itself"; continue; }
      same "mapcli $map" 3 "$honest" -- ./mapcli $map POOL 12
    done
    ;;
  others)
    cp -r $examples/libpmemobj-dev/examples obj
    compile fifo -I. -Iobj -Iobj/linkedlist obj/linkedlist/fifo.c -lpmemobj
    same fifo 3 "$honest" -- ./fifo POOL insert x
    compile lists -I. obj/lists.c -lpmemobj
    same lists 3 "$honest" -- ./lists POOL 1 foo 5
    compile basic -I. $examples/libpmem2-dev/examples/basic/basic.c -lpmem2
    truncate -s 1M sized
    "$blackout" check --pm sized -- ./basic sized > all.out 2>&1 && code=0 || code=$?
    [ "$code" -eq 3 ] || fail "pmem2 basic: exit code $code: $(cat all.out)"
    grep -qF 'libpmem2.so' all.out || fail "pmem2 basic: libpmem2 is not named: $(cat all.out)"
    echo "passed: pmem2 basic"
    ;;
  first)
    # What a newcomer does first, with everything as it is.
    build_mapcli
    check() {
      local expected=$1 name=$2; shift 2
      local code=0
      "$blackout" check "$@" < commands > "$name.txt" 2>&1 || code=$?
      [ "$code" -eq "$expected" ] || fail "$name: exit code $code instead of $expected: $(tail -n 5 "$name.txt")"
    }
    says() { grep -qF -- "$2" "$1.txt" || fail "$1: no sentence '$2': $(cat "$1.txt")"; }
    rm -f pool
    check 1 created --pm pool -- ./mapcli.plain btree pool 12
    [ "$(grep -c '^shown:' created.txt)" -eq 1 ] || fail "created: $(grep '^shown:' created.txt)"
    says created 'If the power fails while pool is being created at (1), the restarted program'
    says created 'create the pool under another name and rename it when it is complete'
    echo 'passed: one finding for an interrupted creation'
    printf 'i 7 8\nq\n' | ./mapcli.plain btree pool 12 > /dev/null
    check 3 blind --pmdk --pm pool -- ./mapcli.plain btree pool 12
    says blind 'let a restart ask for what the pool should hold, with --recover COMMAND'
    printf 'c 1\nc 3\nc 5\nc 7\nq\n' > questions
    check 0 asked --pmdk --pm pool --recover "./mapcli.plain btree pool 12" --recover-stdin questions -- ./mapcli.plain btree pool 12
    says asked "note: --pmdk takes PMDK's libraries for right"
    echo 'passed: a pool made beforehand, and questions'
    ;;
  *) fail "no group $group" ;;
esac
