# SPDX-License-Identifier: Apache-2.0
"""The pieces of a rank as the tensors of one file.

Bytes go from a piece into the file and back by one system call each: there is no copy in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from tessera._library import TesseraError
from tessera.files import safetensors
from tessera.files.layout import Tensor
from tessera.job import Piece

STEP = "tessera.step"  # the step that the state in the pieces is after
_MOST_BUFFERS = 512  # for one call; Linux takes 1024


class Parts:
    """Valid until the next Job.adopt."""

    def __init__(self, pieces: list[Piece]) -> None:
        by_name: dict[str, list[Piece]] = {}
        for piece in pieces:
            by_name.setdefault(piece.name, []).append(piece)
        found = by_name.pop(STEP, None)
        if found is None or found[0].dtype != "i64" or found[0].num_elements != 1:
            raise TesseraError(
                f"the job has no tensor '{STEP}' for the step of its state; add "
                f'{{"name": "{STEP}", "dtype": "i64", "shape": [], "role": "scalar"}} to the '
                'tensors and a rule {"match": "tessera.step", "cut": "replicate", "stage": "all"}'
            )
        self._step = found[0].buffer().cast("q")
        self._pieces: dict[str, list[Piece]] = {}
        self.tensors: dict[str, Tensor] = {}
        for name, several in by_name.items():
            tensor = join(several)
            along = tensor.dim
            self._pieces[name] = sorted(several, key=lambda p: p.begin[along] if p.begin else 0)
            self.tensors[name] = tensor

    @property
    def step(self) -> int:
        return self._step[0]

    @step.setter
    def step(self, step: int) -> None:
        self._step[0] = step

    @property
    def num_bytes(self) -> int:
        """The bytes of all tensors in one file."""
        return sum(piece.num_bytes for several in self._pieces.values() for piece in several)

    def write(self, path: str, rank: int) -> None:
        """Writes the state into a file of this name, which appears when it is complete."""
        # Another key than in a saved file: programs may keep what they do not know.
        metadata = {"tessera.loaded_step": str(self.step), "tessera.rank": str(rank)}
        for name, tensor in self.tensors.items():
            metadata["tessera.box." + name] = tensor.where
        entries = {n: safetensors.Entry(t.dtype, t.local_shape) for n, t in self.tensors.items()}
        begin, header = safetensors.layout(entries, metadata)
        aside = path + ".part"
        with _opened(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as fd:
            _transfer(os.pwritev, fd, 0, [memoryview(begin)])
            for name, entry in header.entries.items():
                _transfer(os.pwritev, fd, entry.offset, self._spans(name))
        os.rename(aside, path)

    def check(self, path: str, header: safetensors.Header, step: int, rank: int) -> None:
        """Raises TesseraError naming the first thing that a saved file has wrong."""
        where = f"the state that rank {rank} has saved after step {step}"
        stated = header.metadata.get("tessera.step", str(step))
        if stated != str(step):
            raise TesseraError(f"{where} states step {stated} in its metadata")
        for name in header.entries:
            if name not in self.tensors:
                raise TesseraError(f"{where} has a tensor '{name}', which the job does not have")
        for name, tensor in self.tensors.items():
            entry = header.entries.get(name)
            if entry is None:
                raise TesseraError(f"{where} lacks tensor '{name}'")
            if entry.dtype != tensor.dtype:
                raise TesseraError(
                    f"{where} has '{name}' as {entry.dtype}, the job as {tensor.dtype}"
                )
            if entry.shape != tensor.local_shape:
                raise TesseraError(
                    f"{where} has '{name}' with shape {list(entry.shape)}, its part "
                    f"{tensor.where} has shape {list(tensor.local_shape)}"
                )

    def read(self, path: str, header: safetensors.Header) -> None:
        """Copies a file that check() has passed into the pieces."""
        with _opened(path, os.O_RDONLY) as fd:
            for name in self.tensors:
                _transfer(os.preadv, fd, header.entries[name].offset, self._spans(name))

    def _spans(self, name: str) -> Iterator[memoryview]:
        """The bytes of a tensor in the order of the file."""
        pieces = self._pieces[name]
        if len(pieces) == 1:
            yield pieces[0].buffer()
            return
        outer = 1
        for extent in self.tensors[name].local_shape[: self.tensors[name].dim]:
            outer *= extent
        buffers = [(piece.buffer(), piece.num_bytes // outer) for piece in pieces]
        for row in range(outer):
            for buffer, size in buffers:
                yield buffer[row * size : (row + 1) * size]


def join(pieces: list[Piece]) -> Tensor:
    """One tensor of the boxes that a rank holds of it.

    Raises TesseraError if they cannot be joined along one dimension, as those of a flat cut.
    """
    first = pieces[0]
    if first.dtype not in safetensors.WIDTHS:
        raise TesseraError(f"'{first.name}' is {first.dtype}, which safetensors files do not have")
    differ = [
        dim
        for dim in range(len(first.shape))
        if any((p.begin[dim], p.end[dim]) != (first.begin[dim], first.end[dim]) for p in pieces)
    ]
    if len(differ) > 1:
        raise TesseraError(
            f"'{first.name}' is cut into {len(pieces)} boxes on this rank that differ in "
            f"dimensions {differ}: they are no one tensor in a file; cut it otherwise (ZeRO and "
            "flat cuts do not go through files)"
        )
    dim = differ[0] if differ else 0
    boxes = sorted(((p.begin, p.end) for p in pieces), key=lambda box: box[0][dim : dim + 1])
    return Tensor(first.name, first.dtype, first.shape, tuple(boxes), dim)


@contextmanager
def _opened(path: str, flags: int) -> Iterator[int]:
    """Errors name the file."""
    fd = -1
    try:
        fd = os.open(path, flags | os.O_CLOEXEC, 0o600)
        yield fd
    except OSError as error:
        raise TesseraError(f"{path}: {error.strerror}") from None
    except EOFError:
        raise TesseraError(f"{path}: it is shorter than its header says") from None
    finally:
        if fd >= 0:
            os.close(fd)


def _transfer(
    call: Callable[[int, list[memoryview], int], int],
    fd: int,
    offset: int,
    spans: Iterable[memoryview],
) -> None:
    """Calls os.preadv or os.pwritev until all spans are done."""
    rest = iter(spans)
    while batch := [span for span in islice(rest, _MOST_BUFFERS) if len(span) > 0]:
        while batch:
            done = call(fd, batch, offset)
            if done == 0:
                raise EOFError
            offset += done
            while batch and done >= len(batch[0]):
                done -= len(batch[0])
                del batch[0]
            if batch:
                batch[0] = batch[0][done:]
