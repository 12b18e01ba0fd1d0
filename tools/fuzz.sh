#!/usr/bin/env bash
# Builds the fuzz targets (preset "sanitize"), and runs each for the given number of seconds on its corpus
# (tests/fuzz/corpus/<name>). New inputs go to build-sanitize/found/<name>; a crash leaves its input beside.
#   tools/fuzz.sh [SECONDS [NAME...]]     all targets, or those named
#   tools/fuzz.sh keep BYTES [NAME...]    the smallest inputs of what was found that add coverage, BYTES at most each,
#                                         become the corpus
set -euo pipefail
cd "$(dirname "$0")/.."
build=build-sanitize
# Half of the time of a reader that allocates much goes into the stack traces of its allocations.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

keep() {  # BYTES NAME
  local corpus=tests/fuzz/corpus/$2
  rm -rf "$build/kept" && mkdir -p "$build/kept"
  "$build/$2_fuzz" -merge=1 -max_len="$1" "$build/kept" "$corpus" "$build/found/$2" >"$build/$2-keep.log" 2>&1 || return 1
  rm -rf "$corpus" && mv "$build/kept" "$corpus"
  printf '%-14s %5d inputs, %7d bytes\n' "$2" "$(find "$corpus" -type f | wc -l)" "$(cat "$corpus"/* | wc -c)"
}

run() {  # SECONDS NAME
  mkdir -p "$build/found/$2" "tests/fuzz/corpus/$2"
  local result=ok log=$build/$2.log
  "$build/$2_fuzz" -max_total_time="$1" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/found/$2-" "$build/found/$2" "tests/fuzz/corpus/$2" >"$log" 2>&1 || result="FAILED, see $log"
  printf '%-14s %12s executions  %s\n' "$2" "$(sed -n 's/.*stat::number_of_executed_units: *//p' "$log")" "$result"
  [ "$result" = ok ]
}

task=(run "${1:-60}")
shift $(($# > 0))
if [ "${task[1]}" = keep ]; then
  task=(keep "$1")
  shift
fi
if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$source" _fuzz.cpp)"; done
fi
cmake --preset sanitize >/dev/null
cmake --build $build -j "${JOBS:-$(nproc)}" --target "${@/%/_fuzz}"
failed=0
for name in "$@"; do "${task[@]}" "$name" || failed=1; done
exit $failed
