"""What Python's torch and safetensors say about checkpoint files.

    reference.py make FOLDER [IN OUT]...  files with everything that a reader has to survive, each with its
                                          dump, and the dumps of the files IN
    reference.py strict [IN OUT]...       dumps through torch.load(weights_only=True) or safetensors only

The dump of a file: OUT.json (names, types, shapes) and OUT.bin (the tensors' bytes, by name). One process
does many files, because importing torch takes longer than the rest.
"""
import argparse
import collections
import json
import os
import pathlib
import pickle
import sys
import zipfile

import torch


def state_dict(content):
    for key in ("model", "state_dict", "model_state_dict"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            return key, content[key]
    return "", content


def names(dtype):
    table = {torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16",
             torch.uint16: "U16", torch.int32: "I32", torch.uint32: "U32", torch.int64: "I64",
             torch.uint64: "U64", torch.float16: "F16", torch.bfloat16: "BF16",
             torch.float32: "F32", torch.float64: "F64"}
    return table[dtype]


def write_dump(root, tensors, extra, out):
    index = {"root": root, "extra": extra, "tensors": {}}
    with open(out + ".bin", "wb") as data:
        for name in sorted(tensors, key=lambda n: n.encode()):
            tensor = tensors[name].detach().cpu().contiguous()
            index["tensors"][name] = {"dtype": names(tensor.dtype), "shape": list(tensor.shape)}
            if tensor.numel():
                data.write(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    with open(out + ".json", "w") as text:
        json.dump(index, text)


def dump(path, out, strict):
    if path.endswith(".safetensors"):
        from safetensors import safe_open
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
            return write_dump("", tensors, file.metadata() or {}, out)
    content = torch.load(path, map_location="cpu", weights_only=strict)
    root, tensors = state_dict(content)
    extra = {k: v for k, v in content.items()
             if root and k != root and isinstance(v, (int, float, str, list, dict)) and k != "optimizer"}
    tensors = {k: v for k, v in tensors.items() if isinstance(v, torch.Tensor)}
    write_dump(root, tensors, extra if strict else {}, out)


class Unknown:
    """A class that the reader has never heard of."""

    def __init__(self):
        self.rate, self.history = 0.5, [1, 2.5, None]


def odd(folder):
    torch.manual_seed(0)
    base = torch.randn(6, 8)
    tied = torch.nn.Parameter(torch.randn(4, 4))
    files = {
        "types": {str(t).split(".")[1]: torch.arange(7).to(t) for t in
                  (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
                   torch.bfloat16, torch.float32, torch.float64, torch.bool)},
        "unsigned": {str(t).split(".")[1]: torch.arange(7).to(t) for t in
                     (torch.uint16, torch.uint32, torch.uint64)},
        "strides": {"whole": base, "transposed": base.t(), "slice": base[1:5:2, 3:], "row": base[5],
                    "expanded": base[:, :1].expand(6, 5), "scalar": base[2, 3],
                    "permuted": torch.randn(2, 3, 4).permute(2, 0, 1),
                    "empty": torch.zeros(3, 0, 2), "empty_slice": base[6:]},
        "parameters": {"state_dict": collections.OrderedDict(tied=tied, again=tied, part=tied[1:])},
        "nested": {"model": torch.nn.Linear(3, 2).state_dict(), "epoch": 12, "best": float("nan"),
                   "args": argparse.Namespace(lr=1e-3, betas=(0.9, 0.95), name="ü", out=pathlib.Path("a/b"),
                                              big=2 ** 80, none=None, tags={"x"}),
                   "device": torch.device("cpu"), "size": torch.Size([2, 3]), "type": torch.float16,
                   "other": Unknown()},
    }
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    files["optimizer"] = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    loop = {"model": model.state_dict()}
    loop["itself"] = [loop]
    files["circle"] = loop
    for name, content in files.items():
        for suffix, zipped in ((".pth", True), ("-legacy.pth", False)):
            if name == "unsigned" and not zipped:
                continue  # torch itself cannot load what it writes there
            path = os.path.join(folder, name + suffix)
            torch.save(content, path, _use_new_zipfile_serialization=zipped)
            dump(path, path, False)
    script = os.path.join(folder, "script.pt")
    layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4)).eval()
    torch.jit.trace(layers, torch.ones(1, 3, 2, 2)).save(script)
    write_dump("", layers.state_dict(), {}, script)
    deflate(os.path.join(folder, "nested.pth"), os.path.join(folder, "deflated.pth"))
    torch.serialization.set_crc32_options(False)
    torch.save(files["strides"], os.path.join(folder, "unchecked.pth"))
    for name in ("deflated.pth", "unchecked.pth"):
        source = "nested.pth" if name == "deflated.pth" else "strides.pth"
        for end in (".json", ".bin"):
            content = open(os.path.join(folder, source + end), "rb").read()
            open(os.path.join(folder, name + end), "wb").write(content)
    hostile(folder)


def deflate(source, target):
    with zipfile.ZipFile(source) as old, \
            zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            with new.open(zipfile.ZipInfo(info.filename), "w", force_zip64=True) as record:
                record.write(old.read(info))


class Attack:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


def hostile(folder):
    os.makedirs(os.path.join(folder, "hostile"))
    mark = os.path.join(folder, "executed")
    attacks = {"system": Attack(os.system, "touch " + mark), "eval": Attack(eval, f"open('{mark}', 'w')"),
               "open": Attack(open, mark, "w"), "popen": Attack(__import__("subprocess").Popen, ["touch", mark])}
    for name, attack in attacks.items():
        content = {"model": {"weight": torch.ones(2)}, "epoch": attack}
        torch.save(content, os.path.join(folder, "hostile", name + ".pth"))
        torch.save(content, os.path.join(folder, "hostile", name + "-legacy.pth"),
                   _use_new_zipfile_serialization=False)
    with open(os.path.join(folder, "hostile", "plain.pth"), "wb") as file:
        pickle.dump({"a": 1}, file)


if __name__ == "__main__":
    pairs = sys.argv[3:] if sys.argv[1] == "make" else sys.argv[2:]
    for source, out in zip(pairs[::2], pairs[1::2]):
        dump(source, out, sys.argv[1] == "strict")
    if sys.argv[1] == "make":
        odd(sys.argv[2])
