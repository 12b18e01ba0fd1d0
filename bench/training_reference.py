"""The training steps of `addp bench train` in plain PyTorch: the usual modules, torch.optim.AdamW, autocast.

  PYTHON bench/training_reference.py --stage addp --preset nano --batch 64 --seconds 10

Prints JSON with pictures_per_second. Networks have the sizes of the presets, weights and data are random.
"""

import argparse
import json
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

TRANSFORMERS = {"nano": (128, 6, 4, 128, 3, 4), "tiny": (192, 12, 3, 192, 8, 3), "small": (384, 12, 6, 384, 8, 6),
                "base": (768, 12, 12, 768, 8, 16), "large": (1024, 24, 16, 1024, 8, 16)}
LIGHT = dict(channels=32, multipliers=(1, 2, 4), blocks=2, width=16, stem=2, unit=True, groups=8)
PUBLISHED = dict(channels=128, multipliers=(1, 1, 2, 2, 4), blocks=2, width=256, stem=1, unit=False, groups=32)
CODES, SMOOTHING, DROPOUT = 1024, 0.1, 0.1


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(4 * width, width),
                                 nn.Dropout(DROPOUT))
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=DROPOUT if self.training else 0.0)
        x = x + self.drop(self.proj(a.transpose(1, 2).reshape(b, n, d)))
        return x + self.mlp(self.norm2(x))


class Head(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.fc, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(rows))

    def forward(self, x, words):
        return self.norm(F.gelu(self.fc(x))) @ words.t() + self.bias


class Mage(nn.Module):
    def __init__(self, size, length):
        super().__init__()
        width, depth, heads, decoder_width, decoder_depth, decoder_heads = size
        self.rows = CODES + 2
        self.words, self.positions = nn.Embedding(self.rows, width), nn.Parameter(torch.randn(1, length + 1, width) * 0.02)
        self.norm0, self.norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(decoder_width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.embed = nn.Linear(width, decoder_width)
        self.decoder_positions = nn.Parameter(torch.randn(1, length + 1, decoder_width) * 0.02)
        self.decoder = nn.Sequential(*[Block(decoder_width, decoder_heads) for _ in range(decoder_depth)])
        self.head, self.drop = Head(decoder_width, self.rows), nn.Dropout(DROPOUT)

    def features(self, tokens, masked, kept=None):
        ids = F.pad(tokens.masked_fill(masked, CODES + 1), (1, 0), value=CODES)
        x = self.drop(self.norm0(self.words(ids) + self.positions))
        if kept is not None:
            x = x.gather(1, kept[..., None].expand(-1, -1, x.shape[2]))
        x = self.embed(self.norm(self.blocks(x)))
        summary = x[:, :1]
        full = x
        if kept is not None:
            full = summary.expand(-1, tokens.shape[1] + 1, -1).scatter(1, kept[..., None].expand(-1, -1, x.shape[2]), x)
        hidden = F.pad(masked, (1, 0), value=False)[..., None]
        return self.decoder_norm(self.decoder(torch.where(hidden, summary, full) + self.decoder_positions))[:, 1:]

    def logits(self, x):
        return self.head(x, self.words.weight)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, groups):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(math.gcd(groups, inputs), inputs), nn.GroupNorm(math.gcd(groups, outputs), outputs)
        self.conv1, self.conv2 = (nn.Conv2d(i, outputs, 3, padding=1, bias=False) for i in (inputs, outputs))
        self.short = nn.Conv2d(inputs, outputs, 1, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return self.short(x) + self.conv2(F.silu(self.norm2(self.conv1(F.silu(self.norm1(x))))))


class Vqgan(nn.Module):
    def __init__(self, channels, multipliers, blocks, width, stem, unit, groups):
        super().__init__()
        self.unit = unit
        kernel = 3 if stem == 1 else 2 * stem
        encoder, now = [nn.Conv2d(3, channels, kernel, stem, (kernel - stem + 1) // 2, bias=False)], channels
        for i, m in enumerate(multipliers):
            if i:
                encoder.append(nn.AvgPool2d(2))
            for _ in range(blocks):
                encoder.append(Residual(now, channels * m, groups))
                now = channels * m
        encoder += [Residual(now, now, groups), Residual(now, now, groups), nn.GroupNorm(groups, now), nn.SiLU(),
                    nn.Conv2d(now, width, 1)]
        decoder = [nn.Conv2d(width, now, 3, padding=1), Residual(now, now, groups), Residual(now, now, groups)]
        for i, m in reversed(list(enumerate(multipliers))):
            for _ in range(blocks):
                decoder.append(Residual(now, channels * m, groups))
                now = channels * m
            if i:
                decoder += [nn.Upsample(scale_factor=2), nn.Conv2d(now, now, 3, padding=1)]
        decoder += [nn.GroupNorm(math.gcd(groups, now), now), nn.SiLU(), nn.Conv2d(now, 3 * stem * stem, 3, padding=1),
                    nn.PixelShuffle(stem)]
        self.encoder, self.decoder = nn.Sequential(*encoder), nn.Sequential(*decoder)
        self.codes = nn.Embedding(CODES, width)

    def book(self):
        return F.normalize(self.codes.weight, dim=1) if self.unit else self.codes.weight

    def forward(self, pixels):
        z = self.encoder(pixels.contiguous(memory_format=torch.channels_last)).float()
        if self.unit:
            z = F.normalize(z, dim=1)
        rows, book = z.permute(0, 2, 3, 1).reshape(-1, z.shape[1]), self.book()
        ids = (book.detach().square().sum(1) - 2 * rows.detach() @ book.detach().t()).argmin(1)
        q = book[ids].view(z.shape[0], z.shape[2], z.shape[3], -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return self.decoder(z + (q - z).detach()).float(), loss


class Addp(nn.Module):
    def __init__(self, size, length, patch):
        super().__init__()
        width, depth, heads, decoder_width, decoder_depth, decoder_heads = size
        self.rows = CODES + 2
        self.patch, self.cls = nn.Conv2d(3, width, patch, patch), nn.Parameter(torch.zeros(1, 1, width))
        self.positions, self.norm0, self.norm = nn.Parameter(torch.randn(1, length + 1, width) * 0.02), nn.LayerNorm(width), nn.LayerNorm(width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.embed, self.mask = nn.Linear(width, decoder_width), nn.Parameter(torch.zeros(1, 1, decoder_width))
        self.pixel_positions, self.mask_positions, self.token_positions = (
            nn.Parameter(torch.randn(1, length + 1, decoder_width) * 0.02) for _ in range(3))
        self.words = nn.Embedding(self.rows, decoder_width)
        self.decoder = nn.Sequential(*[Block(decoder_width, decoder_heads) for _ in range(decoder_depth)])
        self.decoder_norm, self.head = nn.LayerNorm(decoder_width), Head(decoder_width, self.rows)

    def forward(self, pixels, tokens, masked):
        x = torch.cat([self.cls.expand(pixels.shape[0], -1, -1), self.patch(pixels).flatten(2).transpose(1, 2)], 1)
        x = self.embed(self.norm(self.blocks(self.norm0(x + self.positions))))
        hidden = F.pad(masked, (1, 0), value=True)[..., None]
        place = F.pad(masked, (1, 0), value=False)[..., None]
        x = torch.where(hidden, self.mask, x) + torch.where(place, self.mask_positions, self.pixel_positions)
        reliable = (~masked).nonzero()[:, 1].view(tokens.shape[0], -1)
        rows = self.words(tokens.gather(1, reliable)) + self.token_positions.expand(tokens.shape[0], -1, -1).gather(
            1, (reliable + 1)[..., None].expand(-1, -1, x.shape[2]))
        x = self.decoder_norm(self.decoder(torch.cat([x, rows], 1)))
        return self.head(x[:, 1:1 + tokens.shape[1]], self.words.weight)


def masks_of(batch, length, ratio):
    order = torch.rand(batch, length).argsort(1)
    masked = torch.zeros(batch, length, dtype=torch.bool)
    masked.scatter_(1, order[:, :math.ceil(ratio * length)], True)
    return masked, order


class Bench:
    def __init__(self, args):
        light = args.preset == "nano"
        self.args, side = args, 8 if light else 16
        self.length, factor = side * side, 8 if light else 16
        size = TRANSFORMERS[args.preset]
        self.vqgan = Vqgan(**(LIGHT if light else PUBLISHED)).to(memory_format=torch.channels_last)
        self.mage, self.addp = Mage(size, self.length), Addp(size, self.length, factor)
        self.tokens = torch.randint(CODES, (args.batch, self.length))
        self.pixels = torch.rand(args.batch, 3, side * factor, side * factor)
        self.side = side
        self.net = {"tokenizer": self.vqgan, "predictor": self.mage, "addp": self.addp}[args.stage]
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.05, fused=True)

    def loss(self):
        if self.args.stage == "tokenizer":
            made, loss = self.vqgan(self.pixels)
            return (made - self.pixels).abs().mean() + loss
        ratio = 0.5 + 0.5 * abs(torch.randn(()).item() * 0.25) % 0.5
        masked, order = masks_of(self.args.batch, self.length, ratio)
        if self.args.stage == "predictor":
            kept = F.pad(order[:, self.length // 2:].sort(1).values + 1, (1, 0))
            logits = self.mage.logits(self.mage.features(self.tokens, masked, kept)[masked])
            return F.cross_entropy(logits.float(), self.tokens[masked], label_smoothing=SMOOTHING)
        with torch.no_grad():
            self.mage.eval(), self.vqgan.eval()
            both = self.mage.logits(self.mage.features(self.tokens.repeat(2, 1), masked.repeat(2, 1)))[..., :CODES]
            target, unreliable = both.float().softmax(-1).chunk(2)
            book = self.vqgan.book()
            cells = torch.where(masked[..., None], unreliable @ book, book[self.tokens])
            x_t = self.vqgan.decoder(cells.transpose(1, 2).reshape(self.args.batch, -1, self.side, self.side)).clamp(0, 1)
        logits = self.addp((x_t - 0.45) / 0.23, self.tokens, masked)[masked].float()
        soft = F.pad(target[masked], (0, logits.shape[1] - CODES)) * (1 - SMOOTHING) + SMOOTHING / logits.shape[1]
        return -(soft * logits.log_softmax(-1)).sum(-1).mean()

    def step(self):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.args.precision == "bf16"):
            loss = self.loss()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 3.0)
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", choices=["tokenizer", "predictor", "addp"], default="addp")
    parser.add_argument("--preset", choices=list(TRANSFORMERS), default="nano")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    bench = Bench(args)
    bench.step(), bench.step()
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < args.seconds or steps < 3:
        bench.step()
        steps += 1
    print(json.dumps({"pictures_per_second": steps * args.batch / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main()
