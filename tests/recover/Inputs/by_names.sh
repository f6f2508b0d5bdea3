#!/bin/sh
# by_names.sh BLACKOUT PM RECORDED RESTARTED SETUP: checks ways.c with its bug (compiled) and without (plain) under these names
# of the pool. SETUP may say `zero FILE`.
zero() { head -c 4096 /dev/zero > "$1"; }
blackout=$1 pm=$2 recorded=$3 restarted=$4 setup=$5
for pair in "compiled write 1" "plain write-right 0"; do
  set -- $pair
  rm -rf pool link hard folder && mkdir folder && eval "$setup"
  "$blackout" check --pm "$pm" --recover "./$1 $restarted read" -- ./$1 "$recorded" $2 > out 2>&1
  got=$?
  if test $got -ne $3; then
    echo "--pm $pm, recorded on $recorded, restarted on $restarted: $1 $2: exit $got"
    cat out
    exit 1
  fi
  # The user's own file is only read.
  test ! -e pool || cmp -s -n 4096 pool /dev/zero || { echo "pool was changed"; exit 1; }
done
