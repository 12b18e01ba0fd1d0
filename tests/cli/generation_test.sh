#!/usr/bin/env bash
# Making, editing and measuring pictures as people do it, with networks of a few steps.
#   generation_test.sh PROGRAM
source "$(dirname "$0")/check.sh"
export OMP_NUM_THREADS=1

data=shapes:size=32,count=16,val=16,seed=1
common=(--data $data --size 32 --batch-size 4 --steps 2 --lr 1e-3 --threads 1 --workers 1 --picture-every 0 -q)
network=(--preset nano --width 32 --depth 1 --decoder-width 32 --decoder-depth 1 --class-conditional --class-ids 1)
check tokenizer 0 -- "$addp" train tokenizer "${common[@]}" --channels 8 --multipliers 1,2 --stem 2 --blocks 1 --groups 4 --codes 32 \
  --code-width 4 --unit-codes --perceptual 0 --adversarial 0 --out "$work/tokenizer"
check predictor 0 -- "$addp" train predictor "${common[@]}" "${network[@]}" --tokenizer "$work/tokenizer" --out "$work/predictor"
check addp 0 -- "$addp" train addp "${common[@]}" "${network[@]}" --tokenizer "$work/tokenizer" --predictor "$work/predictor" --out "$work/addp"

model=(--model "$work/addp" --threads 1)
check generate 0 --out '3 pictures of 32x32' -- "$addp" generate "${model[@]}" -n 3 --steps 3 --seed 7 --out "$work/made"
check metadata 0 -- grep -aq 'addp:seed' "$work/made/000002.png"
again=("$addp" generate "${model[@]}" -n 1 --first 2 --steps 3 --seed 7 --out "$work/again")
check generate-again 0 -- "${again[@]}"
mv "$work/again/000002.png" "$work/before.png"
check generate-once-more 0 -- "${again[@]}"
check same-seed 0 -- cmp "$work/again/000002.png" "$work/before.png"
check grid 0 --out 'samples.png' -- "$addp" generate "${model[@]}" -n 4 --steps 2 --grid --json --out "$work/grid"
check trajectory 0 --out '000000-steps.webp' -- "$addp" generate "${model[@]}" -n 1 --steps 2 --trajectory --json --out "$work/steps"
check format 0 --out '000001.webp' -- "$addp" generate "${model[@]}" -n 2 --steps 2 --format webp:90 --json --out "$work/webp"
check format-written 0 --out 'WebP' -- "$addp" doctor "$work/webp/000001.webp"
check format-unknown 2 --err 'png, jpg:QUALITY and webp:QUALITY' -- "$addp" generate "${model[@]}" --format gif --out "$work/x"
check size 0 --out '1 pictures of 48x16' -- "$addp" generate "${model[@]}" -n 1 --steps 2 --size 48x16 --trajectory --out "$work/size"
check size-written 0 --out '48 ?x ?16' -- "$addp" doctor "$work/size/000000.png"
check size-predictor 0 --out 'pictures of 16x48' -- "$addp" generate --model "$work/predictor" -n 1 --steps 2 --size 16x48 --out "$work/x"
check size-odd 2 --err 'give multiples of 4' -- "$addp" generate "${model[@]}" --size 33x32 --out "$work/x"
check size-text 2 --err 'as 128x64' -- "$addp" generate "${model[@]}" --size 32x --out "$work/x"
check strip-metadata 0 -- grep -aq 'addp:seed' "$work/steps/000000-steps.png"
check class 0 --out '1 pictures' -- "$addp" generate "${model[@]}" -n 1 --steps 2 --class ring --guidance 2 --out "$work/class"
check class-unknown 2 --err 'the model knows' -- "$addp" generate "${model[@]}" -n 1 --class unicorn --out "$work/x"
check guidance-alone 2 --err 'name one' -- "$addp" generate "${model[@]}" -n 1 --guidance 2 --out "$work/x"
check steps-none 2 --err '--steps' -- "$addp" generate "${model[@]}" --steps 0 --out "$work/x"
check more-steps-than-tokens 0 -- "$addp" generate "${model[@]}" -n 1 --steps 100 --out "$work/x"
check predictor-alone 0 --out '1 pictures' -- "$addp" generate --model "$work/predictor" -n 1 --steps 2 --out "$work/x"

# Fast sampling: a model that was prepared for it, and those that were not.
check fast-unprepared 2 --err 'addp distil --model' -- "$addp" generate "${model[@]}" -n 1 --fast --out "$work/x"
check fast-predictor 2 --err 'omit --fast' -- "$addp" generate --model "$work/predictor" -n 1 --fast --out "$work/x"
prepare=("$addp" distil --model "$work/addp" --batch-size 2 --sample-steps 3 --threads 1 -q --out "$work/fast")
check distil 0 --out 'kl: ' -- "${prepare[@]}" --steps 3
check distil-page 0 -- grep -q 'addp distil' "$work/fast/index.html"
check distil-doctor 0 --out "prepared by 'addp distil'" -- "$addp" doctor "$work/fast"
check distil-recipe 0 --out '^warmup-steps = 100 ' -- "$addp" distil --config configs/distil/cells.toml --model m --out "$work/x" --print-config
check distil-data 2 --err 'data' -- "$addp" distil --model m --data shapes --out "$work/x"
fast=("$addp" generate --model "$work/fast" --threads 1 -n 2 --steps 3 --class ring --fast)
check fast 0 --out '2 pictures of 32x32' -- "${fast[@]}" --trajectory --out "$work/fast-made"
check fast-recipe 0 -- grep -aq 'addp:fast' "$work/fast-made/000001.png"
check fast-inpaint 0 -- "$addp" inpaint --model "$work/fast" --threads 1 --fast --image "$work/made/000000.png" --box 0,0,8,8 --steps 3 --out "$work/fast-filled"
check fast-bench 0 --out '"fast": true' -- "$addp" bench generate --preset nano --batch 1 --steps 2 --seconds 0.1 --fast --json

check other-tokenizer 0 -- "$addp" train tokenizer "${common[@]}" --channels 8 --multipliers 1,2 --stem 2 --blocks 1 --groups 4 --codes 16 \
  --code-width 4 --unit-codes --perceptual 0 --adversarial 0 --out "$work/other"
check predictor-other-tokenizer 3 --err 'give the tokenizer it was trained with' -- "$addp" generate --model "$work/predictor" --tokenizer "$work/other" --out "$work/x"

# Models by name: a set in a folder that ADDP_MODELS adds, each command taking the file of its kind.
export ADDP_MODELS=$work/empty:$work/sets
mkdir -p "$work/sets/toy" "$work/sets/cells"
check half-addp 0 -- "$addp" convert "$work/addp" "$work/sets/toy/addp.safetensors" --dtype float16
check half-predictor 0 -- "$addp" convert "$work/predictor" "$work/sets/toy/predictor.safetensors" --dtype float16
check half-tokenizer 0 -- "$addp" convert "$work/tokenizer" "$work/sets/toy/tokenizer.safetensors" --dtype float16
check named-generate 0 --out '"model": ".*sets/toy/addp.safetensors"' -- "$addp" generate --model toy --class ring --threads 1 -n 1 --steps 2 --json --out "$work/named"
check named-one 0 --out '"model": ".*sets/toy/predictor.safetensors"' -- "$addp" generate --model toy/predictor --threads 1 -n 1 --steps 2 --json --out "$work/named"
check named-inpaint 0 -- "$addp" inpaint --model toy --threads 1 --image "$work/made/000000.png" --box 0,0,8,8 --steps 2 --out "$work/named-filled"
check named-visualize 0 -- "$addp" visualize --data $data --tokenizer toy --predictor toy --out "$work/named-look" --threads 1
check named-train 0 -- "$addp" train predictor "${common[@]}" "${network[@]}" --tokenizer toy --out "$work/named-predictor"
check named-features 0 -- "$addp" features --model toy --data $data --threads 1 --out "$work/named.safetensors"
check named-bench 0 --out '"seconds_per_picture"' -- "$addp" bench generate --model toy --batch 1 --steps 2 --seconds 0.1 --json
check named-doctor 0 --out '"kind": "tokenizer"' -- "$addp" doctor --json toy
check named-convert 0 --out 'predictor' -- "$addp" convert toy/predictor "$work/named.pth"
check named-missing 3 --err "toy: has no classifier; of that name there are toy/addp" -- "$addp" classify --model toy "$work/made/000000.png"
check unnamed 3 --err "no model of that name" -- "$addp" generate --model toyy --out "$work/x"
check models 0 --out 'toy/addp' -- "$addp" models
check models-json 0 --out '"kind": "predictor"' -- "$addp" models toy --json
check models-unknown 2 --err "no model 'toyy'" -- "$addp" models toyy
check card-none 2 --err 'has no card' -- "$addp" models toy --card
check to-timm-resnet 3 --err 'timm and MAE take a ViT|no ViT' -- "$addp" convert "$work/tokenizer" "$work/x.pth" --for timm
check to-mae 0 --out 'models_vit.VisionTransformer' -- "$addp" convert toy "$work/encoder.pth" --for mae

# The demo, with a generator and a classifier of a few steps as its models.
check classifier 0 -- "$addp" train classifier "${common[@]}" --model toy --layer-decay 1 --out "$work/classifier"
cp "$work/sets/toy/addp.safetensors" "$work/sets/cells/addp.safetensors"
cp "$work/classifier/model.safetensors" "$work/sets/cells/classifier.safetensors"
check demo 0 --out '"agreement": [01]' -- "$addp" demo --json --threads 1 --out "$work/demo"
check demo-page 0 --out 'Your turn' -- cat "$work/demo/index.html"
check demo-animation 0 -- grep -q 'data:image/webp' "$work/demo/index.html"
unset ADDP_MODELS

picture=$work/made/000000.png
check inpaint-box 0 --out '2 variants' -- "$addp" inpaint "${model[@]}" --image "$picture" --box 8,8,12,12 -n 2 --steps 2 --preview --out "$work/box"
check preview 0 -- test -s "$work/box/preview.png"
check inpaint-mask 0 --out '1 variants' -- "$addp" inpaint "${model[@]}" --image "$picture" --mask "$work/made/000001.png" --steps 2 --out "$work/mask"
check inpaint-class 0 -- "$addp" inpaint "${model[@]}" --image "$picture" --box 0,0,8,8 --class star --steps 2 --out "$work/x"
check outpaint 0 -- "$addp" inpaint "${model[@]}" --image "$picture" --outpaint left=50%,bottom=8 --steps 2 --json --out "$work/outpainted"
check outpaint-size 0 --err '48x40|48 x 40' -- bash -c "'$addp' doctor '$work/outpainted/000000-000.png' >&2"
check uncrop 0 -- "$addp" inpaint "${model[@]}" --image "$picture" --uncrop 2 --steps 2 --out "$work/uncropped"
check inpaint-nothing 2 --err 'one of --mask, --box' -- "$addp" inpaint "${model[@]}" --image "$picture" --out "$work/x"
check inpaint-outside 2 -- "$addp" inpaint "${model[@]}" --image "$picture" --box 100,100,5,5 --out "$work/x"
check outpaint-huge 2 --err 'ask for less' -- "$addp" inpaint "${model[@]}" --image "$picture" --outpaint left=60000,right=60000 --out "$work/x"
check inpaint-predictor 2 --err 'sees no pixels' -- "$addp" inpaint --model "$work/predictor" --image "$picture" --box 0,0,4,4 --out "$work/x"
# A mask that is dark everywhere hides nothing.
base64 -d >"$work/dark.png" <<<iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNgYGRgYAAAAAoAAqIVLk4AAAAASUVORK5CYII=
check inpaint-dark 0 --err 'dark everywhere' -- "$addp" inpaint "${model[@]}" --image "$picture" --mask "$work/dark.png" --steps 2 --out "$work/x"
check visualize 0 -- "$addp" visualize --data $data --predictor "$work/predictor" --out "$work/look" --threads 1
check visualize-files 0 -- test -n "$(find "$work/look" -name '*.png')"
check bench-generate 0 --out '"seconds_per_picture"' -- "$addp" bench generate "${model[@]}" --batch 1 --steps 2 --seconds 0.1 --json

# Statistics are compared without a network; with one, a model against pictures.
check fid-no-network 3 --err 'weights' -- env ADDP_WEIGHTS="$work/nowhere" XDG_CACHE_HOME="$work/cache" "$addp" eval fid "$work/made" $data </dev/null
weights=${ADDP_WEIGHTS:-../shared/weights}
if ls "$weights"/inception*.safetensors >/dev/null 2>&1; then
  export ADDP_WEIGHTS=$weights XDG_CACHE_HOME=$work/cache
  ls "$work"/made/*.png >"$work/list.txt"
  check eval-fid 0 --out '"kid"' -- "$addp" eval fid "$work/addp" "$work/list.txt" --count 4 --steps 2 --class ring --threads 1 --save "$work/fid.safetensors" --json
  check eval-fid-record 0 --out '^count = 4' -- cat "$work/fid.safetensors.config.toml"
  check eval-fid-format 0 --out 'kept as webp:50' -- "$addp" eval fid "$work/addp" "$work/fid.safetensors" --count 4 --steps 2 --as webp:50 --threads 1
  check eval-fid-per-class 0 --out 'classes as in the reference, guidance 2' -- "$addp" eval fid "$work/addp" $data --split val --count 4 --steps 2 --per-class --guidance 2 --threads 1
  check eval-fid-two-classes 2 --err 'give one' -- "$addp" eval fid "$work/addp" $data --split val --count 4 --steps 2 --per-class --class ring --threads 1
  check eval-fid-format-of-files 2 --err 'is no model' -- "$addp" eval fid "$work/made" "$work/fid.safetensors" --as webp:50 --threads 1
  check eval-fid-cached 0 --err 'from the cache' -- "$addp" eval fid "$work/made" "$work/list.txt" --threads 1
  cp "$work/made/000001.png" "$work/made/000000.png"
  check eval-fid-changed 0 --err 'features.* 3/3' -- "$addp" eval fid "$work/fid.safetensors" "$work/list.txt" --threads 1
  check eval-fid-statistics 0 --out '^FID ' -- env ADDP_WEIGHTS="$work/nowhere" "$addp" eval fid "$work/fid.safetensors" "$work/fid.safetensors"
  check eval-fid-score 2 --err 'Inception Score' -- "$addp" eval fid "$work/fid.safetensors" "$work/fid.safetensors" --inception-score
  check eval-tokenizer 0 --out '"psnr"' -- "$addp" eval tokenizer --model "$work/tokenizer" --data $data --count 4 --threads 1 --out "$work/figures" --json
else
  skip eval-fid 'needs weights inception-2015-12-05-fp16.safetensors'
fi
finish
