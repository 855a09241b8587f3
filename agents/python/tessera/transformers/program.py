# SPDX-License-Identifier: Apache-2.0
"""The model and optimizer of a Trainer, as often as a job needs them."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.distributed as dist
from torch import nn


class Program:
    """build(mesh) of a Trainer.

    The Trainer, its callbacks and the script hold references to the model. So the model stays the
    same object on all meshes, and only its parameters and buffers are replaced. A build that is
    made to describe the program, to check a mesh or to get initial values returns a copy.
    """

    uses_parameters_after_step = True  # the Trainer evaluates and saves there
    keeps_modules = True  # so their modes and hooks stay, too

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
        self._model = model
        self._seed = seed
        # A model and an optimizer without values, from which copies are made.
        memo: dict[int, Any] = {id(buffer): buffer for buffer in model.buffers()}
        for parameter in model.parameters():
            memo[id(parameter)] = _on_meta(parameter)
        self._bare, self._bare_optimizer = copy.deepcopy((model, optimizer), memo)
        _make_plain(self._bare_optimizer)

    def __call__(self, mesh: Any) -> tuple[nn.Module, torch.optim.Optimizer]:
        if torch.empty(0).device.type != "meta":  # for the initial values
            torch.manual_seed(self._seed)
            values = dict(self._model.named_parameters(remove_duplicate=False))
            return copy.deepcopy((self._bare, self._bare_optimizer), self._memo(values))
        if dist.get_backend() == "fake":
            return copy.deepcopy((self._bare, self._bare_optimizer))
        return self._model, copy.deepcopy(self._bare_optimizer, self._memo(self._empty()))

    def _memo(self, values: dict[str, nn.Parameter]) -> dict[int, Any]:
        """For deepcopy: `values` in place of the parameters without values."""
        named = self._bare.named_parameters(remove_duplicate=False)
        return {id(parameter): values[name] for name, parameter in named}

    def _empty(self) -> dict[str, nn.Parameter]:
        """Replaces the model's parameters by ones without values. Returns them by name."""
        held = list(self._model.parameters())  # an id is that of one object while it lives
        new = {id(parameter): _on_meta(parameter) for parameter in held}
        for module in self._model.modules():
            for key, parameter in list(module._parameters.items()):
                if parameter is not None:
                    setattr(module, key, new[id(parameter)])
        return dict(self._model.named_parameters(remove_duplicate=False))


def _on_meta(parameter: nn.Parameter) -> nn.Parameter:
    return nn.Parameter(parameter.detach().to("meta"), requires_grad=parameter.requires_grad)


def _make_plain(optimizer: torch.optim.Optimizer) -> None:
    """Without fused kernels, which refuse the meta device, and without a schedule."""
    for group in [optimizer.defaults, *optimizer.param_groups]:
        if group.get("fused"):
            group["fused"] = None
        if "initial_lr" in group:
            group["lr"] = group.pop("initial_lr")
