#!/usr/bin/env bash
# Training as people run it, in miniature: exact resume after kill -9, interrupt, two ranks against one, a killed
# rank, a full disk, broken pictures, a loss that is not finite.
#   training_test.sh PROGRAM
set -u
addp=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
export OMP_NUM_THREADS=1

fail() {
  echo "FAILED $1"
  failures=$((failures + 1))
}

# A tokenizer small enough for tests, on pictures made in memory.
tokenizer=(train tokenizer --data shapes:size=16,count=64,seed=1 --size 16 --channels 8 --multipliers 1,2 --blocks 1 --groups 4
  --codes 32 --code-width 4 --unit-codes --perceptual 0 --adversarial 0 --batch-size 8 --lr 1e-3 --warmup-steps 2 --device cpu --threads 1
  --precision fp32 --workers 1 --picture-every 0 --log-every 1 --save-every 5 --restart-every 4 -q)
losses() { sed -n 's/.*"loss":\([-0-9.e]*\).*"step":\([0-9]*\).*/\2 \1/p' "$1/log.jsonl"; }
same_losses() {
  paste <(losses "$1") <(losses "$2") | awk '
    { d = $2 - $4; if (d < 0) d = -d; if ($1 != $3 || d > 1e-4 * $2) bad = 1; n++ } END { exit bad || n < 6 }'
}
wait_for() { # FILE: until it is there, twenty seconds at most
  for _ in $(seq 400); do
    [ -f "$1" ] && return
    sleep 0.05
  done
}
kill_at() { # FILE: ends the run $pid without warning once it is there
  wait_for "$1"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
}
same_model() { cmp -s <(tail -c 4000 "$1/model.safetensors") <(tail -c 4000 "$2/model.safetensors"); }

# Exact resume: a run that is killed at some point after its first checkpoint, and the same command again.
"$addp" "${tokenizer[@]}" --steps 40 --out "$work/whole" >/dev/null || fail "plain run"
"$addp" "${tokenizer[@]}" --steps 40 --out "$work/killed" >/dev/null 2>&1 &
pid=$!
kill_at "$work/killed/last.safetensors"
"$addp" "${tokenizer[@]}" --steps 40 --out "$work/killed" >/dev/null || fail "resumed run"
same_model "$work/whole" "$work/killed" || fail "kill -9 and the same command again: another model"

# Interrupt: exit code 130, and the run goes on.
"$addp" "${tokenizer[@]}" --steps 100000 --out "$work/interrupted" >/dev/null 2>"$work/err" &
pid=$!
wait_for "$work/interrupted/last.safetensors"
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "interrupt: exit code"
grep -q "the same command resumes it" "$work/err" || fail "interrupt: sentence"

# Two ranks equal one process with the same global batch.
"$addp" "${tokenizer[@]}" --restart-every 0 --steps 6 --processes 2 --out "$work/two" >/dev/null || fail "two ranks"
"$addp" "${tokenizer[@]}" --restart-every 0 --steps 6 --out "$work/one" >/dev/null || fail "one rank"
same_losses "$work/one" "$work/two" || fail "two ranks: other losses than one"

predictor=(train predictor --data shapes:size=16,count=64,seed=1 --size 16 --tokenizer "$work/one" --preset nano --width 32
  --depth 1 --decoder-width 32 --decoder-depth 1 --dropout 0 --class-ids 1 --batch-size 8 --lr 1e-3 --warmup-steps 2 --device cpu --threads 1
  --precision fp32 --workers 1 --picture-every 0 --log-every 1 -q --steps 6)
"$addp" "${predictor[@]}" --processes 2 --out "$work/predictor2" >/dev/null || fail "predictor on two ranks"
"$addp" "${predictor[@]}" --out "$work/predictor1" >/dev/null || fail "predictor on one rank"
same_losses "$work/predictor1" "$work/predictor2" || fail "predictor: two ranks have other losses than one"

# Detection and segmentation, batch norms included: exact resume, and two ranks that evaluate together.
dense=(--data shapes:size=32,count=32,val=6,seed=1 --size 32 --preset resnet-nano --channels 16 --batch-size 4 --lr 1e-3
  --warmup-steps 2 --device cpu --threads 1 --workers 1 --picture-every 0 --log-every 1 --save-every 2 --eval-every 3 --steps 8 -q)
detector=(--strides 2,4,8,16 --anchor-scale 3 --rpn-convs 1 --box-convs 1 --box-width 32 --mask-cells 7 --mask-convs 1
  --mask-channels 16 --anchors 32 --proposals 16 --regions 16)
for stage in segmenter detector; do
  own=()
  [ $stage = detector ] && own=("${detector[@]}")
  "$addp" train $stage "${dense[@]}" "${own[@]}" --out "$work/$stage" >/dev/null || fail "$stage"
  "$addp" train $stage "${dense[@]}" "${own[@]}" --out "$work/$stage-killed" >/dev/null 2>&1 &
  pid=$!
  kill_at "$work/$stage-killed/last.safetensors"
  "$addp" train $stage "${dense[@]}" "${own[@]}" --out "$work/$stage-killed" >/dev/null || fail "$stage: resumed run"
  same_model "$work/$stage" "$work/$stage-killed" || fail "$stage: kill -9 and the same command again: another model"
  "$addp" train $stage "${dense[@]}" "${own[@]}" --processes 2 --out "$work/$stage-two" >/dev/null || fail "$stage: two ranks"
  grep -q '"kind":"eval"' "$work/$stage-two/log.jsonl" || fail "$stage: two ranks: no evaluation"
done

# A killed rank ends the others with a sentence; the run resumes, also with one rank.
"$addp" "${tokenizer[@]}" --steps 100000 --processes 2 --out "$work/lost" >/dev/null 2>"$work/err" &
pid=$!
wait_for "$work/lost/last.safetensors"
kill -9 "$(pgrep -P $pid | tail -1)"
wait $pid
[ $? -ne 0 ] || fail "killed rank: exit code 0"
grep -qE "rank|process" "$work/err" || fail "killed rank: no sentence"
step=$(tail -1 "$work/lost/log.jsonl" | sed 's/.*"step":\([0-9]*\).*/\1/')
"$addp" "${tokenizer[@]}" --steps $((step + 2)) --out "$work/lost" >/dev/null || fail "killed rank: resume with one"

# A full disk (a file-size limit stands for it): exit code 1, and the last checkpoint stays whole.
cp -r "$work/one" "$work/full"
rm "$work/full/model.safetensors"
sum=$(cksum <"$work/full/last.safetensors")
(ulimit -f 8; trap '' XFSZ; exec "$addp" "${tokenizer[@]}" --steps 12 --out "$work/full" >/dev/null 2>"$work/err")
[ $? -eq 1 ] || fail "full disk: exit code"
[ "$sum" = "$(cksum <"$work/full/last.safetensors")" ] || fail "full disk: the checkpoint changed"

# Broken pictures: a few are skipped, named and counted; more than 1% ends with 3.
mkdir -p "$work/pictures"

sheet=$(find "$work" -name '*.png' | head -1)
[ -n "$sheet" ] || { "$addp" "${tokenizer[@]}" --steps 1 --picture-every 1 --out "$work/sheet" >/dev/null; sheet=$(find "$work/sheet" -name '*.png' | head -1); }
for i in $(seq 120); do cp "$sheet" "$work/pictures/$i.png"; done
head -c 100 "$sheet" >"$work/pictures/broken.png"
folder=("${tokenizer[@]}")
folder[3]="$work/pictures"
"$addp" "${folder[@]}" --steps 20 --out "$work/few" >/dev/null 2>"$work/err" || fail "one broken picture ended the run"
grep -q "broken.png" "$work/err" || fail "the broken picture is not named"
for i in $(seq 10); do head -c 100 "$sheet" >"$work/pictures/broken$i.png"; done
"$addp" "${folder[@]}" --steps 60 --out "$work/many" >/dev/null 2>&1
[ $? -eq 3 ] || fail "many broken pictures: exit code"

# A bad label map among those that are shown and measured: named, left out, and the run ends well.
mkdir -p "$work"/labelled/{images,annotations}/{train,val}
good=iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADElEQVR42mNgYARCAAAMAAMVnhj8AAAAAElFTkSuQmCC # labels 0 and 1
bad=iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNgYGdgZAAAACQACcrWhPoAAAAASUVORK5CYII= # and 7
for i in 1 2 3 4; do
  for split in train val; do
    for kind in images annotations; do base64 -d <<<$good >"$work/labelled/$kind/$split/$i.png"; done
  done
done
base64 -d <<<$bad >"$work/labelled/annotations/val/2.png"
printf 'ground\nsky\n' >"$work/labelled/classes.txt"
"$addp" train segmenter "${dense[@]}" --data "$work/labelled" --out "$work/labels" >/dev/null 2>"$work/err" || fail "a bad label map ended the run"
grep -q "val/2.png" "$work/err" || fail "the bad label map is not named"
[ -s "$work/labels/model.safetensors" ] || fail "a bad label map: no model"

# A loss that is not finite: exit code 4, the batch and the layer, the last good checkpoint.
"$addp" "${tokenizer[@]}" --steps 400 --lr 1000 --out "$work/wild" >/dev/null 2>"$work/err"
[ $? -eq 4 ] || fail "not finite: exit code"
grep -qiE "step|batch" "$work/err" || fail "not finite: no sentence"

[ $failures -eq 0 ] && echo "training: all as documented"
exit $failures
