# SPDX-License-Identifier: Apache-2.0
"""The learning rates of a Trainer as a function of the step."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from tessera.transformers.refusals import factor_of


def num_steps(args: Any, num_samples: int, global_batch: int) -> int:
    """The steps of the whole training. All batches are full, also across the ends of passes."""
    if args.max_steps > 0:
        return int(args.max_steps)
    return max(1, math.ceil(float(args.num_train_epochs) * num_samples / global_batch))


class Schedule:
    """The schedule of a Trainer, and a scheduler that shows it to logs and callbacks.

    Raises TesseraError if it is no function of the step.
    """

    def __init__(self, trainer: Any, max_steps: int) -> None:
        # On an optimizer of its own, because that of the job gets its rates from the job.
        groups = [
            {"params": [nn.Parameter(torch.zeros(()))], "lr": group.get("initial_lr", group["lr"])}
            for group in trainer.optimizer.param_groups
        ]
        self._optimizer = torch.optim.SGD(groups, lr=0.0)
        made = trainer.create_scheduler(num_training_steps=max_steps, optimizer=self._optimizer)
        self._factor = factor_of(made)
        self._scheduler = LambdaLR(self._optimizer, self._factor)
        trainer.lr_scheduler = trainer.callback_handler.lr_scheduler = self._scheduler

    def __call__(self, step: int) -> float:
        """The factor of the update in `step`, from 1."""
        return float(self._factor(step - 1))

    def show(self, step: int) -> None:
        """As the Trainer's scheduler is after `step`."""
        self._optimizer.step()
        self._scheduler.last_epoch = step - 1
        self._scheduler.step()
