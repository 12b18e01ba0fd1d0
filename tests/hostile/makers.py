"""Input makers: each writes one hostile (or plain) input below a folder. Cases name them with their arguments."""
import io
import json
import os
import random
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

MAKERS = {}


def maker(function):
    MAKERS[function.__name__] = function
    return function


def make(work, steps):
    """Runs the steps [[maker, argument, ...], ...] in a folder."""
    for name, *arguments in steps:
        MAKERS[name](Path(work), *arguments)


def place(work, name):
    # Names may hold bytes that are no UTF-8, written as \xNN.
    path = os.fsencode(str(work)) + b"/" + name.encode("utf-8").decode("unicode_escape").encode("latin-1")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def write(work, name, content):
    with open(place(work, name), "wb") as file:
        file.write(content)


# --- pictures


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_bytes(width, height, depth=8, colour=2, rows=None, claimed=None):
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    line = (width * samples * depth + 7) // 8
    if rows is None:
        numbers = random.Random(width * 31 + height)
        rows = b"".join(b"\0" + bytes(numbers.randrange(256) for _ in range(line)) for _ in range(height))
    shown = claimed or (width, height)
    header = struct.pack(">IIBBBBB", shown[0], shown[1], depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


@maker
def png(work, name, width=32, height=32, depth=8, colour=2):
    write(work, name, png_bytes(width, height, depth, colour))


@maker
def flat_png(work, name, width, height):
    """One colour, so that even a huge one is a small file."""
    packer = zlib.compressobj(1)
    line = b"\0" + b"\x80" * (3 * width)
    data = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    write(work, name, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


@maker
def claimed_png(work, name, width, height):
    """A header that promises far more than there is."""
    write(work, name, png_bytes(4, 4, claimed=(width, height)))


@maker
def cut_png(work, name, keep=0.5):
    content = png_bytes(32, 32)
    write(work, name, content[: max(20, int(len(content) * keep))])


@maker
def pictures(work, folder, count, width=32, height=32):
    for i in range(count):
        write(work, f"{folder}/{i:03}.png", png_bytes(width + i % 2, height))


@maker
def classes(work, folder, names, each=3):
    for name in names:
        for i in range(each):
            write(work, f"{folder}/{name}/{i}.png", png_bytes(32 + i, 32))


@maker
def label_map(work, name, width=32, height=32, value=1):
    write(work, name, png_bytes(width, height, colour=0, rows=(b"\0" + bytes([value]) * width) * height))


@maker
def noise(work, name, size, seed=0, head=""):
    write(work, name, head.encode("latin-1") + random.Random(seed).randbytes(size))


# --- texts and plain files


@maker
def text(work, name, content, times=1, head=""):
    write(work, name, (head + content * times).encode("utf-8", "surrogateescape"))


@maker
def raw(work, name, content):
    write(work, name, content.encode("latin-1"))


@maker
def folder(work, name):
    os.makedirs(place(work, name + "/x")[:-2], exist_ok=True)


@maker
def pipe(work, name):
    os.mkfifo(place(work, name))


@maker
def link(work, name, target):
    os.symlink(target, place(work, name))


@maker
def copy(work, source, name):
    import shutil

    target = place(work, name)
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


@maker
def deep_toml(work, name, parts):
    write(work, name, b".".join([b"a"] * parts) + b" = 1\n")


@maker
def deep_json(work, name, depth):
    write(work, name, b'{"images":' + b"[" * depth + b"]" * depth + b"}")


# --- archives


@maker
def tar(work, name, members):
    with tarfile.open(place(work, name).decode(), "w") as archive:
        for member, content in members:
            data = png_bytes(16, 16) if content == "png" else content.encode()
            entry = tarfile.TarInfo(member)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


@maker
def zip_bomb(work, name, size):
    with zipfile.ZipFile(place(work, name).decode(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", b"\0" * size)


@maker
def cut(work, name, keep):
    path = place(work, name)
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content[: int(len(content) * keep)])


@maker
def flip(work, name, at, mask=0x40):
    """One bit of a file, counted from its end where `at` is negative."""
    path = place(work, name)
    with open(path, "r+b") as file:
        file.seek(at, 2 if at < 0 else 0)
        byte = file.read(1)[0]
        file.seek(at, 2 if at < 0 else 0)
        file.write(bytes([byte ^ mask]))


# --- checkpoints


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


@maker
def tensors(work, name, header):
    """A file of nothing but a header."""
    write_safetensors(place(work, name), header, b"")


@maker
def nan_model(work, source, name):
    """A model whose largest tensor is NaN."""
    header, data = read_safetensors(source)
    entries = {k: v for k, v in header.items() if k != "__metadata__" and v["dtype"] == "F32"}
    first, last = max(entries.values(), key=lambda e: e["data_offsets"][1] - e["data_offsets"][0])["data_offsets"]
    data = data[:first] + struct.pack("<f", float("nan")) * ((last - first) // 4) + data[last:]
    write_safetensors(place(work, name), header, data)


@maker
def model_config(work, source, name, changes):
    """A model that says other things about itself: {"vit": {"width": ...}} deep in its configuration."""

    def change(value, wanted):
        for key, inner in wanted.items():
            if isinstance(inner, dict) and isinstance(value.get(key), dict):
                change(value[key], inner)
            else:
                value[key] = inner

    header, data = read_safetensors(source)
    config = json.loads(header["__metadata__"]["addp.config"])
    change(config, changes)
    header["__metadata__"]["addp.config"] = json.dumps(config)
    write_safetensors(place(work, name), header, data)


@maker
def model_metadata(work, source, name, changes):
    header, data = read_safetensors(source)
    header["__metadata__"].update(changes)
    write_safetensors(place(work, name), header, data)


@maker
def without_tensor(work, source, name):
    """A model that lacks its last tensor."""
    header, data = read_safetensors(source)
    key = max((k for k in header if k != "__metadata__"), key=lambda k: header[k]["data_offsets"][0])
    data = data[: header[key]["data_offsets"][0]]
    del header[key]
    write_safetensors(place(work, name), header, data)


# --- COCO


@maker
def coco(work, name, images=2, annotations=None, categories=None, file_name="{}.png"):
    content = {
        "images": [{"id": i, "file_name": file_name.format(i), "width": 32, "height": 32} for i in range(images)],
        "annotations": annotations
        if isinstance(annotations, list)
        else [
            {"id": i, "image_id": i, "category_id": 1, "bbox": [2, 2, 8, 8], "area": 64, "iscrowd": 0}
            for i in range(images)
        ],
        "categories": categories if isinstance(categories, list) else [{"id": 1, "name": "thing"}],
    }
    write(work, name, json.dumps(content).encode())
