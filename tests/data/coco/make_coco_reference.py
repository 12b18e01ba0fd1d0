"""Writes coco_reference.json: what pycocotools answers about masks.

    python -m venv env && env/bin/pip install pycocotools
    env/bin/python tests/data/make_coco_reference.py
"""
import json
import pathlib
import random

import numpy
from pycocotools import mask


def outline(rng, width, height):
    """A random outline: convex-ish blobs, spikes, corners outside the picture, doubled corners."""
    cx, cy = rng.uniform(-0.1, 1.1) * width, rng.uniform(-0.1, 1.1) * height
    reach = rng.choice([0.02, 0.2, 0.6]) * max(width, height)
    corners = []
    for _ in range(rng.randint(3, 14)):
        x, y = cx + rng.uniform(-reach, reach), cy + rng.uniform(-reach, reach)
        digits = rng.choice([0, 1, 2, 6])
        corners += [round(x, digits), round(y, digits)]
        if rng.random() < 0.1:
            corners += corners[-2:]
    return corners


def text(rle):
    return rle["counts"].decode()


def polygons(rng):
    cases = []
    for _ in range(60):
        width, height = rng.randint(1, 90), rng.randint(1, 90)
        parts = [outline(rng, width, height) for _ in range(rng.choice([1, 1, 2, 4]))]
        rle = mask.merge(mask.frPyObjects(parts, height, width))
        cases.append({"width": width, "height": height, "polygons": parts, "counts": text(rle),
                      "area": int(mask.area(rle)), "box": mask.toBbox(rle).tolist()})
    return cases


def boxes(rng):
    cases = []
    for _ in range(12):
        width, height = rng.randint(5, 60), rng.randint(5, 60)
        box = [round(rng.uniform(0, width / 2), 2), round(rng.uniform(0, height / 2), 2),
               round(rng.uniform(1, width / 2), 2), round(rng.uniform(1, height / 2), 2)]
        rle = mask.frPyObjects(numpy.array([box]), height, width)[0]
        cases.append({"width": width, "height": height, "rectangle": box, "counts": text(rle)})
    return cases


def overlaps(rng):
    width, height = 60, 45
    made = [mask.merge(mask.frPyObjects([outline(rng, width, height)], height, width)) for _ in range(12)]
    noise = numpy.random.default_rng(1).integers(0, 2, (height, width, 2), dtype=numpy.uint8)
    made += mask.encode(numpy.asfortranarray(noise))
    crowd = [i % 3 == 0 for i in range(len(made))]
    rectangles = [[round(rng.uniform(0, 40), 2), round(rng.uniform(0, 30), 2), round(rng.uniform(0, 20), 2),
                   round(rng.uniform(0, 20), 2)] for _ in range(10)]
    box_crowd = [i % 2 == 1 for i in range(len(rectangles))]
    return {
        "width": width, "height": height, "masks": [text(m) for m in made], "crowd": crowd,
        "iou": mask.iou(made, made, crowd).tolist(),
        "union": text(mask.merge(made)), "intersection": text(mask.merge(made[-2:], intersect=True)),
        "rectangles": rectangles, "rectangle_crowd": box_crowd,
        "rectangle_iou": mask.iou(numpy.array(rectangles), numpy.array(rectangles), box_crowd).tolist(),
    }


def main():
    rng = random.Random(7)
    answers = {"polygons": polygons(rng), "boxes": boxes(rng), "overlaps": overlaps(rng)}
    target = pathlib.Path(__file__).with_name("coco_reference.json")
    target.write_text(json.dumps(answers, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
