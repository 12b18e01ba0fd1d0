#!/usr/bin/env bash
# Builds the fuzz targets (preset "sanitize") and runs each for the given number of seconds on its corpus: the seeds in
# tests/fuzz/corpus/<name> and what was found before, packed beside them. New inputs go to build-sanitize/found/<name>; a
# crash leaves its input beside. With FAST=1 the preset "fuzz" does it, without the address sanitizer but with the checks of
# the standard library: more inputs in the same time, and the next call without FAST begins with what it found.
#   tools/fuzz.sh [SECONDS [NAME...]]     all targets, or those named
#   tools/fuzz.sh keep BYTES [NAME...]    packs what was found: the inputs of at most BYTES that reach what seeds do not
set -euo pipefail
cd "$(dirname "$0")/.."
preset=sanitize build=build-sanitize found=build-sanitize/found
if [ -n "${FAST:-}" ]; then preset=fuzz build=build-fuzz; fi
# Short stack traces of allocations: each allocation of each execution takes one.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

unpack() {  # NAME
  mkdir -p "$found/$1"
  if [ -f "tests/fuzz/corpus/$1.tar.xz" ]; then tar -xJf "tests/fuzz/corpus/$1.tar.xz" -C "$found/$1"; fi
}

keep() {  # BYTES NAME
  local seeds=tests/fuzz/corpus/$2 kept=$build/kept seed
  unpack "$2"
  rm -rf "$kept" && cp -r "$seeds" "$kept"
  "$build/$2_fuzz" -set_cover_merge=1 -use_counters=0 -max_len="$1" "$kept" "$found/$2" >"$build/$2-keep.log" 2>&1 || return 1
  for seed in "$seeds"/*; do rm "$kept/$(basename "$seed")"; done
  tar -cJf "$seeds.tar.xz" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$kept" .
  printf '%-14s %5d inputs, %7d bytes packed\n' "$2" "$(find "$kept" -type f | wc -l)" "$(stat -c %s "$seeds.tar.xz")"
}

run() {  # SECONDS NAME
  unpack "$2"
  local result=ok log=$build/$2.log
  "$build/$2_fuzz" -max_total_time="$1" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$found/$2-" "$found/$2" "tests/fuzz/corpus/$2" >"$log" 2>&1 || result="FAILED, see $log"
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
cmake --preset $preset >/dev/null
cmake --build $build -j "${JOBS:-$(nproc)}" --target "${@/%/_fuzz}"
failed=0
for name in "$@"; do "${task[@]}" "$name" || failed=1; done
exit $failed
