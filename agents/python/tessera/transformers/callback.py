# SPDX-License-Identifier: Apache-2.0
"""What a script adds to its Trainer."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from tessera._library import TesseraError
from tessera.torch.alone import Alone
from tessera.torch.job import TorchJob
from tessera.transformers.loop import Loop
from tessera.transformers.program import Program
from tessera.transformers.refusals import check_arguments, check_call
from tessera.transformers.schedule import Schedule, num_steps

_transformers: Any = importlib.import_module("transformers")
_OLDEST = (5, 0)


class TesseraCallback(_transformers.TrainerCallback):  # type: ignore[misc]
    """Makes a Trainer the program of a job. Without Tessera it does nothing.

    `global_batch` is the number of samples per step of the whole job, on any mesh. The default is
    that of one process: per_device_train_batch_size * gradient_accumulation_steps. A rank computes
    its samples in parts of at most per_device_train_batch_size. The numbers that the Trainer logs
    are reported with the step that follows, or with the last one, as by `job.log`.

    Raises TesseraError naming what of the Trainer cannot be part of a job.
    """

    def __init__(self, job: TorchJob, trainer: Any, global_batch: int | None = None) -> None:
        self._job = job
        self._unreported: set[str] = set()
        if isinstance(job, Alone):
            return
        version = tuple(int(part) for part in _transformers.__version__.split(".")[:2])
        if version < _OLDEST:
            raise TesseraError(
                f"transformers {_transformers.__version__} is too old: 5.0 or later is needed"
            )
        check_arguments(trainer, job.device)
        args = trainer.args
        batch = global_batch
        if batch is None:
            batch = args.per_device_train_batch_size * args.gradient_accumulation_steps
        if batch < 1:
            raise TesseraError(f"global_batch={batch}: a batch has at least one sample")
        trainer.create_optimizer()
        loader = trainer.get_train_dataloader()
        max_steps = num_steps(args, len(loader.dataset), batch)
        schedule = Schedule(trainer, max_steps)
        program = Program(trainer.model, trainer.optimizer, args.seed)
        trainer.optimizer = None  # it holds the initial values, which bind() copies and releases
        job.bind(program)
        trainer.optimizer = job.optimizer
        job.schedule(schedule)
        _print_logs(trainer)
        loop = Loop(job, trainer, schedule, loader, batch, max_steps)
        trainer._inner_training_loop = loop.run
        trainer.train = _checked(trainer.train)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """A metric that cannot be reported is named once."""
        for name, value in (logs or {}).items():
            if name in self._unreported:
                continue
            try:
                self._job.log(**{name: value})
            except TesseraError as error:
                self._unreported.add(name)
                if not isinstance(self._job, Alone) and state.is_world_process_zero:
                    print(f"not recorded: {error}", file=sys.stderr)


def _checked(train: Any) -> Any:
    """Trainer.train() loads a checkpoint into the model before it calls its loop."""

    @functools.wraps(train)
    def checked(
        resume_from_checkpoint: Any = None, trial: Any = None, ignore_keys_for_eval: Any = None
    ) -> Any:
        check_call(resume_from_checkpoint, trial)
        return train(ignore_keys_for_eval=ignore_keys_for_eval)

    return checked


def _print_logs(trainer: Any) -> None:
    """Replaces the progress bar, which the rank that began it must end."""
    if trainer.pop_callback(_transformers.ProgressCallback) is not None:
        trainer.add_callback(_transformers.PrinterCallback)
