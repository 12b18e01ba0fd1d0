#!/usr/bin/env python3
"""Ten AdamW steps of ADDP in plain PyTorch, from the weights and the batch of a fixture folder.

    python tests/diffusion/reference_ten_steps.py tests/fixtures/addp-mini

writes ten_steps.json, with which tests/diffusion/parity_test.cpp compares. Needs torch and safetensors.
Dropout is off; the noisy picture, the masks and the predictor's distribution are the recorded ones.
"""

import argparse
import json
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
SETTINGS = {"lr": 1e-3, "betas": [0.9, 0.95], "weight_decay": 0.05, "clip": 3.0}


class Network:
    """The network as functions of a dictionary of weights."""

    def __init__(self, weights, heads, decoder_heads):
        self.w = weights
        self.heads = {"blocks": heads, "decoder_blocks": decoder_heads}

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, name, x, eps=1e-6):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], eps)

    def attention(self, name, x, heads):
        batch, length, width = x.shape
        qkv = self.linear(name + ".qkv", x).view(batch, length, 3, heads, width // heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) * (width // heads) ** -0.5).softmax(-1)
        return self.linear(name + ".proj", (weights @ v).transpose(1, 2).reshape(batch, length, width))

    def blocks(self, name, x):
        index = 0
        while f"{name}.{index}.norm1.weight" in self.w:
            at = f"{name}.{index}"
            x = x + self.attention(at + ".attn", self.norm(at + ".norm1", x), self.heads[name])
            hidden = F.gelu(self.linear(at + ".mlp.fc1", self.norm(at + ".norm2", x)))
            x = x + self.linear(at + ".mlp.fc2", hidden)
            index += 1
        return x

    def encode(self, pixels):
        weight = self.w["patch_embed.proj.weight"]
        x = (pixels.clamp(0, 1) - MEAN) / DEVIATION
        x = F.conv2d(x, weight, self.w["patch_embed.proj.bias"], stride=weight.shape[-1])
        x = x.flatten(2).transpose(1, 2)
        first = self.w["cls_token"].expand(len(x), -1, -1)
        x = torch.cat([first, x], 1) + self.w["pos_embed"]
        return self.norm("norm", self.blocks("blocks", self.norm("tokenizer_norm", x)))

    def decode(self, features, tokens, masked):
        batch = len(tokens)
        column = torch.zeros(batch, 1, dtype=torch.bool)
        hidden = torch.cat([~column, masked], 1)[..., None]
        at_mask = torch.cat([column, masked], 1)[..., None]
        x = torch.where(hidden, self.w["mask_token"], self.linear("decoder_embed", features))
        x = x + torch.where(at_mask, self.w["decoder_pos_mask_embed"], self.w["decoder_pos_embed_learned"])
        reliable = self.w["token_emb.weight"][tokens] + self.w["decoder_pos_token_embed"][:, 1:]
        reliable = reliable[~masked].view(batch, -1, x.shape[-1])
        x = self.norm("decoder_norm", self.blocks("decoder_blocks", torch.cat([x, reliable], 1)))
        h = self.norm("mlm_layer.ln", F.gelu(self.linear("mlm_layer.fc", x)), 1e-5)
        return h @ self.w["token_emb.weight"].detach().t() + self.w["mlm_layer.bias"]


def loss_of(network, step):
    masked = step["mask_t"] > 0.5
    tokens = step["z0_indices"]
    logits = network.decode(network.encode(step["x_t"]), tokens, masked)
    logits = logits[:, 1 : 1 + tokens.shape[1]].transpose(1, 2)
    target = torch.zeros_like(logits)
    target[:, : step["predictor_prob_t"].shape[1]] = step["predictor_prob_t"].flatten(2)
    losses = F.cross_entropy(logits, target, reduction="none", label_smoothing=0.1)
    return (losses * masked).sum() / masked.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--decoder-heads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path, help="default: ten_steps.json in the folder")
    options = parser.parse_args()

    step = load_file(options.folder / "train_step.safetensors")
    weights = torch.load(options.folder / "addp.pth", weights_only=False)["model"]
    for name, tensor in weights.items():
        tensor.requires_grad_(name != "decoder_pos_embed")
    trained = [tensor for tensor in weights.values() if tensor.requires_grad]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in trained if p.dim() >= 2], "weight_decay": SETTINGS["weight_decay"]},
            {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0.0},
        ],
        lr=SETTINGS["lr"],
        betas=SETTINGS["betas"],
    )
    network = Network(weights, options.heads, options.decoder_heads)
    losses = []
    for _ in range(options.steps):
        optimizer.zero_grad()
        loss = loss_of(network, step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, SETTINGS["clip"])
        optimizer.step()
        losses.append(loss.item())
    if abs(losses[0] - step["loss"].item()) > 1e-4 * losses[0]:
        raise SystemExit(f"the first loss is {losses[0]}, not {step['loss'].item()}: wrong --heads?")
    out = options.out or options.folder / "ten_steps.json"
    out.write_text(json.dumps({**SETTINGS, "losses": losses}, indent=1) + "\n")
    print(out, losses)


if __name__ == "__main__":
    main()
