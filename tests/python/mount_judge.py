# SPDX-License-Identifier: Apache-2.0
"""Opens a file of the mount as frameworks do, and compares slices with the whole.

mount_judge.py FILE

Prints one line on success, exits with 1 otherwise.
"""
import json
import pathlib
import sys

import numpy
import safetensors
import safetensors.numpy


def main(path):
    raw = pathlib.Path(path).read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    seen = 0
    with safetensors.safe_open(path, framework="numpy") as file:
        if file.metadata()["tessera.job"] != "a":
            sys.exit("the metadata names another job")
        for name in file.keys():
            begin, end = header[name]["data_offsets"]
            if header[name]["dtype"] == "BF16":
                continue  # numpy has no such type
            tensor = file.get_tensor(name)
            if tensor.tobytes() != raw[8 + length + begin : 8 + length + end]:
                sys.exit(f"{name} differs from the bytes of the file")
            if tensor.ndim == 2:
                rows = file.get_slice(name)[3:5]
                if not numpy.array_equal(rows, tensor[3:5], equal_nan=True):
                    sys.exit(f"rows of {name} differ")
            seen += 1
    if seen == 0:
        sys.exit("no tensor was compared")
    print(f"{seen} tensors of {path}")


main(sys.argv[1])
