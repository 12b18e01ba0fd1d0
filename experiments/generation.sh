#!/usr/bin/env bash
# From a folder of pictures to a measured generator: tokenizer, predictor, ADDP; FID for both schedules and several
# numbers of steps beside MAGE alone and the tokenizer's own floor.
#   experiments/generation.sh PICTURES [PROGRAM] [OUT] [COUNT]
set -eu
cd "$(dirname "$0")/.."
pictures=$1
addp=${2:-build/addp}
out=${3:-runs/generation}
count=${4:-1000}
tokens=(--token-views 3 --token-cache "$out/tokens.safetensors")
"$addp" train tokenizer --config configs/tokenizer/tiny.toml --data "$pictures" --out "$out/tokenizer"
"$addp" train predictor --config configs/predictor/tiny.toml --data "$pictures" --tokenizer "$out/tokenizer" "${tokens[@]}" --out "$out/predictor"
"$addp" train addp --config configs/addp/tiny.toml --data "$pictures" --tokenizer "$out/tokenizer" --predictor "$out/predictor" "${tokens[@]}" --out "$out/addp"
"$addp" eval tokenizer --model "$out/tokenizer" --data "$pictures" --count "$count" --out "$out/tokenizer-figures"
measure() { # MODEL SCHEDULE STEPS
  "$addp" eval fid "$out/$1" "$pictures" --split val --count "$count" --schedule "$2" --steps "$3" --top-p 0.8 --json >"$out/fid-$1-$2-$3.json"
  printf '%-10s %-7s %3s steps  FID %s\n' "$1" "$2" "$3" "$(sed -n 's/.*"fid": *\([0-9.]*\).*/\1/p' "$out/fid-$1-$2-$3.json" | head -1)"
}
for schedule in cosine linear; do
  for steps in 8 16 32 64; do
    measure addp $schedule $steps
    measure predictor $schedule $steps
  done
done
"$addp" generate --model "$out/addp" -n 36 --grid --steps 16 --top-p 0.8 --seed 1 --out "$out/samples"
"$addp" generate --model "$out/addp" -n 1 --trajectory --steps 16 --top-p 0.8 --seed 1 --out "$out/trajectory"
