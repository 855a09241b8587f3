# SPDX-License-Identifier: Apache-2.0
"""The functions for programs in Python. All calls come from one thread."""

from __future__ import annotations

import importlib
import mmap
import os
import sys
from collections.abc import Mapping
from typing import Any

from tessera._library import TesseraError
from tessera.files import protocol, safetensors
from tessera.files.layout import RankLayout, Tensor

_NUMPY = {"bool": "bool", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8"}
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


class Run:
    """This rank and its part of the state. begin() makes it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._layout = RankLayout.read(os.path.join(folder, protocol.LAYOUT))
        self.rank = self._layout.rank
        self.world = self._layout.world
        self.mesh = self._layout.mesh  # sizes by axis: pp, dp, ep, cp, tp
        self.coordinates = self._layout.coordinates
        self.step = self._layout.step  # the last one that was reported
        # What this rank holds, by name. Empty under `list`, which asks for it.
        self.tensors: dict[str, Tensor] = self._layout.tensors or {}
        self._steps = os.open(os.path.join(folder, protocol.STEPS), os.O_WRONLY | os.O_CLOEXEC)
        self._answers = os.open(os.path.join(folder, protocol.ANSWER), os.O_RDONLY | os.O_CLOEXEC)
        self._is_asked = self._layout.state is None  # to save
        self._sums: mmap.mmap | None = None

    def part_of(self, name: str, whole: Any) -> Any:
        """What this rank holds of an uncut NumPy array; all of it under `list`."""
        if self._layout.tensors is None:
            return whole
        if name not in self.tensors:
            raise TesseraError(f"rank {self.rank} holds nothing of '{name}'")
        return self.tensors[name].of(whole)

    def load(self) -> dict[str, Any] | None:
        path = self._layout.state
        if path is None:
            return None
        import numpy

        header = safetensors.read_header(path)
        out = {}
        # Not mapped: a map would keep the file's memory while the program trains.
        with open(path, "rb", buffering=0) as file:
            for name, entry in header.entries.items():
                out[name] = numpy.empty(entry.shape, _numpy_dtype(entry.dtype))
                file.seek(entry.offset)
                rest = _bytes_of(out[name])
                while len(rest) > 0:
                    got = file.readinto(rest)
                    if not got:
                        raise TesseraError(f"{path}: it is shorter than its header says")
                    rest = rest[got:]
        return out

    def report(self, step: int, loss: float, last: bool) -> None:
        if self._is_asked:
            raise TesseraError(f"step {step} is reported before the state was saved: save() first")
        self._say(f"{step} {float(loss)!r}{' last' if last else ''}")
        self.step = step
        self._is_asked = self._expect(protocol.GO, protocol.SAVE) == protocol.SAVE

    @property
    def should_save(self) -> bool:
        return self._is_asked

    def save(self, arrays: Mapping[str, Any]) -> None:
        if not self._is_asked:
            raise TesseraError("save() without should_save()")
        self._write({name: _as_numpy(array) for name, array in arrays.items()})
        self._say("saved")
        if self._expect(protocol.GO, protocol.END) == protocol.END:
            sys.exit(0)
        self._is_asked = False

    def all_reduce(self, array: Any, axis: str | None) -> Any:
        import numpy

        values = numpy.ascontiguousarray(_as_numpy(array), dtype="f4")
        if self._sums is None or len(self._sums) < values.nbytes:
            path = os.path.join(self.folder, protocol.SUM)
            with open(path, "a+b") as file:
                size = max(values.nbytes, 4096, os.fstat(file.fileno()).st_size)
                file.truncate(size)
                self._sums = mmap.mmap(file.fileno(), size)
        shared = numpy.frombuffer(self._sums, dtype="f4", count=values.size)
        shared[:] = values.reshape(-1)
        self._say(f"sum {axis or 'all'} {values.size}")
        self._expect(protocol.GO)
        return shared.reshape(values.shape).copy()

    def _write(self, arrays: dict[str, Any]) -> None:
        entries = {}
        for name, array in arrays.items():
            dtype = _dtype_of(array, self.tensors.get(name))
            if dtype is None:
                raise TesseraError(f"'{name}' has dtype {array.dtype}, which a job cannot hold")
            entries[name] = safetensors.Entry(dtype, tuple(array.shape))
        metadata = {"tessera.step": str(self.step), "tessera.rank": str(self.rank)}
        begin, header = safetensors.layout(entries, metadata)
        aside = self._layout.save + ".part"
        with open(aside, "wb", buffering=0) as file:
            file.write(begin)
            for name in header.entries:
                _write_all(file, arrays[name])
        os.rename(aside, self._layout.save)

    def _say(self, line: str) -> None:
        os.write(self._steps, line.encode() + b"\n")

    def _expect(self, *words: str) -> str:
        got = b""
        while not got.endswith(b"\n"):
            more = os.read(self._answers, 16)
            if not more:
                raise TesseraError("the launcher of this rank has ended")
            got += more
        word = got.decode().strip()
        if word not in words:
            raise TesseraError(f"the launcher answers '{word}' instead of {' or '.join(words)}")
        return word


def _numpy_dtype(dtype: str) -> Any:
    """bf16 and 8-bit floats are those of ml_dtypes, else unsigned integers."""
    import numpy

    if dtype in _ML_DTYPES:
        try:
            types = importlib.import_module("ml_dtypes")
            return numpy.dtype(getattr(types, _ML_DTYPES[dtype]))
        except ImportError:
            return numpy.dtype(f"u{safetensors.WIDTHS[dtype]}")
    return numpy.dtype(_NUMPY.get(dtype) or f"{dtype[0]}{safetensors.WIDTHS[dtype]}")


def _dtype_of(array: Any, wanted: Tensor | None) -> str | None:
    # Bits may be given for a type that NumPy lacks.
    if wanted is not None and wanted.dtype in _ML_DTYPES and array.dtype.kind == "u":
        return wanted.dtype if array.dtype.itemsize == safetensors.WIDTHS[wanted.dtype] else None
    for dtype, name in _ML_DTYPES.items():
        if array.dtype.name == name:
            return dtype
    for dtype in safetensors.WIDTHS:
        if dtype not in _ML_DTYPES and _numpy_dtype(dtype) == array.dtype:
            return dtype
    return None


def _as_numpy(value: Any) -> Any:
    """NumPy and JAX arrays, numbers, and tensors of torch."""
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            return value.contiguous().view(sys.modules["torch"].uint16).numpy()
    return numpy.asarray(value)


def _bytes_of(array: Any) -> memoryview:
    """Of a contiguous array, without a copy."""
    flat: Any = array.reshape(-1).view("u1")
    return memoryview(flat)


def _write_all(file: Any, array: Any) -> None:
    import numpy

    rest = _bytes_of(numpy.ascontiguousarray(array))
    while len(rest) > 0:
        rest = rest[file.write(rest) :]


_run: Run | None = None


def _current() -> Run:
    if _run is None:
        raise TesseraError("files.begin() comes first")
    return _run


def begin() -> Run:
    """Reads what the launcher has prepared. Call it once."""
    global _run
    folder = os.environ.get(protocol.FOLDER)
    if folder is None:
        raise TesseraError(
            f"{protocol.FOLDER} is not set: start the program with `tesseractl job start PROGRAM "
            "--kind files`"
        )
    _run = Run(folder)
    return _run


def load() -> dict[str, Any] | None:
    """This rank's part of the state by tensor, as NumPy arrays of its own.

    None in the first start of a job: then make the initial state and save() it.
    """
    return _current().load()


def report(step: int, loss: float, last: bool = False) -> None:
    """Reports a step, and waits until all ranks have reported it.

    The loss of the job is the mean of those that the ranks report.
    """
    _current().report(step, loss, last)


def should_save() -> bool:
    """Whether save() comes next: in the first start, and when report() has got the request."""
    return _current().should_save


def save(arrays: Mapping[str, Any]) -> None:
    """Saves this rank's part of the state and waits until the job goes on.

    If it goes on on another mesh, or without this device, the program exits here with status 0.
    """
    _current().save(arrays)


def all_reduce(array: Any, axis: str | None = None) -> Any:
    """The sum of an array over the ranks of an axis (None: all), in float32.

    All of these ranks make the same calls in the same order.
    """
    return _current().all_reduce(array, axis)
