# SPDX-License-Identifier: Apache-2.0
"""What a script gives its job before job.bind(build), beside the model and the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.amp import GradScaler

from tessera._library import TesseraError
from tessera.job import Decision
from tessera.torch.frozen import Frozen
from tessera.torch.objects import ROOM, Objects, Stateful
from tessera.torch.scheduling import MakeScheduler, Scaler, Scheduler

if TYPE_CHECKING:
    from tessera.torch.binding import Program
    from tessera.torch.program import Build

OnModel = Callable[[nn.Module], Any]
AfterUpdate = Callable[[nn.Module, Decision], Any]


class Parts:
    """One thread."""

    def __init__(self) -> None:
        self.objects = Objects()
        self.scheduler: Scheduler | None = None
        self.scaler: Scaler | None = None
        self._frozen: Frozen | None = None
        self._on_model: list[OnModel] = []
        self._after_update: list[AfterUpdate] = []
        self._is_closed = False

    # ---- before job.bind(build)

    def register(self, name: str, value: Stateful, room: int = ROOM) -> None:
        self._check_open(f"job.register('{name}', …)")
        self.objects.add(name, value, room)

    def set_scheduler(self, make: MakeScheduler) -> None:
        self._check_open("job.scheduler(…)")
        if self.scheduler is not None:
            raise TesseraError(
                "job.scheduler was called twice: chain them, such as by "
                "torch.optim.lr_scheduler.SequentialLR"
            )
        self.scheduler = Scheduler(make)
        self.objects.add("scheduler", self.scheduler, in_loop=False)

    def set_scaler(self, scaler: GradScaler) -> None:
        self._check_open("job.scaler(…)")
        if not isinstance(scaler, GradScaler):
            raise TesseraError(
                f"job.scaler takes a torch.amp.GradScaler, not a {type(scaler).__name__}"
            )
        if self.scaler is not None:
            raise TesseraError("job.scaler was called twice, and a job has one scale")
        self.scaler = Scaler(scaler)
        self.objects.add("scaler", self.scaler, in_loop=False)

    def add_on_model(self, change: OnModel) -> None:
        self._check_open("job.on_model(…)")
        self._on_model.append(change)

    def add_after_update(self, change: AfterUpdate) -> None:
        self._check_open("job.after_update(…)")
        self._after_update.append(change)

    def _check_open(self, call: str) -> None:
        if self._is_closed:
            raise TesseraError(
                f"{call} comes before job.bind(build), so that ranks that join have it, too"
            )

    def freeze(self, names: tuple[str, ...], is_frozen: bool) -> None:
        """Also later, if it was called before job.bind(build)."""
        if self._frozen is None:
            word = "freeze" if is_frozen else "unfreeze"
            self._check_open(
                f"the first call of job.{word}(…), if only job.freeze() without names,"
            )
            self._frozen = Frozen()
            self.objects.add("frozen", self._frozen)
        self._frozen.change(names, is_frozen)

    # ---- from job.bind(build) on

    def prepare(self, build: Build) -> Prepared:
        self._is_closed = True
        return Prepared(build, self)

    def change_model(self, model: nn.Module) -> None:
        for change in self._on_model:
            change(model)

    def check(self, model: nn.Module, optimizer: torch.optim.Optimizer, is_whole: bool) -> None:
        """Of a program without values. Raises TesseraError naming what does not fit it."""
        if self.scheduler is not None:
            self.scheduler.attach(optimizer)
        if self._frozen is not None:
            self._frozen.attach(model, is_whole)

    @property
    def update_with_step(self) -> bool:
        """Whether only the process that has made a step can make its update. After check()."""
        needs_loss = self.scheduler is not None and self.scheduler.needs_loss
        return self.objects.change_in_loop or needs_loss or bool(self._after_update)

    def attach(self, program: Program, places: dict[str, torch.Tensor]) -> None:
        """To the program of a mesh, and to the tensors of the job, none without a job."""
        self.check(program.model, program.optimizer, not program.is_pipelined)
        self.objects.bind(places)
        if self.scheduler is not None:
            program.note_options()

    def begin(self, program: Program) -> None:
        """When the loop begins."""
        self.objects.begin(is_first=int(program.step_value) == 0)
        if self.scheduler is not None:
            program.note_options()

    def note_frozen(self, program: Program) -> None:
        """After freeze() in the loop."""
        if program.watch is not None:
            program.watch.note_requires_grad()

    def unscale(self, program: Program) -> None:
        """The gradients that backward() has made."""
        if self.scaler is None or (factor := self.scaler.inverse()) == 1:
            return
        if held := [one.value for one in program.gradients if one.value.numel() > 0]:
            torch._foreach_mul_(held, factor)

    def follow_update(self, program: Program, decision: Decision) -> None:
        """In an update, after the optimizer."""
        if self.scaler is not None:
            self.scaler.step(decision.skip)
        if self.scheduler is not None:
            self.scheduler.step(decision.loss)
            program.note_options()
        for change in self._after_update:
            change(program.model, decision)
        self.objects.keep()


class Prepared:
    """`build` with these parts."""

    def __init__(self, build: Build, parts: Parts) -> None:
        self.build = build
        self.parts = parts
        self.keeps_modules: bool = getattr(build, "keeps_modules", False)
        self.uses_parameters_after_step: bool = getattr(build, "uses_parameters_after_step", False)

    def __call__(self, mesh: Any) -> Any:
        made = self.build(mesh)
        if isinstance(made, tuple) and made and isinstance(made[0], nn.Module):
            self.parts.change_model(made[0])
        return made


def parts_of(build: Any) -> Parts:
    """Those of job.bind(build); none otherwise."""
    found = getattr(build, "parts", None)
    return found if isinstance(found, Parts) else Parts()
