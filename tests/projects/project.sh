# shellcheck shell=bash disable=SC2034
# What the project tests have in common; each sources it first. `$1` is Blackout's build folder (or
# an installation): something with bin/blackout.
# Sets: cc cxx blackout plain_cc plain_cxx, source (the test's folder), work (a temporary one, current).
# No pipefail: `readelf | grep -q` ends readelf early, by a signal, whenever it finds what it wants.
set -eu

source=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "${1:?usage: test BUILD-FOLDER}" && pwd)
cc=$prefix/bin/blackout-clang
cxx=$prefix/bin/blackout-clang++
blackout=$prefix/bin/blackout
plain_cc=clang-19
plain_cxx=clang++-19
# The caller's own settings must not decide what is tested.
unset BLACKOUT_CC BLACKOUT_CXX BLACKOUT_OPTIONS BLACKOUT_WRAPPER_OPTIONS CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS MAKELEVEL
export LC_ALL=C

work=$(mktemp -d "${TMPDIR:-/tmp}/blackout-project.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# run LOG COMMAND...: silent unless it fails.
run() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "$*"
  }
}

# refuses CODE 'words of the sentence' COMMAND...
refuses() {
  local code=$1 words=$2 got=0
  shift 2
  "$@" >refusal.log 2>&1 || got=$?
  [ "$got" = "$code" ] || fail "exit code $got instead of $code: $*: $(cat refusal.log)"
  grep -qF -- "$words" refusal.log || fail "'$words' is not said by: $*: $(cat refusal.log)"
}

has_sites() { readelf -SW "$1" 2>/dev/null | grep -q ' blackout_sites '; }

# instrumented FILE SOURCE-FILE...: it has sites, and in each of the source files.
instrumented() {
  local file=$1 name
  shift
  has_sites "$file" || fail "$file has no site table"
  "$blackout" sites "$file" >sites.log 2>&1 || fail "blackout sites $file: $(cat sites.log)"
  for name in "$@"; do
    grep -qF "$name" sites.log || fail "blackout sites $file shows none of $name: $(head -5 sites.log)"
  done
}

plain() { if has_sites "$1"; then fail "$1 is instrumented, but should not be"; fi; }

# behaves 'expected output' PROGRAM ARGUMENTS...: as it does without Blackout.
behaves() {
  local expected=$1 got
  shift
  got=$("$@" 2>&1) || fail "exit code $? of $*: $got"
  [ "$got" = "$expected" ] || fail "'$got' instead of '$expected' from $*"
}

# clean POOL PROGRAM ARGUMENTS...: the check finds nothing and leaves the pool as it was.
clean() {
  local pool=$1 before after
  shift
  before=$(cksum "$pool" 2>/dev/null || echo none)
  run check.log "$blackout" check --pm "$pool" -- "$@"
  after=$(cksum "$pool" 2>/dev/null || echo none)
  [ "$before" = "$after" ] || fail "blackout check changed $pool"
}
