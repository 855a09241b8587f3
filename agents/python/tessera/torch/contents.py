# SPDX-License-Identifier: Apache-2.0
"""Whether tensors hold what they held before, also after writes through `.data`.

Such writes do not change the version of a tensor, so its memory is read.
"""

from __future__ import annotations

import bisect
import itertools

import torch

from tessera.torch.program import memory_of

# Reading all state takes the memory's bandwidth. So all of it is read in the first steps on a mesh,
# and later a part that moves on, which has at least this many bytes or tensors.
_NUM_WHOLE = 3
_NUM_TURNS = 16
_LEAST_BYTES = 1 << 22
_LEAST_TENSORS = 32
_NUM_SUMS = 124  # a multiple of 4, which is fast, but of no usual number of columns
_INTEGERS = {1: torch.int64, 2: torch.int32, 4: torch.int16, 8: torch.uint8}  # by number per word


class Turns:
    """Which of some tensors are read in the present step."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        sizes = [memory_of(tensor).nbytes for tensor in tensors]
        most_bytes = max(_LEAST_BYTES, sum(sizes) // _NUM_TURNS)
        most_tensors = max(_LEAST_TENSORS, len(sizes) // _NUM_TURNS)
        self._all = range(len(sizes))
        self._turns: list[range] = []
        begin = filled = 0
        for place, size in enumerate(sizes):
            if place > begin and (filled + size > most_bytes or place - begin == most_tensors):
                self._turns.append(range(begin, place))
                begin, filled = place, 0
            filled += size
        self._turns.append(range(begin, len(sizes)))
        self._step = 0

    def now(self) -> range:
        """Their places."""
        if self._step < _NUM_WHOLE:
            return self._all
        return self._turns[self._step % len(self._turns)]

    def go_on(self) -> None:
        """To the next step."""
        self._step += 1


def sums_of(value: torch.Tensor, num_elements: int | None = None) -> torch.Tensor:
    """Returns sums over this rank's part, on its device. Nearly every write alters them.

    Small tensors are copied instead. A change of all signs alters the sums. A write does not if it
    swaps words of the same sum, or flips the highest bits of an even number of its words.
    `num_elements`: of the first ones only.
    """
    flat = memory_of(value).detach().reshape(-1)
    if num_elements is not None:
        flat = flat[:num_elements]
    # Eight bytes at once: a sum of smaller numbers takes ten times as long.
    flat = flat.contiguous()
    size, per_word = flat.numel(), max(8 // flat.element_size(), 1)
    begin = min(-flat.storage_offset() % per_word, size)
    end = begin + (size - begin) // per_word * per_word
    parts = []
    if begin < end:
        words = (flat if end - begin == size else flat[begin:end]).view(torch.int64)
        # An odd number of rows: an even number of changes of the highest bit adds up to zero.
        num_rows = max((words.numel() // _NUM_SUMS - 1) | 1, 0)
        if num_rows > 0:
            parts.append(words[: num_rows * _NUM_SUMS].view(num_rows, _NUM_SUMS).sum(0))
            words = words[num_rows * _NUM_SUMS :]
        parts.append(words)
    if end - begin < size or size == 0:
        parts += [part.view(_INTEGERS[per_word]) for part in (flat[:begin], flat[end:])]
    return torch.cat(parts)


def first_difference(noted: list[torch.Tensor], now: list[torch.Tensor]) -> int | None:
    """The place of the first tensor whose sums differ. Waits for a GPU once."""
    sizes = [one.numel() for one in noted]
    if sizes != (sizes_now := [one.numel() for one in now]):
        return next(place for place, each in enumerate(zip(sizes, sizes_now)) if each[0] != each[1])
    if not sizes:
        return None
    sums = [torch.cat([one.to(noted[0].device) for one in each]) for each in (noted, now)]
    places = (sums[0] != sums[1]).nonzero()
    if len(places) == 0:
        return None
    return bisect.bisect_right(list(itertools.accumulate(sizes)), int(places[0]))
