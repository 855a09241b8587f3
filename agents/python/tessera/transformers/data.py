# SPDX-License-Identifier: Apache-2.0
"""The samples of this rank, collated as the Trainer does it."""

from __future__ import annotations

from typing import Any

from tessera.torch.job import TorchJob


class Batches:
    """The samples of the coming step, in parts for one forward and backward pass each."""

    def __init__(self, job: TorchJob, loader: Any, global_batch: int, part: int, seed: int) -> None:
        """`loader` has the data set and its collate function. Its order is not used."""
        self._sampler = job.sampler(len(loader.dataset), global_batch, seed)
        self._data = loader.dataset
        self._collate = loader.collate_fn
        self._part = part

    def read(self) -> tuple[list[Any], list[int]]:
        """Returns the parts and the number of samples of each.

        There is no part on ranks beyond the batch, such as with 3 samples on 4 ranks.
        """
        numbers = self._sampler()
        parts = [numbers[at : at + self._part] for at in range(0, len(numbers), self._part)]
        return [self._collate(self._fetch(part)) for part in parts], [len(part) for part in parts]

    def _fetch(self, numbers: list[int]) -> Any:
        if hasattr(self._data, "__getitems__"):
            return self._data.__getitems__(numbers)
        return [self._data[number] for number in numbers]
