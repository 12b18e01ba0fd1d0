"""The work of `addp bench images` with Pillow: decode, random-resized-crop, flip.

torchvision's PIL path is Pillow underneath, so its RandomResizedCrop is written out here:
  crop   decode the picture, cut the crop, resize it with antialiasing (what torchvision does)
  draft  let Pillow's JPEG reader reduce the scale where the crop allows, then resize with a box
each with a pool of processes and with a pool of threads (Pillow releases the interpreter lock).
Prints JSON with every variant and the best of them.

  python3 -m venv venv && venv/bin/pip install pillow
  venv/bin/python bench/images_reference.py FOLDER_OR_TAR --workers 2
"""

import argparse
import io
import json
import math
import multiprocessing
import os
import random
import tarfile
import threading
import time
import zipfile

from PIL import Image

EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp")
FILTERS = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}


def is_picture(name):
    return name.lower().endswith(EXTENSIONS)


def read_files(path):
    if os.path.isdir(path):
        names = sorted(os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if is_picture(f))
        return [open(name, "rb").read() for name in names]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return [archive.read(n) for n in sorted(archive.namelist()) if is_picture(n)]
    with tarfile.open(path) as archive:
        return [archive.extractfile(m).read() for m in archive if m.isfile() and is_picture(m.name)]


def crop_box(width, height, min_area, rng):
    """torchvision.transforms.RandomResizedCrop.get_params with ratio (3/4, 4/3)."""
    area = width * height
    low, high = math.log(3 / 4), math.log(4 / 3)
    for _ in range(10):
        target = area * rng.uniform(min_area, 1.0)
        aspect = math.exp(rng.uniform(low, high))
        w, h = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < w <= width and 0 < h <= height:
            top, left = rng.randint(0, height - h), rng.randint(0, width - w)
            return left, top, left + w, top + h
    w, h = width, height
    if width / height < 3 / 4:
        h = round(w / (3 / 4))
    elif width / height > 4 / 3:
        w = round(h * (4 / 3))
    left, top = (width - w) // 2, (height - h) // 2
    return left, top, left + w, top + h


def by_crop(data, args, rng):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    box = crop_box(image.width, image.height, args.min_area, rng)
    return image.crop(box).resize((args.size, args.size), FILTERS[args.filter])


def by_draft(data, args, rng):
    image = Image.open(io.BytesIO(data))
    width, height = image.size
    box = crop_box(width, height, args.min_area, rng)
    w, h = box[2] - box[0], box[3] - box[1]
    scale = min(w, h) / args.size
    if scale >= 2:
        image.draft("RGB", (int(width / scale), int(height / scale)))
    image = image.convert("RGB")
    sx, sy = image.width / width, image.height / height
    scaled = (box[0] * sx, box[1] * sy, box[2] * sx, box[3] * sy)
    return image.resize((args.size, args.size), FILTERS[args.filter], box=scaled)


def loop(files, worker, args, work, count, barrier):
    rng = random.Random(worker)
    done, item = 0, worker
    barrier.wait()
    end = time.perf_counter() + args.seconds
    while time.perf_counter() < end:
        image = work(files[item % len(files)], args, rng)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        done += 1
        item += args.workers
    count[worker] = done


def measure(files, args, work, pool):
    if pool == "processes":
        context = multiprocessing.get_context("fork")
        count, barrier = context.Array("q", args.workers), context.Barrier(args.workers)
        make = context.Process
    else:
        count, barrier = [0] * args.workers, threading.Barrier(args.workers)
        make = threading.Thread
    workers = [make(target=loop, args=(files, i, args, work, count, barrier)) for i in range(args.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(count) / args.seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--min-area", type=float, default=0.2)
    parser.add_argument("--filter", choices=sorted(FILTERS), default="bicubic")
    args = parser.parse_args()
    files = read_files(args.data)
    variants = []
    for name, work in (("crop", by_crop), ("draft", by_draft)):
        for pool in ("processes", "threads"):
            rate = measure(files, args, work, pool)
            variants.append({"variant": f"{name}, {pool}", "pictures_per_second": rate})
    best = max(variants, key=lambda v: v["pictures_per_second"])
    print(json.dumps({"files": len(files), "workers": args.workers, "variants": variants, "best": best}))


if __name__ == "__main__":
    main()
