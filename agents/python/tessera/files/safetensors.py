# SPDX-License-Identifier: Apache-2.0
"""The safetensors format: the length of the header in 8 bytes, the header in JSON, the tensors."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from tessera._library import TesseraError

# By the name in the file: that of a job, and bytes per element.
DTYPES = {
    "BOOL": ("bool", 1), "U8": ("u8", 1), "I8": ("i8", 1), "F8_E4M3": ("f8e4m3", 1),
    "F8_E5M2": ("f8e5m2", 1), "U16": ("u16", 2), "I16": ("i16", 2), "F16": ("f16", 2),
    "BF16": ("bf16", 2), "U32": ("u32", 4), "I32": ("i32", 4), "F32": ("f32", 4),
    "U64": ("u64", 8), "I64": ("i64", 8), "F64": ("f64", 8), "C64": ("c64", 8),
}  # fmt: skip
WIDTHS = dict(DTYPES.values())
_NAMES = {name: key for key, (name, _) in DTYPES.items()}
_MOST_HEADER = 100_000_000  # bytes, as the reference implementation has it


@dataclass(frozen=True)
class Entry:
    """A tensor in a file."""

    dtype: str  # as in a job: "f32"
    shape: tuple[int, ...]
    offset: int = 0  # of its first byte in the file

    @property
    def num_bytes(self) -> int:
        size = WIDTHS[self.dtype]
        for extent in self.shape:
            size *= extent
        return size


@dataclass(frozen=True)
class Header:
    entries: dict[str, Entry]
    metadata: dict[str, str] = field(default_factory=dict)
    num_bytes: int = 0  # of the whole file


def layout(tensors: dict[str, Entry], metadata: dict[str, str]) -> tuple[bytes, Header]:
    """Places tensors in a file: what it begins with, and where they are.

    The widest elements come first, so that each tensor is aligned without gaps.
    """
    order = sorted(tensors, key=lambda name: (-WIDTHS[tensors[name].dtype], name))
    table: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    at = 0
    starts = {}
    for name in order:
        entry = tensors[name]
        starts[name] = at
        table[name] = {
            "dtype": _NAMES[entry.dtype],
            "shape": list(entry.shape),
            "data_offsets": [at, at + entry.num_bytes],
        }
        at += entry.num_bytes
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    first = 8 + len(text)
    placed = {
        name: Entry(tensors[name].dtype, tensors[name].shape, first + starts[name])
        for name in order
    }
    return len(text).to_bytes(8, "little") + text, Header(placed, metadata, first + at)


def read_header(path: str) -> Header:
    """Raises TesseraError naming the file and what is wrong with it."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = file.read(8)
            length = int.from_bytes(begin, "little")
            if len(begin) < 8 or length > min(size - 8, _MOST_HEADER):
                raise TesseraError(
                    f"{path}: {size} bytes are no safetensors file: its header would have {length}"
                )
            text = file.read(length)
    except OSError as error:
        raise TesseraError(f"{path}: {error.strerror}") from None
    try:
        table = json.loads(text)
        metadata = table.pop("__metadata__", {})
        first = 8 + length
        entries = {name: _entry(path, name, row, first, size) for name, row in table.items()}
        return Header(entries, {str(k): str(v) for k, v in metadata.items()}, size)
    except (ValueError, AttributeError, UnicodeDecodeError):
        raise TesseraError(f"{path}: the header is no table of tensors in JSON") from None


def _entry(path: str, name: str, row: Any, first: int, size: int) -> Entry:
    try:
        key, shape, (begin, end) = row["dtype"], tuple(row["shape"]), row["data_offsets"]
        is_whole = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise TesseraError(f"{path}: '{name}' lacks dtype, shape or data_offsets")
    if key not in DTYPES:
        raise TesseraError(f"{path}: '{name}' has dtype {key}, which a job cannot hold")
    entry = Entry(DTYPES[key][0], shape, first + begin)
    if end - begin != entry.num_bytes or first + end > size:
        raise TesseraError(
            f"{path}: '{name}' of {key} {list(shape)} has {entry.num_bytes} bytes, the header "
            f"gives it bytes {begin} to {end} of {size - first}"
        )
    return entry
