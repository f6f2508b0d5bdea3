#!/bin/sh
# PMDK's kv_server from the examples of its package, with a plain compiler: build_kv_server.sh FOLDER
set -eu
rm -rf "$1/obj" && mkdir -p "$1" && cp -r /usr/share/doc/libpmemobj-dev/examples "$1/obj"
cd "$1/obj/map"
# What the package leaves out.
cat > ../ex_common.h <<'H'
#include <stdint.h>
#include <sys/stat.h>
#define CREATE_MODE_RW (S_IWUSR | S_IRUSR)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static inline unsigned find_last_set_64(uint64_t v) { return 63u - (unsigned)__builtin_clzll(v); }
H
gcc -g -O2 -w -I. -I.. -I../hashmap -I../tree_map -I../list_map kv_server.c map.c map_*.c \
  ../hashmap/*.c ../tree_map/*.c ../list_map/*.c -lpmemobj -luv -o ../../kv_server
