# SPDX-License-Identifier: Apache-2.0
"""What the state of an optimizer holds before its first step.

A job has all state from the first step on, but an optimizer makes most of it within that step and
changes it at once. So optimizers are tried: with one parameter, over some steps, against one whose
state was set before.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tessera._library import TesseraError


@dataclass(frozen=True)
class Beginning:
    """A number, the value of an option such as "lr", or a copy of the parameter."""

    number: float = 0.0
    option: str = ""
    is_copy: bool = False

    def value(self, group: dict[str, Any]) -> float:
        """Not of a copy."""
        return float(group[self.option]) if self.option else self.number


Beginnings = dict[str, Beginning]  # by the key of the state

_ZEROS = Beginning()
# What a message about another optimizer names.
_CAN = (
    "Adam, AdamW, NAdam, RAdam, RMSprop, Adagrad, Adadelta, Adafactor, ASGD, Rprop, and SGD with "
    "dampening=0 can be bound"
)
_NUM_TRIED = 26  # steps of an optimizer: some use a part of their state in every tenth only
_LR = 0.0173  # no number that state begins with by itself
_known: dict[tuple[type, str], Beginnings] = {}  # by optimizers with the options of a group


def check_optimizer(optimizer: torch.optim.Optimizer) -> None:
    """Raises TesseraError if it cannot be known what the state begins with, also for optimizers
    that make or count something that is not in the job."""
    for group in optimizer.param_groups:
        beginnings_of(optimizer, group)


def beginnings_of(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> Beginnings:
    """What the state of a group begins with. Raises TesseraError as check_optimizer does."""
    kind = type(optimizer)
    options = {key: value for key, value in group.items() if key != "params"}
    same = (kind, repr({**options, "lr": None}))
    if same not in _known:
        with torch.device("cpu"), torch.random.fork_rng(devices=[]):
            _known[same] = _learn(kind, options)
    return _known[same]


def _learn(kind: type[torch.optim.Optimizer], group: dict[str, Any]) -> Beginnings:
    known = inspect.signature(kind).parameters
    options = {key: value for key, value in group.items() if key in known}
    if isinstance(options.get("lr"), float):
        options["lr"] = _LR
    try:
        found: Beginnings = {}
        trial = _Trial(kind, options, found)
        while trial.problem:
            better = [
                other
                for key in trial.keys - found.keys()
                for beginning in _candidates(options)
                if (other := _Trial(kind, options, {**found, key: beginning})).score > trial.score
            ]
            if not better:
                raise TesseraError(f"{kind.__name__} cannot be bound: {trial.problem}; {_CAN}")
            trial = max(better, key=lambda one: one.score)
            found = trial.beginnings
    except (TesseraError, MemoryError, OSError):
        raise
    except Exception as error:
        raise TesseraError(f"{kind.__name__} cannot be bound: {error}; {_CAN}") from error
    if trial.counter:
        raise TesseraError(
            f"{kind.__name__} cannot be bound: it counts in its attribute '{trial.counter}', which "
            "is not in the job: count in a tensor of its state"
        )
    return found


def _candidates(options: dict[str, Any]) -> Iterator[Beginning]:
    yield Beginning(number=1.0)
    yield Beginning(is_copy=True)
    for name, value in options.items():
        if isinstance(value, float):
            yield Beginning(option=name)


class _Trial:
    """Compares an optimizer with one whose state was set to `beginnings`, the rest to zeros."""

    def __init__(
        self, kind: type[torch.optim.Optimizer], options: dict[str, Any], beginnings: Beginnings
    ) -> None:
        self.beginnings = beginnings
        self.problem = ""  # the first difference
        self.counter = ""  # the attribute in which the optimizer counts
        self.score = (0, 0)  # how far it came: the step, and tensors that are equal there
        self.keys: set[str] = set()
        begin = torch.tensor([[0.5, -0.25], [1.0, 2.0]])
        ours, theirs = nn.Parameter(begin.clone()), nn.Parameter(begin.clone())
        usual, bound = kind([theirs], **options), kind([ours], **options)
        _set(bound, ours, begin, beginnings)
        state = bound.state[ours]
        self.keys = {key for key, value in state.items() if isinstance(value, torch.Tensor)}
        numbers: dict[str, Any] = {}
        for step in range(1, _NUM_TRIED + 1):
            _step(usual, theirs, step)
            _step(bound, ours, step)
            equal = sum(_is_equal(usual.state[theirs].get(key), state[key]) for key in self.keys)
            self.score = (step, equal + _is_equal(theirs, ours))
            if self._differ(usual.state[theirs], state, step):
                return
            if not _is_equal(theirs, ours):
                self.problem = (
                    "it cannot be seen what its state begins with (seen in the update of step "
                    f"{step})"
                )
                return
            if step == 1:
                numbers = _numbers(usual)
        self.score = (_NUM_TRIED + 1, 0)
        now = _numbers(usual)
        self.counter = next((key for key in numbers if now.get(key) != numbers[key]), "")

    def _differ(self, usual: dict[str, Any], bound: dict[str, Any], step: int) -> bool:
        if more := usual.keys() - bound.keys() | {
            key
            for key, value in bound.items()
            if isinstance(value, torch.Tensor) and key not in self.keys
        }:
            self.problem = (
                f"it makes its state '{min(more)}' in step {step}, and a job has all state from "
                "the first step on"
            )
            return True
        for key in sorted(self.keys):
            if not _is_equal(usual.get(key), bound[key]):
                self.problem = (
                    f"it cannot be seen what its state begins with ('{key}', seen in step {step})"
                )
                return True
        return False


def _set(
    optimizer: torch.optim.Optimizer,
    parameter: nn.Parameter,
    begin: torch.Tensor,
    beginnings: Beginnings,
) -> None:
    """Sets all state, before the first step. `begin` is the value of the parameter."""
    state = optimizer.state[parameter]
    made = {key: one.clone() for key, one in state.items() if isinstance(one, torch.Tensor)}
    _step(optimizer, parameter, 0)
    for key, value in state.items():
        if not isinstance(value, torch.Tensor):
            continue
        beginning = beginnings.get(key, _ZEROS)
        if key in made:
            value.copy_(made[key])
        elif not beginning.is_copy:
            value.fill_(beginning.value(optimizer.param_groups[0]))
        elif value.shape == begin.shape:
            value.copy_(begin)
    with torch.no_grad():
        parameter.copy_(begin)


def _step(optimizer: torch.optim.Optimizer, parameter: nn.Parameter, step: int) -> None:
    torch.manual_seed(step)
    gradient = torch.tensor([[0.125, 0.5], [-0.25, 0.0625]])
    parameter.grad = gradient * (step % 5 - 1.5)
    optimizer.step()


def _numbers(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    return {key: value for key, value in vars(optimizer).items() if type(value) in (int, float)}


def _is_equal(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    if one.shape != other.shape:
        return False
    return torch.allclose(one.detach(), other.detach(), rtol=0, atol=0, equal_nan=True)
