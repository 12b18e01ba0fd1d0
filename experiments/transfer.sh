#!/usr/bin/env bash
# What pre-training is worth: the same small network from an ADDP encoder, from MAGE's encoder on tokens, and from
# scratch, on classes (CLASSES), label maps (LABELS) and boxes with masks (COCO). Leave a set away with an empty name.
# The ADDP model that serves best at this size is trained with --token-input none (docs/EXPERIMENTS.md).
#   experiments/transfer.sh ADDP PREDICTOR CLASSES LABELS COCO [PROGRAM] [OUT]
set -eu
cd "$(dirname "$0")/.."
addp_model=$1 predictor=$2 classes=$3 labels=$4 coco=$5
addp=${6:-build/addp}
out=${7:-runs/transfer}
# A step of the classifier sees 64 pictures, one of the others 8. Short enough for two cores; longer is better.
classifier=(--config configs/classifier/tiny.toml --steps 400 --warmup-steps 40 --eval-every 200)
segmenter=(--config configs/segmenter/tiny.toml --size 128 --batch-size 8 --steps 250 --warmup-steps 30 --scale-low 0.75 --scale-high 1.5 --eval-every 0)
# A few hundred pictures tell nothing about 80 classes: people only. Anchors from 16 to 128 pixels.
detector=(--config configs/detector/tiny.toml --only person --size 128 --strides 4,8,16,32 --anchor-scale 4 --batch-size 8 --steps 600
  --warmup-steps 50 --window 8 --scale-low 0.8 --scale-high 1.25 --eval-every 0)
compare() { # STAGE DATA OPTIONS..
  local stage=$1 data=$2
  shift 2
  "$addp" train "$stage" "$@" --data "$data" --model "$addp_model" --out "$out/$stage-addp"
  "$addp" train "$stage" "$@" --data "$data" --model "$predictor" --out "$out/$stage-tokens"
  "$addp" train "$stage" "$@" --data "$data" --out "$out/$stage-scratch"
}
[ -z "$classes" ] || compare classifier "$classes" "${classifier[@]}"
[ -z "$labels" ] || compare segmenter "$labels" "${segmenter[@]}"
[ -z "$coco" ] || compare detector "$coco" "${detector[@]}"
for log in "$out"/*/log.jsonl; do
  echo "$(basename "$(dirname "$log")"): $(grep '"kind":"eval"' "$log" | tail -1)"
done
