# SPDX-License-Identifier: Apache-2.0
"""Hands the files of a folder in to a mount, each written by the format's own library.

mount_hand_in.py FOLDER RANKS

FOLDER/R/PART.safetensors becomes RANKS/R/PART.safetensors.new with the same tensors; of the metadata
only the step is kept. A copy that is cut off must be refused with EINVAL first.
"""
import ctypes
import errno
import json
import pathlib
import sys

import safetensors

KEPT = []  # what TensorSpecs point into
NAMES = {"F32": "float32", "BF16": "bfloat16", "I64": "int64"}


def tensor(dtype, shape, data):
    """A tensor as serialize_file takes it: a dict before version 0.8, then a TensorSpec."""
    if not hasattr(safetensors, "TensorSpec"):
        return {"dtype": NAMES[dtype], "shape": shape, "data": data}
    room = ctypes.create_string_buffer(data, len(data))
    KEPT.append(room)
    return safetensors.TensorSpec(
        dtype=NAMES[dtype], shape=shape, data_ptr=ctypes.addressof(room), data_len=len(data)
    )


def main(folder, ranks):
    count = 0
    for source in sorted(pathlib.Path(folder).glob("*/*.safetensors")):
        raw = source.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + length])
        metadata = header.pop("__metadata__")
        tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            data = raw[8 + length + begin : 8 + length + end]
            tensors[name] = tensor(entry["dtype"], entry["shape"], data)
        target = pathlib.Path(ranks) / source.parent.name / (source.name + ".new")
        try:
            with open(target, "wb") as file:
                file.write(raw[: len(raw) // 2])
            sys.exit(f"half of {source} was taken")
        except OSError as error:
            if error.errno != errno.EINVAL:
                sys.exit(f"half of {source}: {error}")
        if target.exists():
            sys.exit(f"half of {source} was left")
        safetensors.serialize_file(
            tensors, str(target), {"tessera.step": metadata["tessera.step"]}
        )
        count += 1
    print(f"{count} files")


main(*sys.argv[1:])
