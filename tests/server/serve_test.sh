#!/usr/bin/env bash
# The service with throw-away models of a few steps: over HTTP, through OpenAI's client and in a browser.
#   serve_test.sh PROGRAM http|openai|browser [SCREENSHOTS]
# ADDP_SERVE_MODELS=<folder>   keep the models there, and take them from there if they are
source "$(dirname "$0")/../cli/check.sh"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "$0")" && pwd)
what=$2

python=python3
if [ "$what" != http ]; then
  python=$("$here/../../tools/setup-browser.sh") || {
    skip "serve-$what" 'needs browser environment'  # cannot be installed here, see above
    exit 0
  }
fi

models=${ADDP_SERVE_MODELS:-$work/models}
if [ ! -f "$models/segmenter/model.safetensors" ]; then
  data=shapes:size=32,count=16,val=8,seed=1
  common=(--data $data --size 32 --batch-size 4 --steps 4 --lr 1e-3 --threads 1 --workers 1 -q)
  network=(--preset nano --width 32 --depth 1 --decoder-width 32 --decoder-depth 1 --class-conditional --class-ids 1)
  check tokenizer 0 -- "$addp" train tokenizer "${common[@]}" --channels 8 --multipliers 1,2 --stem 2 --blocks 1 --groups 4 --codes 32 \
    --code-width 4 --unit-codes --perceptual 0 --adversarial 0 --out "$models/tokenizer"
  check predictor 0 -- "$addp" train predictor "${common[@]}" "${network[@]}" --tokenizer "$models/tokenizer" --out "$models/predictor"
  check addp 0 -- "$addp" train addp "${common[@]}" "${network[@]}" --tokenizer "$models/tokenizer" --predictor "$models/predictor" --log-every 1 --out "$models/addp"
  check distil 0 -- "$addp" distil --model "$models/addp" --steps 4 --batch-size 4 --sample-steps 4 --threads 1 -q --out "$models/fast"
  check classifier 0 -- "$addp" train classifier "${common[@]}" --preset nano --patch 8 --out "$models/classifier"
  dense=(--preset resnet-nano --channels 16)
  check detector 0 -- "$addp" train detector "${common[@]}" "${dense[@]}" --strides 2,4,8,16 --anchor-scale 3 --rpn-convs 1 --box-convs 1 \
    --box-width 32 --mask-cells 7 --mask-convs 1 --mask-channels 16 --anchors 32 --proposals 16 --regions 16 --out "$models/detector"
  check segmenter 0 -- "$addp" train segmenter "${common[@]}" "${dense[@]}" --out "$models/segmenter"
  [ $failures -eq 0 ] || finish
fi
case $what in
  http) "$python" "$here/http_test.py" "$addp" "$models" ;;
  openai) "$python" "$here/openai_test.py" "$addp" "$models" ;;
  browser)
    for test in browser_test browser_edit_test; do
      "$python" "$here/$test.py" "$addp" "$models" ${3:+"$3"} || failures=$((failures + 1))
    done
    ;;
esac || failures=$((failures + 1))
finish
