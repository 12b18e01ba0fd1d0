#!/usr/bin/env bash
# The paper's graph at the smallest scale on the procedural set, to its page: killed without warning in the middle, and the
# same command again.
#   reproduction_test.sh PROGRAM
. "$(dirname "$0")/check.sh"
export OMP_NUM_THREADS=1
weights=$(dirname "$0")/../../../shared/weights
[ -n "${ADDP_WEIGHTS:-}" ] || [ ! -d "$weights" ] || export ADDP_WEIGHTS=$weights
out=$work/reproduce
graph=("$addp" reproduce --scale mini --seeds 1 --jobs 2 --no-measure --out "$out")
results() { find "$out/jobs" -name result.json 2>/dev/null; }

check "an unknown study" 2 --err "there are main, input, .*pictures" -- "$addp" reproduce --only everything --out "$out"
check "an unknown scale" 2 --err "there are mini, nano, tiny, paper" -- "$addp" reproduce --scale huge --out "$out"
check "the paper's scale says what it needs" 2 --err "needed: .*GPU" -- "$addp" reproduce --scale paper --out "$out"
check "an unknown format" 2 --err "png, jpg:QUALITY and webp:QUALITY" -- "$addp" reproduce --scale mini --as gif --out "$out"
check "a predictor without its tokenizer" 2 --err "--tokenizer" -- "$addp" reproduce --scale mini --predictor cells --out "$out"
check "the plan" 0 --out "addp-argmax.1 .*predictor" -- "${graph[@]}" --dry-run
[ -z "$(results)" ] || { echo "FAILED the plan: something ran"; failures=$((failures + 1)); }

# Times are measured on a few steps, once.
measured=("$addp" reproduce --scale mini --seeds 1 --jobs 2 --only probe --dry-run --out "$work/measured")
check "measured times" 0 --out "to do: about [0-9.]+ core-hours" --err "measuring a few steps" -- "${measured[@]}"
check "times are kept" 0 --out "to do: about [0-9.]+ core-hours" -- "${measured[@]}"
grep -q "measuring" "$work/err" && { echo "FAILED times are kept: measured again"; failures=$((failures + 1)); }

"${graph[@]}" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 1200); do
  [ "$(results | wc -l)" -ge 8 ] && break
  sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
for _ in $(seq 100); do # children are killed by the kernel, which may take a moment
  grep -lzsF "$out/jobs" /proc/[0-9]*/cmdline >/dev/null || break
  sleep 0.05
done
if grep -lzsF "$out/jobs" /proc/[0-9]*/cmdline >/dev/null; then
  echo "FAILED kill -9: a job is still running"
  failures=$((failures + 1))
fi
results | xargs stat -c '%n %i %y' | sort >"$work/before"
[ "$(wc -l <"$work/before")" -ge 8 ] || { echo "FAILED kill -9: nothing was done before it"; failures=$((failures + 1)); }

check "the same command again" 0 --out "^page: .*index.html" -- "${graph[@]}"
sort <(cut -d' ' -f1 "$work/before" | xargs stat -c '%n %i %y') | cmp -s - "$work/before" || {
  echo "FAILED the same command again: finished jobs were run again"
  failures=$((failures + 1))
}
grep -q '"done": \([0-9]*\)' "$out/reproduce.json" &&
  [ "$(sed -n 's/^  "done": \([0-9]*\).*/\1/p' "$out/reproduce.json")" = "$(sed -n 's/^  "jobs": \([0-9]*\).*/\1/p' "$out/reproduce.json")" ] || {
  echo "FAILED the same command again: jobs are left"
  failures=$((failures + 1))
}
[ "$(grep -c '"verdict":' "$out/reproduce.json")" -ge 35 ] || { echo "FAILED claims without a verdict"; failures=$((failures + 1)); }
for text in "Does the paper hold" "Table 4: mapping function f" "cannot be told" "Figure 12" "<svg" "data:image/png"; do
  grep -q "$text" "$out/index.html" || { echo "FAILED the page: no '$text'"; failures=$((failures + 1)); }
done

elsewhere=("$addp" reproduce --scale mini --seeds 1 --no-measure --only mapping,condition --out "$work/elsewhere")
check "results of another folder" 0 --out "jobs, 0 to do" -- "${elsewhere[@]}" --earlier "$out/results.json"
check "what is not a result" 3 --err "is not a" -- "${elsewhere[@]}" --earlier "$out/reproduce.json"

printf 'What was found, in *words*.\n' >"$work/words.md"
check "the document" 0 -- "${graph[@]}" --document "$work/docs/FOUND.md" --discussion "$work/words.md"
grep -q "What was found, in \*words\*" "$work/docs/FOUND.md" || { echo "FAILED the document: no discussion"; failures=$((failures + 1)); }
for image in $(sed -n 's/.*](\(images\/[^)]*\)).*/\1/p' "$work/docs/FOUND.md"); do
  [ -s "$work/docs/$image" ] || { echo "FAILED the document: $image is missing"; failures=$((failures + 1)); }
done

[ -n "$(find "$out/jobs" -maxdepth 1 -name 'fid.*')" ] ||
  skip "reproduce: FID" "needs weights inception-2015-12-05-fp16.safetensors"
finish
