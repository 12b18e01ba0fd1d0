#!/usr/bin/env bash
# Builds the fuzz targets with clang, ASan and UBSan, and runs each for the given number of seconds on its
# corpus (tests/fuzz/corpus/<name>). New inputs go to build-fuzz/found/<name>; a crash leaves its input beside.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
build=build-fuzz
cmake -S . -B $build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang -DADDP_FUZZ=ON -DADDP_TESTS=OFF \
  -DADDP_TORCH_PARTS=OFF -DADDP_SANITIZE=address,undefined >/dev/null
cmake --build $build -j "$(nproc)"
failed=0
for source in tests/fuzz/*_fuzz.cpp; do
  program=$(basename "$source" .cpp)
  name=${program%_fuzz}
  mkdir -p "$build/found/$name" "tests/fuzz/corpus/$name"
  if "$build/$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/found/$name-" "$build/found/$name" "tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1; then
    result=ok
  else
    result="FAILED, see $build/$name.log"
    failed=1
  fi
  printf '%-14s %12s executions  %s\n' "$name" "$(sed -n 's/.*stat::number_of_executed_units: *//p' "$build/$name.log")" "$result"
done
exit $failed
