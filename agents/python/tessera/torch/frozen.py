# SPDX-License-Identifier: Apache-2.0
"""Which parameters a job does not train for a while."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tessera._library import TesseraError
from tessera.torch.fsdp import fsdp_parameters
from tessera.torch.program import parameters


class Frozen:
    """Rules for parameters, by name, or by the name of a module for all of its own."""

    def __init__(self) -> None:
        self._rules: list[tuple[str, bool]] = []  # the last that fits a name counts
        self._model: nn.Module | None = None
        self._is_whole = True  # not a stage, which lacks names of other stages
        self._trained: dict[str, nn.Parameter] = {}  # by `build`

    def attach(self, model: nn.Module, is_whole: bool) -> None:
        """Raises TesseraError naming what the model has not."""
        self._model, self._is_whole = model, is_whole
        own = parameters(model)
        self._trained = {name: one for name, (one, _) in own.items() if one.requires_grad}
        for name, is_frozen in self._rules:
            self._check(name, is_frozen)
        self.apply()

    def change(self, names: tuple[str, ...], is_frozen: bool) -> None:
        """Raises TesseraError naming what cannot be changed."""
        for name in names:
            if not isinstance(name, str):
                raise TesseraError(
                    "job.freeze and job.unfreeze take names of parameters or modules, "
                    f"not {name!r:.80}"
                )
            self._check(name, is_frozen)
            self._rules = [rule for rule in self._rules if not _is_in(rule[0], name)]
            self._rules.append((name, is_frozen))
        self.apply()

    def _check(self, name: str, is_frozen: bool) -> None:
        if self._model is None or not self._is_whole:
            return
        if not any(_is_in(one, name) for one in self._trained):
            raise TesseraError(
                f"job.{'freeze' if is_frozen else 'unfreeze'}('{name}'): neither a parameter nor a "
                "module with parameters of this name has requires_grad=True when build(mesh) "
                "returns it, and a job has gradients for these only"
            )

    def apply(self) -> None:
        """To the model of the present mesh."""
        if self._model is None:
            return
        of_fsdp = {id(one.sharded_param): one for one in fsdp_parameters(self._model)}
        for name, parameter in self._trained.items():
            trains = not self._is_frozen(name)
            parameter.requires_grad_(trains)
            # FSDP2 computes with another one, which it makes once.
            whole = getattr(of_fsdp.get(id(parameter)), "_unsharded_param", None)
            if isinstance(whole, torch.Tensor):
                whole.requires_grad_(trains)

    def _is_frozen(self, name: str) -> bool:
        fitting = [is_frozen for of, is_frozen in self._rules if _is_in(name, of)]
        return fitting[-1] if fitting else False

    def state_dict(self) -> dict[str, Any]:
        return {"rules": [list(rule) for rule in self._rules]}

    def load_state_dict(self, state: Any) -> None:
        self._rules = [(name, is_frozen) for name, is_frozen in state["rules"]]
        self.apply()


def _is_in(name: str, of: str) -> bool:
    return name == of or name.startswith(of + ".")
