# SPDX-License-Identifier: Apache-2.0
"""Writes and checks checkpoints with the packages that defined their formats.

safetensors_judge.py write FOLDER        files by safetensors, and what they hold
safetensors_judge.py check PATH EXPECTED a file or folder of ours, by safetensors
safetensors_judge.py dcp_write FOLDER    a sharded folder by torch.distributed.checkpoint
safetensors_judge.py dcp_check PATH EXPECTED

What a checkpoint holds is a folder with tensors.json, [{"name", "dtype", "shape", "file"}], and the
bytes of each tensor in a file of its own. Prints one line on success, exits with 1 otherwise.
"""
import ctypes
import json
import pathlib
import random
import sys

import safetensors

# Names of the header, those by which the package takes them, and bytes of an element.
DTYPES = {
    "BOOL": ("bool", 1), "U8": ("uint8", 1), "I8": ("int8", 1),
    "F8_E5M2": ("float8_e5m2", 1), "F8_E4M3": ("float8_e4m3fn", 1),
    "I16": ("int16", 2), "U16": ("uint16", 2), "F16": ("float16", 2), "BF16": ("bfloat16", 2),
    "I32": ("int32", 4), "U32": ("uint32", 4), "F32": ("float32", 4),
    "F64": ("float64", 8), "I64": ("int64", 8), "U64": ("uint64", 8),
    "F8_E8M0": ("float8_e8m0fnu", 1), "F8_E4M3FNUZ": ("float8_e4m3fnuz", 1),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 1), "C64": ("complex64", 8),
}  # fmt: skip


# Two elements of the header are one of the package's, along the last dim. The package reads the
# two types of six bits as well, but takes them by no name.
PAIRS = {"F4": ("float4_e2m1fn_x2", 1)}
NO_NUMPY = {"BF16", "F4", "F6_E2M3", "F6_E3M2"}


def product(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def save_expected(folder, tensors):
    folder.mkdir(parents=True)
    rows = []
    for i, (name, (dtype, shape, data)) in enumerate(sorted(tensors.items())):
        (folder / f"{i}.bin").write_bytes(data)
        rows.append({"name": name, "dtype": dtype, "shape": list(shape), "file": f"{i}.bin"})
    (folder / "tensors.json").write_text(json.dumps(rows))


def load_expected(folder):
    rows = json.loads((folder / "tensors.json").read_text())
    return {
        row["name"]: (row["dtype"], row["shape"], (folder / row["file"]).read_bytes())
        for row in rows
    }


def save_file(path, tensors, metadata):
    buffers = {name: ctypes.create_string_buffer(t[2], len(t[2]) or 1) for name, t in tensors.items()}
    specs = {}
    for name, (dtype, shape, data) in tensors.items():
        theirs = (DTYPES | PAIRS)[dtype][0]
        if dtype in PAIRS:
            shape = [*shape[:-1], shape[-1] // 2]
        if hasattr(safetensors, "TensorSpec"):
            specs[name] = safetensors.TensorSpec(
                dtype=theirs, shape=shape,
                data_ptr=ctypes.addressof(buffers[name]), data_len=len(data))  # fmt: skip
        else:
            specs[name] = {"dtype": theirs, "shape": shape, "data": data}
    safetensors.serialize_file(specs, str(path), metadata=metadata)


def write(folder):
    rng = random.Random(20240614)
    shapes = [[], [1], [7], [0], [3, 0, 2], [4, 5], [2, 3, 4], [1, 1, 1, 9]]
    kinds = {
        "every": {
            f"{dtype.lower()}.{i}": (dtype, shape)
            for dtype in DTYPES
            for i, shape in enumerate(shapes)
        },
        "pairs": {f"f4.{i}": ("F4", shape) for i, shape in enumerate([[2], [0], [3, 4], [5, 1, 6]])},
        "names": {name: ("F32", [2]) for name in ["größe", 'a"b\\c', "层.0", "x y", "~"]},
        "nothing": {},
    }
    for kind, entries in kinds.items():
        tensors = {}
        for name, (dtype, shape) in entries.items():
            size = product(shape) // 2 if dtype in PAIRS else product(shape) * DTYPES[dtype][1]
            data = rng.randbytes(size)
            if dtype == "BOOL":
                data = bytes(byte & 1 for byte in data)
            tensors[name] = (dtype, shape, data)
        metadata = None if kind == "nothing" else {"format": "np", "note": 'tab\t "quoted" ä \x01'}
        save_expected(folder / kind, tensors)
        save_file(folder / f"{kind}.safetensors", tensors, metadata)
    print(f"{len(kinds)} files")


def read_file(path):
    """Through both doors of the package: the deserializer, and where numpy has the type, slices."""
    tensors = {}
    names = {theirs: ours for ours, (theirs, _) in (DTYPES | PAIRS).items()}
    for name, entry in safetensors.deserialize(path.read_bytes()):
        dtype = names.get(entry["dtype"], entry["dtype"])
        tensors[name] = (dtype, list(entry["shape"]), bytes(entry["data"]))
    with safetensors.safe_open(str(path), framework="numpy") as opened:
        for name, (dtype, shape, data) in tensors.items():
            if dtype in NO_NUMPY or dtype.startswith("F8"):
                continue
            array = opened.get_tensor(name)
            if list(array.shape) != shape or array.tobytes() != data:
                sys.exit(f"{path}: get_tensor('{name}') differs from deserialize")
            if len(shape) > 0 and shape[0] > 1 and opened.get_slice(name)[1:].tobytes() != array[1:].tobytes():
                sys.exit(f"{path}: a slice of '{name}' differs")
        metadata = opened.metadata() or {}
    return tensors, metadata


def compare(found, expected):
    if sorted(found) != sorted(expected):
        sys.exit(f"names {sorted(found)} instead of {sorted(expected)}")
    for name, tensor in expected.items():
        if (found[name][0], list(found[name][1])) != (tensor[0], list(tensor[1])):
            sys.exit(f"'{name}' is {found[name][:2]} instead of {tensor[:2]}")
        if found[name][2] != tensor[2]:
            sys.exit(f"'{name}' has other bytes")


def check(path, expected):
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    found = {}
    for file in files:
        tensors, metadata = read_file(file)
        if set(found) & set(tensors):
            sys.exit(f"{file}: {set(found) & set(tensors)} lie in another file as well")
        if metadata["tessera.digest"] != "linear32-1":
            sys.exit(f"{file}: digests of '{metadata['tessera.digest']}'")
        if len(metadata["tessera.digest_list"]) != 16 * len(tensors):
            sys.exit(f"{file}: digests are not those of its tensors")
        found.update(tensors)
    index = path / "model.safetensors.index.json"
    if len(files) > 1:
        weight_map = json.loads(index.read_text())["weight_map"]
        for name, file in weight_map.items():
            with safetensors.safe_open(str(path / file), framework="numpy") as opened:
                if name not in opened.keys():
                    sys.exit(f"'{name}' is not in {file}")
        if sorted(weight_map) != sorted(found):
            sys.exit("the index names other tensors")
    compare(found, load_expected(expected))
    print(f"{len(found)} tensors in {len(files)} files")


def torch_types():
    import torch

    return {"BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16,
            "F16": torch.float16, "BF16": torch.bfloat16, "I32": torch.int32, "F32": torch.float32,
            "F64": torch.float64, "I64": torch.int64, "F8_E5M2": torch.float8_e5m2,
            "F8_E4M3": torch.float8_e4m3fn, "C64": torch.complex64,
            "F8_E4M3FNUZ": torch.float8_e4m3fnuz, "F8_E5M2FNUZ": torch.float8_e5m2fnuz}  # fmt: skip


def bytes_of(tensor):
    import torch

    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())


def dcp_check(path, expected):
    import torch
    import torch.distributed.checkpoint as dcp

    types = torch_types()
    wanted = {n: t for n, t in load_expected(expected).items() if t[0] in types}
    state = {n: torch.empty(t[1], dtype=types[t[0]]) for n, t in wanted.items()}
    reader = dcp.HuggingFaceStorageReader(str(path))
    dcp.load(state, storage_reader=reader, no_dist=True)
    compare({n: (wanted[n][0], list(s.shape), bytes_of(s)) for n, s in state.items()}, wanted)
    print(f"{len(state)} tensors")


def dcp_write(folder):
    import torch
    import torch.distributed.checkpoint as dcp

    torch.manual_seed(7)
    state = {
        "w": torch.randn(6, 4), "h": torch.randn(3, 5).to(torch.bfloat16),
        "step": torch.tensor(12, dtype=torch.int64), "flags": torch.tensor([True, False]),
    }  # fmt: skip
    names = {theirs: ours for ours, theirs in torch_types().items()}
    save_expected(
        folder / "expected",
        {n: (names[t.dtype], list(t.shape), bytes_of(t)) for n, t in state.items()})  # fmt: skip
    writer = dcp.HuggingFaceStorageWriter(str(folder / "sharded"), save_distributed=True)
    dcp.save(state, storage_writer=writer, no_dist=True)
    writer = dcp.HuggingFaceStorageWriter(
        str(folder / "plain"), fqn_to_index_mapping={"w": 1, "h": 2, "step": 1, "flags": 2})
    dcp.save(state, storage_writer=writer, no_dist=True)
    print(f"{len(state)} tensors")


COMMANDS = {"write": write, "check": check, "dcp_check": dcp_check, "dcp_write": dcp_write}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*[pathlib.Path(arg) for arg in sys.argv[2:]])
