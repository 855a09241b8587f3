# SPDX-License-Identifier: Apache-2.0
"""The samples of a rank, step by step."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING

from torch.utils.data import dataloader, get_worker_info

from tessera._library import TesseraError
from tessera.torch.groups import Axis

if TYPE_CHECKING:
    from tessera.torch.job import TorchJob

_SAMPLE_AXES = (("dp",), ("dp", "cp"))
_WHOLE = Axis(1, 0, None)  # an axis of one rank


class Sampler:
    """Which samples of a data set this rank reads in the coming step.

    Each is read once per pass, in an order drawn from (seed, pass), on any mesh and across its
    changes. The position is computed from the step, so it is no state.
    """

    def __init__(
        self,
        job: TorchJob,
        num_samples: int,
        global_batch: int,
        seed: int,
        axes: tuple[str, ...],
    ) -> None:
        if axes not in _SAMPLE_AXES:
            known = " or ".join(str(each) for each in _SAMPLE_AXES)
            raise TesseraError(f"samples are dealt over the axes {known}, not {axes}")
        self._job = job
        self.axes = axes
        self.num_samples = num_samples
        self.global_batch = global_batch
        self.seed = seed
        self._thread = threading.get_ident()
        other = job._sampler
        if other is not None and other.arguments() != self.arguments():
            raise TesseraError(
                "job.sampler was called twice, and the share of a rank in one batch weights its "
                "gradients: delete one call, join data sets with torch.utils.data.ConcatDataset, "
                "and evaluate on range(rank, len(data), dp) without a sampler of the job"
            )
        if (program := job._program) is not None:
            self.check({axis: of.size for axis, of in program.axes.items()})
        job._sampler = self

    def arguments(self) -> tuple[object, ...]:
        """Samplers with equal ones deal the samples equally."""
        return (self.num_samples, self.global_batch, self.seed, self.axes)

    def check(self, sizes: dict[str, int]) -> None:
        """Raises TesseraError if a batch cannot be dealt over a mesh of these sizes by axis."""
        dp, cp = sizes["dp"], sizes["cp"] if "cp" in self.axes else 1
        if (program := self._job._program) is None:  # a later call checks it
            return
        is_averaged = bool(program.averaged & {*self.axes})
        if (is_averaged or cp > 1) and self.global_batch % (dp * cp) != 0:
            text = ",".join(f"{axis}={sizes[axis]}" for axis in self.axes)
            reason = "FSDP weights all ranks equally" if is_averaged else "cp cuts no sample"
            raise TesseraError(
                f"a batch of {self.global_batch} samples has no equal parts for {text}, and "
                f"{reason}: choose another mesh, or another global_batch"
            )

    def _check_call(self) -> None:
        """The numbers are those of the coming step, so nobody may read them ahead."""
        job = self._job
        if get_worker_info() is not None or _is_read_by_workers():
            raise TesseraError(
                "job.sampler gives the samples of the coming step, and workers of a DataLoader "
                "read it ahead: give the DataLoader num_workers=0, or read data[batch()] in the "
                "loop"
            )
        if threading.get_ident() != self._thread:
            raise TesseraError(
                "job.sampler gives the samples of the coming step, and another thread has called "
                "it: call it in the thread of the loop"
            )
        if job._is_made:
            raise TesseraError(
                "job.sampler gave the samples of the step that job.step(loss) has just made: call "
                "it at the beginning of the next step"
            )

    def __call__(self) -> list[int]:
        """The numbers of the samples. Ranks that differ on other axes than `axes` get the same.

        Another call in the same step gives the same numbers.
        """
        self._check_call()
        job = self._job
        position = (job.coming_step - 1) * self.global_batch
        program = job._bound()
        self.check({axis: of.size for axis, of in program.axes.items()})
        numbers, place = job._samples(self.seed, position, self.num_samples, self.global_batch)
        job._share = len(numbers) / self.global_batch
        cp = program.axes["cp"] if "cp" in self.axes else _WHOLE
        count = len(numbers) // cp.size
        numbers = numbers[cp.rank * count : (cp.rank + 1) * count]
        begin = position + place + cp.rank * count
        job._read = range(begin, begin + count)
        return numbers


def _is_read_by_workers() -> bool:
    """Whether a DataLoader with workers has called, which asks for several batches at once."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == dataloader.__file__:
            return isinstance(frame.f_locals.get("self"), dataloader._MultiProcessingDataLoaderIter)
        frame = frame.f_back
    return False
