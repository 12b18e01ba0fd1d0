#!/usr/bin/env bash
# The program as people meet it: help, mistakes, exit codes, what goes to stdout and what to stderr.
#   cli_test.sh PROGRAM
source "$(dirname "$0")/check.sh"

check overview 0 --out '^Learn from your pictures$' -- "$addp" --help
check bare 0 --out '^Usage: addp COMMAND' -- "$addp"
check version 0 --out '^addp [0-9]+\.' -- "$addp" --version
check light 1 -- bash -c "ldd '$addp' | grep torch"  # help does not wait for libtorch
check command-help 0 --out '--batch-size N' -- "$addp" train addp --help
"$addp" train addp --help >"$work/help.txt"
"$addp" train addp --help-all >"$work/help-all.txt"
check help-is-short 0 --out "^'addp train addp --help-all' shows [0-9]+ more options\.$" -- tail -1 "$work/help.txt"
check help-hides 1 -- grep -- '--delta-low' "$work/help.txt"
check help-keeps-needed 0 -- grep -- '--predictor PATH' "$work/help.txt"
check help-all 0 -- grep -- '--delta-low' "$work/help-all.txt"
check help-all-is-all 1 -- grep 'more options' "$work/help-all.txt"
for stage in tokenizer predictor addp classifier probe detector segmenter; do
  shown_options=$("$addp" train $stage --help | sed '/^Everywhere$/,$d' | grep -c '^  -')
  check "help of $stage" 0 -- test "$shown_options" -ge 12 -a "$shown_options" -le 18
done
check help-without-advanced 1 -- bash -c "'$addp' convert --help | grep 'more options'"
check help-command 0 --out '--batch-size N' -- "$addp" help train addp
check family-help 0 --out 'train tokenizer' -- "$addp" train --help
check wrong-command 2 --err "did you mean 'doctor'" -- "$addp" docter
check wrong-subcommand 2 --err "did you mean 'train addp'" -- "$addp" train adpp
check wrong-option 2 --err "did you mean '--batch-size'" -- "$addp" train addp --bach-size 3
check wrong-value 2 --err "'x' is not a whole number" -- "$addp" train addp --batch-size x
check out-of-range 2 --err "outside" -- "$addp" train addp --batch-size 0
check wrong-choice 2 --err "did you mean 'argmax'" -- "$addp" train addp --mapping argmx
check missing-option 2 --err "--data is needed" -- "$addp" train tokenizer --out "$work/x"
check unknown-key 2 --err "not understood" -- "$addp" train tokenizer --data shapes --out "$work/x" colour=red

required=(--data shapes --out "$work/x" --tokenizer t --predictor p)
check snake-case 0 --out '^batch-size = 7 ' -- "$addp" train addp "${required[@]}" --batch_size 7 --print-config
check key-value 0 --out '^batch-size = 7 ' -- "$addp" train addp "${required[@]}" batch_size=7 --print-config
config=("$addp" train addp "${required[@]}" --print-config)
check equals 0 --out '^batch-size = 7 ' -- "${config[@]}" --batch_size=7
check last-value-counts 0 --out '^batch-size = 8 ' -- "${config[@]}" --batch-size 7 --batch-size 8
check flag 0 --out '^class-conditional = true ' -- "${config[@]}" --class-conditional
check flag-denied 0 --out '^class-conditional = false ' -- "${config[@]}" --class-conditional --no-class-conditional
check flag-value 0 --out '^class-conditional = false ' -- "${config[@]}" --class_conditional=false
check flag-denied-unknown 2 --err "no option '--no-batch-size'" -- "${config[@]}" --no-batch-size
check value-missing 2 --err '--batch-size needs a value' -- "${config[@]}" --batch-size
check value-is-a-flag 2 --err '--batch-size needs a value' -- "${config[@]}" --batch-size --seed 1
check negative-value 2 --err '-3 is outside' -- "${config[@]}" --batch-size -3
made=("$addp" generate --print-config --model m --out "$work/x")
check short 0 --out '^count = 5 ' -- "${made[@]}" -n 5
check short-joined 0 --out '^count = 5 ' -- "${made[@]}" -qn5
check short-equals 0 --out '^count = 5 ' -- "${made[@]}" -n=5
check short-unknown 2 --err "'-z' is not understood" -- "${made[@]}" -z
check list-in-pieces 0 --out '^corruptions = \["fog", "snow"\]' -- "$addp" eval robustness --model m --corruptions fog --corruptions snow --print-config
check list-with-commas 0 --out '^corruptions = \["fog", "snow"\]' -- "$addp" eval robustness --model m --corruptions=fog,snow --print-config
check bare-after-dashes 3 --err '-odd: there is no such' -- "$addp" doctor -- -odd
check no-bare-argument 2 --err "'thing' is not understood" -- "${config[@]}" thing
printf 'batch-size = 5\nseed = 3\n' >"$work/recipe.toml"
check recipe 0 --out '^batch-size = 5 ' -- "$addp" train addp "${required[@]}" --config "$work/recipe.toml" --print-config
check recipe-overridden 0 --out '^batch-size = 9 ' -- "$addp" train addp "${required[@]}" --batch-size 9 --config "$work/recipe.toml" --print-config
"$addp" train addp "${required[@]}" --config "$work/recipe.toml" --print-config >"$work/resolved.toml"
check printed-config-is-a-recipe 0 --out '^seed = 3 ' -- "$addp" train addp --config "$work/resolved.toml" --print-config
printf 'bach-size = 5\n' >"$work/bad.toml"
check bad-recipe 3 --err 'bad.toml:1: .*did you mean' -- "$addp" train addp --config "$work/bad.toml"
printf 'a = = 1\n' >"$work/bad.toml"
check not-toml 3 --err 'bad.toml:1: is not valid TOML' -- "$addp" train addp --config "$work/bad.toml"
check missing-recipe 3 --err 'nowhere.toml: cannot be opened' -- "$addp" train addp --config "$work/nowhere.toml"

check recognition-help 0 --out '--model PATH' -- "$addp" detect --help
check segment-nothing 2 --err 'is needed' -- "$addp" segment --model m --out "$work/x"
check detect-no-model 3 --err 'nowhere' -- "$addp" detect --model "$work/nowhere" --out "$work/x" "$work"
check segment-no-shapes 3 --err 'segmentation needs' -- "$addp" train segmenter --data tests/fixtures --out "$work/x" --steps 1
for recipe in configs/segmenter/*.toml; do
  check "recipe $recipe" 0 --out '^layer-decay = ' -- "$addp" train segmenter --config "$recipe" --data shapes --out "$work/x" --print-config
done
for recipe in configs/detector/*.toml; do
  check "recipe $recipe" 0 --out '^strides = ' -- "$addp" train detector --config "$recipe" --data shapes --out "$work/x" --print-config
done
tiny=(--data shapes:size=32,count=8,val=2 --size 32 --steps 2 --batch-size 2 --threads 1 --workers 1)
check train-segmenter 0 --out 'miou' -- "$addp" train segmenter --config configs/segmenter/tiny.toml "${tiny[@]}" --out "$work/segmenter"
check train-detector 0 --out 'mask_ap' -- "$addp" train detector --config configs/detector/tiny.toml "${tiny[@]}" --out "$work/detector"
shown=$(find "$work/segmenter" -name '*.png' | head -1)
check segment 0 --out '"classes"' -- "$addp" segment --json --model "$work/segmenter" --out "$work/segmented" "$shown"
check detect 0 --out '"detections"' -- "$addp" detect --json --model "$work/detector" --score 0.01 --out "$work/detected" "$shown"
check segment-set 0 --out '"overlay"' -- "$addp" segment --json --model "$work/segmenter" --out "$work/segmented" shapes:size=32,count=2
mkdir -p "$work/imagenet"
check detect-folder-empty 3 --err 'imagenet' -- "$addp" detect --model "$work/detector" --out "$work/x" "$work/imagenet"
check device-unknown 2 --err 'say auto, cpu' -- "$addp" segment --model "$work/segmenter" --out "$work/x" --device gpu "$shown"
# Label maps of 'segment' go straight into 'eval segmentation': here they are their own truth.
mkdir -p "$work/truth" "$work/mixed"
for map in "$work"/segmented/*-labels.png; do cp "$map" "$work/truth/$(basename "${map%-labels.png}").png"; done
check segment-then-eval 0 --out '"miou": 1.0' -- "$addp" eval segmentation --labels "$work/truth" --predictions "$work/segmented" --json
cp "$shown" "$work/mixed/a.png"
printf 'no picture' >"$work/mixed/b.png"
check detect-broken 3 --err '1 of 2 pictures could not be read' -- "$addp" detect --model "$work/detector" --out "$work/mixed-out" "$work/mixed"
check detect-broken-rest 0 -- test -s "$work/mixed-out/a.png" -a -s "$work/mixed-out/results.json"
check detect-over-inputs 2 --err 'choose another folder' -- "$addp" detect --model "$work/detector" --out "$work/mixed" "$work/mixed"
check no-picture 3 --err 'is called a picture' -- "$addp" detect --model "$work/detector" --out "$work/x" "$work/mixed/b.png"
check segment-scale 2 --err 'outside' -- "$addp" segment --model "$work/segmenter" --out "$work/x" --scales 0 "$shown"
"$addp" segment --model "$work/segmenter" --out "$work/stopped" shapes:size=32,count=100000 >/dev/null 2>"$work/err" &
pid=$!
for _ in $(seq 400); do [ -n "$(find "$work/stopped" -name '*-labels.png' 2>/dev/null | head -1)" ] && break; sleep 0.05; done
kill -INT $pid
check segment-interrupted 130 -- wait $pid
check detect-results 0 --out '^\[' -- cat "$work/detected/results.json"
coco='{"images":[{"id":42,"file_name":"NAME","width":8,"height":8}],"annotations":[],"categories":[{"id":1,"name":"x"}]}'
echo "${coco/NAME/$(basename "$shown")}" >"$work/ids.json"
check detect-ids 0 --out '"image_id": 42' -- "$addp" detect --json --model "$work/detector" --annotations "$work/ids.json" --out "$work/detected" "$shown"
echo "${coco/NAME/another.png}" >"$work/ids.json"
check detect-ids-unknown 3 --err 'says nothing of the picture' -- "$addp" detect --model "$work/detector" --annotations "$work/ids.json" --out "$work/detected" "$shown"
check train-detector-only 2 --err "COCO's annotations only" -- "$addp" train detector --config configs/detector/tiny.toml "${tiny[@]}" --only circle --out "$work/x"
check wrong-kind 3 --err 'is no detector' -- "$addp" detect --model "$work/segmenter" --out "$work/x" "$shown"

check doctor-nothing 2 --err 'needs to know what' -- "$addp" doctor
check threads-spin-briefly 0 --err "GOMP_SPINCOUNT = '1000'" -- \
  env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=verbose "$addp" doctor --preset nano
check threads-spin-as-told 0 --err "GOMP_SPINCOUNT = '7'" -- \
  env -u OMP_WAIT_POLICY GOMP_SPINCOUNT=7 OMP_DISPLAY_ENV=verbose "$addp" doctor --preset nano
check doctor-missing 3 --err 'nowhere: there is no such' -- "$addp" doctor "$work/nowhere"
check doctor-shapes 0 --out '"kind": "dataset"' -- "$addp" doctor shapes:count=8 --json
printf 'garbage' >"$work/model.pth"
check doctor-garbage 3 --err 'model.pth' -- "$addp" doctor "$work/model.pth"
check convert-garbage 3 --err 'model.pth' -- "$addp" convert "$work/model.pth" "$work/out.safetensors"
check convert-one-path 2 --err 'two paths' -- "$addp" convert "$work/model.pth"
for fixture in "${ADDP_FIXTURES:-../shared/fixtures}"/addp tests/fixtures/addp-mini; do
  [ -d "$fixture" ] || continue
  check doctor-tokenizer 0 --out '"kind": "tokenizer"' -- "$addp" doctor --json "$fixture/vqgan.ckpt"
  check doctor-predictor 0 --out '"kind": "predictor"' -- "$addp" doctor --json "$fixture/mage.pth"
  check doctor-addp 0 --out '"kind": "addp"' -- "$addp" doctor --json "$fixture/addp.pth"
  check doctor-classifier 0 --out '"kind": "classifier"' -- "$addp" doctor --json "$fixture/classifier.pth"
  check convert-there 0 --out 'addp' -- "$addp" convert "$fixture/addp.pth" "$work/addp.safetensors"
  check doctor-ours 0 --out '"kind": "addp"' -- "$addp" doctor --json "$work/addp.safetensors"
  check generate-converted 0 --out '1 pictures' -- "$addp" generate --model "$work/addp.safetensors" --tokenizer "$fixture/vqgan.ckpt" -n 1 --steps 2 --out "$work/converted"
  check convert-tokenizer 0 -- "$addp" convert "$fixture/vqgan.ckpt" "$work/vqgan.safetensors"
  check generate-both-converted 0 --out '1 pictures' -- "$addp" generate --model "$work/addp.safetensors" --tokenizer "$work/vqgan.safetensors" -n 1 --steps 2 --out "$work/converted"
  check convert-classifier 0 -- "$addp" convert "$fixture/classifier.pth" "$work/classifier.safetensors"
  check classify-converted 0 --out 'probability' -- "$addp" classify --model "$work/classifier.safetensors" "$shown" --top 1
  check generate-wrong-kind 3 --err "of kind 'classifier'" -- "$addp" generate --model "$work/classifier.safetensors" --out "$work/x"
  check convert-back 0 -- "$addp" convert "$work/addp.safetensors" "$work/addp.pth"
  check doctor-back 0 --out '"kind": "addp"' -- "$addp" doctor --json "$work/addp.pth"
done
# Recognition: train for a step, then everything that works on what it wrote.
shapes=shapes:size=32,count=16,val=16,seed=1
small=(--data $shapes --size 32 --batch-size 8 --steps 1 --threads 1 --workers 1 --preset nano --patch 8)
check classifier-help 0 --out '--layer-decay X' -- "$addp" train classifier --help
check train-classifier 0 --out '"top1"' -- "$addp" train classifier "${small[@]}" --out "$work/classifier" --json
check train-probe 0 --out '^knn: ' -- "$addp" train probe --data $shapes --size 32 --batch-size 8 --steps 1 --model "$work/classifier" --feature-views 1 --out "$work/probe" --threads 1 --workers 1
check classifier-no-length 2 --err 'how long' -- "$addp" train classifier --data $shapes --size 32 --preset nano --patch 8 --out "$work/y"
check model-takes-pixels 2 --err 'takes pixels' -- "$addp" train classifier "${small[@]}" --model "$work/classifier" --input tokens --out "$work/y"
check classifier-bad-size 2 --err 'another --size' -- "$addp" train classifier "${small[@]}" --size 33 --out "$work/y"
check tokens-need-tokenizer 2 --err 'needs a --tokenizer' -- "$addp" train classifier "${small[@]}" --input tokens --out "$work/y"
check eval-classification 0 --out '^top-1 .* of 16 pictures' -- "$addp" eval classification --model "$work/classifier" --data $shapes --confusion "$work/confusion.png"
check confusion-picture 0 -- test -s "$work/confusion.png"
check confusion-record 0 --out '^confusion = ".*/confusion.png"' -- cat "$work/confusion.png.config.toml"
check eval-probe 0 --out '"top5"' -- "$addp" eval classification --model "$work/probe" --data $shapes --json
check eval-robustness 0 --out '"mean_corruption_error_alexnet"' -- "$addp" eval robustness --model "$work/classifier" --data $shapes --limit 4 --corruptions fog,jpeg_compression --shifted drawn=shapes --examples "$work/corrupted.png" --json
check robustness-record 0 --out '^corruptions = \["fog", "jpeg_compression"\]' -- cat "$work/corrupted.png.config.toml"
check robustness-examples 2 --err 'comes from --data' -- "$addp" eval robustness --model "$work/classifier" --shifted drawn=shapes --examples "$work/x.png"
check robustness-nothing 2 --err 'what to look at' -- "$addp" eval robustness --model "$work/classifier"
check robustness-name 2 --err "did you mean 'fog'" -- "$addp" eval robustness --model "$work/classifier" --data $shapes --corruptions fgo
for severity in 1 2 3 4 5; do
  for kind in ring star; do
    mkdir -p "$work/imagenet-c/fog/$severity/$kind"
    cp "$shown" "$work/imagenet-c/fog/$severity/$kind/a.png"
  done
done
check robustness-files 0 --out '"fog"' -- "$addp" eval robustness --model "$work/classifier" --imagenet-c "$work/imagenet-c" --corruptions fog --json
check robustness-files-missing 3 --err 'snow/1: there is no such folder; --corruptions' -- "$addp" eval robustness --model "$work/classifier" --imagenet-c "$work/imagenet-c" --corruptions fog,snow
check classify 0 --out '"probability"' -- "$addp" classify --model "$work/classifier" "$work/confusion.png" --top 2 --json
check classify-missing 3 --err 'nowhere.png' -- "$addp" classify --model "$work/classifier" "$work/nowhere.png"
check classify-wrong-kind 3 --err 'confusion.png' -- "$addp" classify --model "$work/confusion.png" "$work/confusion.png"
check features 0 --out '"width": 128' -- "$addp" features --model "$work/classifier" --data $shapes --out "$work/f.safetensors" --json
check features-record 0 --out '^# .* features ' -- cat "$work/f.safetensors.config.toml"
check features-npy 0 --out '16 features' -- "$addp" features --model "$work/classifier" --data $shapes --split val --out "$work/f.npy"
check features-name 2 --err 'ends in' -- "$addp" features --model "$work/classifier" --data $shapes --out "$work/f.txt"

ops=${ADDP_FIXTURES:-../shared/fixtures}/ops
[ -f "$ops/coco_gt.json" ] || ops=tests/fixtures/ops
check eval-detection 0 --out '^\{"bbox":\[.*\],"counts":\{.*\},"segm":\[.*\]\}$' -- "$addp" eval detection --annotations "$ops/coco_gt.json" --detections "$ops/coco_dets.json" --json
printf '{"images":[{"id":1,"width":8,"height":8,"file_name":"a"}],"categories":[{"id":1,"name":"x"}],"annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[1,1,4,4],"area":16,"iscrowd":0}]}' >"$work/truth.json"
printf '[{"image_id":1,"category_id":1,"bbox":[1,1,4,4],"score":0.9}]' >"$work/found.json"
printf '{"images":[{"id":1,"width":8,"height":8,"file_name":"a"}],"categories":[{"id":1,"name":"x"}],"annotations":[{"id":7,"image_id":1,"category_id":5,"bbox":[1,1,4,4],"area":16}]}' >"$work/odd.json"
check eval-detection-odd 3 --err 'annotation 7: has category 5' -- "$addp" eval detection --annotations "$work/odd.json" --detections "$work/found.json"
printf '[{"image_id":1,"category_id":777,"bbox":[1,1,4,4],"score":0.9}]' >"$work/unknown.json"
check eval-detection-unknown 0 --err '1 of 1 detections' -- "$addp" eval detection --annotations "$work/truth.json" --detections "$work/unknown.json"
check eval-detection-only 2 --err "has no class 'y'" -- "$addp" eval detection --annotations "$work/truth.json" --detections "$work/found.json" --only y
check eval-detection-only-one 0 --out '"bbox":\[(1\.0|0\.9999)' -- "$addp" eval detection --annotations "$work/truth.json" --detections "$work/found.json" --only x --json
printf '[]' >"$work/none.json"
check eval-detection-none 0 --out '"segm":\[' -- "$addp" eval detection --annotations "$work/truth.json" --detections "$work/none.json" --json
check eval-detection-boxes 0 --out '^\{"bbox":\[(1\.0|0\.9999)[^]]*\],"counts":\{"accuracy":1\.0,"found":1,.*\}\}$' -- "$addp" eval detection --annotations "$work/truth.json" --detections "$work/found.json" --json
mkdir -p "$work/labels"
check eval-segmentation-empty 3 --err 'no label maps' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/labels"
mkdir -p "$work/predicted"
base64 -d >"$work/labels/a.png" <<<iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNgYGRg/A8AAQsBAttOvMAAAAAASUVORK5CYII=
check eval-segmentation-missing 3 --err 'holds no label maps|has no prediction' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/predicted"
base64 -d >"$work/predicted/a.png" <<<iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNgYGRgYAAAAAoAAqIVLk4AAAAASUVORK5CYII=
check eval-segmentation 0 --out '^mIoU 50.00 %, mAcc 75.00 %, pixel accuracy 66.67 %' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/predicted" --confusion "$work/s.png"
check segmentation-record 0 --out '^confusion = ".*/s.png"' -- cat "$work/s.png.config.toml"
check eval-segmentation-names 3 --err 'labels/a.png: has label' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/predicted" --num-classes 1
check eval-segmentation-from-one 0 --out '^mIoU' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/predicted" --zero-label ignore
check eval-segmentation-json 0 --out '"miou": 0.5' -- "$addp" eval segmentation --labels "$work/labels" --predictions "$work/predicted" --json

if [ -w /dev/full ]; then
  check full-stdout 1 --err 'could not be written' -- bash -c "'$addp' --help >/dev/full"
else
  skip full-stdout 'needs file /dev/full'
fi

finish
