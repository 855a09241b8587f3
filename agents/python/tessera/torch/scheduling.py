# SPDX-License-Identifier: Apache-2.0
"""What changes learning rates and the scale of losses, only by the updates of a job."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.amp import GradScaler
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from tessera._library import TesseraError

_CYCLED = ("lr", "betas", "momentum")  # options of an optimizer that schedulers change
MakeScheduler = Callable[[torch.optim.Optimizer], LRScheduler]


class Scheduler:
    """A scheduler of torch, on the optimizer of the present mesh."""

    def __init__(self, make: MakeScheduler) -> None:
        self._make = make
        self._made: LRScheduler | None = None
        self._optimizer: torch.optim.Optimizer | None = None
        self._options: set[str] = set()  # that are state beside that of the scheduler

    @property
    def needs_loss(self) -> bool:
        """Whether its steps depend on the loss. After attach()."""
        return isinstance(self._made, ReduceLROnPlateau)

    def attach(self, optimizer: torch.optim.Optimizer) -> None:
        """Begins anew with an optimizer, with the learning rates that this has.

        Raises TesseraError if it makes no scheduler of it.
        """
        before = {key for group in optimizer.param_groups for key in group}
        made = self._make(optimizer)
        if not isinstance(made, LRScheduler):
            raise TesseraError(
                f"the function of job.scheduler makes a {type(made).__name__}: return one of "
                "torch.optim.lr_scheduler, such as lambda optimizer: CosineAnnealingLR(optimizer, "
                "1000)"
            )
        if made.optimizer is not optimizer:
            raise TesseraError(
                "the function of job.scheduler makes a scheduler of another optimizer: give it the "
                "one that it is called with"
            )
        after = {key for group in optimizer.param_groups for key in group}
        self._made, self._optimizer = made, optimizer
        self._options = (after - before) | (after & {*_CYCLED})

    def step(self, loss: float) -> None:
        """After an update."""
        assert self._made is not None
        with warnings.catch_warnings():
            # The first update may have been skipped, for a gradient that was not finite.
            warnings.filterwarnings("ignore", message=".*lr_scheduler.step\\(\\).*")
            if isinstance(self._made, ReduceLROnPlateau):
                self._made.step(loss)
            else:
                self._made.step()

    def state_dict(self) -> dict[str, Any]:
        assert self._made is not None and self._optimizer is not None
        options = [
            {key: value for key, value in group.items() if key in self._options}
            for group in self._optimizer.param_groups
        ]
        return {"scheduler": self._made.state_dict(), "options": options}

    def load_state_dict(self, state: Any) -> None:
        assert self._made is not None and self._optimizer is not None
        self._made.load_state_dict(state["scheduler"])
        for group, options in zip(self._optimizer.param_groups, state["options"]):
            for key, value in options.items():
                if isinstance(group.get(key), torch.Tensor):
                    group[key].copy_(value)  # others may hold it
                else:
                    group[key] = value


class Scaler:
    """A GradScaler, whose scale follows from what the ranks have agreed on."""

    def __init__(self, scaler: GradScaler) -> None:
        self.scaler = scaler
        self._has_scaled = False  # in this step
        scale = scaler.scale

        def noted(outputs: Any) -> Any:
            self._has_scaled = True
            return scale(outputs)

        scaler.scale = noted  # type: ignore[method-assign]

    def inverse(self) -> float:
        """What gradients of this step are to be multiplied by.

        Raises TesseraError if its loss was not scaled.
        """
        if not self.scaler.is_enabled():
            return 1.0
        if not self._has_scaled:
            raise TesseraError(
                "the job has a GradScaler, and the loss of this step was not scaled: write "
                "scaler.scale(loss).backward()"
            )
        self._has_scaled = False
        return 1.0 / float(self.scaler.get_scale())

    def step(self, is_skipped: bool) -> None:
        """As GradScaler.update() does, from a decision that is the same on all ranks."""
        if not self.scaler.is_enabled():
            return
        state = self.scaler.state_dict()
        if is_skipped:
            state["scale"] *= state["backoff_factor"]
            state["_growth_tracker"] = 0
        else:
            state["_growth_tracker"] += 1
            if state["_growth_tracker"] == state["growth_interval"]:
                grown = state["scale"] * state["growth_factor"]
                if grown <= torch.finfo(torch.float32).max:
                    state["scale"] = grown
                state["_growth_tracker"] = 0
        self.scaler.load_state_dict(state)

    def state_dict(self) -> dict[str, Any]:
        return self.scaler.state_dict()

    def load_state_dict(self, state: Any) -> None:
        if state:  # a disabled one has none
            self.scaler.load_state_dict(state)
