#!/usr/bin/env bash
# Recognition on the procedural set: class, boxes and masks, label maps, each from scratch with a small recipe.
#   experiments/shapes.sh [PROGRAM] [OUT]
set -eu
cd "$(dirname "$0")/.."
addp=${1:-build/addp}
out=${2:-runs/shapes}
"$addp" train classifier --config configs/classifier/resnet-nano.toml --data shapes:size=64,count=96000,val=1000 --out "$out/classifier"
"$addp" train segmenter --config configs/segmenter/resnet-nano.toml --data shapes:size=64,count=64000,val=256 --out "$out/segmenter"
"$addp" train detector --config configs/detector/resnet-nano.toml --data shapes:size=64,count=48000,val=256 --out "$out/detector"
grep -h '"kind":"eval"' "$out"/*/log.jsonl
