"""Records what timm makes of the encoder that `addp convert --for timm` and `--for mae` write.

    python -m venv timm-env                       # its own environment: not part of `make test`
    timm-env/bin/pip install --no-deps timm==1.0.30 torchvision==0.28.0 pillow pyyaml huggingface_hub
    timm-env/bin/pip install torch==2.13.0 safetensors
    addp convert tests/fixtures/addp-mini/addp.pth timm.safetensors --for timm
    addp convert tests/fixtures/addp-mini/addp.pth mae.pth --for mae
    timm-env/bin/python tests/model/record_timm_features.py timm.safetensors mae.pth tests/fixtures/timm/features.safetensors

Both files are loaded strictly. The picture is a formula that the test repeats, so that it need not be stored.
"""

import json
import sys

import torch

# Only timm's own layers are used; torchvision's operators are compiled for another device than the torch here may have.
torch.library.register_fake = lambda *a, **k: lambda function: function

import timm  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

HEADS, PATCH, SIDE, WIDTH = 4, 16, 256, 32


def pixels():
    """[2, 3, 256, 256] in [-1, 1), by whole numbers."""
    index = torch.arange(2 * 3 * SIDE * SIDE)
    return ((index * 7919 % 1009).float() / 1009 * 2 - 1).view(2, 3, SIDE, SIDE)


def network(**more):
    depth = more.pop("depth")
    return timm.create_model(
        "vit_base_patch16_224", img_size=SIDE, patch_size=PATCH, embed_dim=WIDTH, depth=depth, num_heads=HEADS,
        global_pool="", num_classes=0, **more).eval()


def features(tensors, **more):
    depth = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blocks."))
    model = network(depth=depth, **more)
    model.load_state_dict(tensors, strict=True)
    shapes = {name: list(value.shape) for name, value in model.state_dict().items()}
    with torch.no_grad():
        return model(pixels()), shapes


def main(timm_file, mae_file, out):
    timm_features, timm_shapes = features(load_file(timm_file), pre_norm=True)
    mae_features, mae_shapes = features(torch.load(mae_file, weights_only=True)["model"])
    save_file(
        {"timm": timm_features.contiguous(), "mae": mae_features.contiguous()}, out,
        {"timm_version": timm.__version__, "heads": str(HEADS), "timm_shapes": json.dumps(timm_shapes),
         "mae_shapes": json.dumps(mae_shapes)})


if __name__ == "__main__":
    main(*sys.argv[1:])
