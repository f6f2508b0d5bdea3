#!/bin/sh
# every_way.sh BLACKOUT "PROGRAM VERSION"...: checks each of these with every way of ways.c to read the pool in a restart.
blackout=$1
shift
for way in $(./plain ways); do
  for pair in "$@"; do
    by=./${pair% *}
    version=${pair#* }
    rm -f pool hard soft && head -c 4096 /dev/zero > pool && ln pool hard && ln -s pool soft
    "$blackout" check --pm pool --recover "$by pool $way" -- $by pool $version > out 2>&1
    got=$?
    test $version = write && wanted=1 || wanted=0
    if test $got -ne $wanted; then
      echo "$by $way $version: exit $got"
      cat out
      exit 1
    fi
    test $version != write && continue
    grep -q 'shown: flush missing' out && grep -q 'ways.c:[0-9]*.* in write_record' out && continue
    echo "$by $way $version: another finding"
    cat out
    exit 1
  done
done
