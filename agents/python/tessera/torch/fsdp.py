# SPDX-License-Identifier: Apache-2.0
"""What FSDP2 keeps about parameters."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.distributed.fsdp import FSDPModule


def fsdp_parameters(model: nn.Module) -> list[Any]:
    """Each once."""
    out = []
    for module in model.modules():
        if isinstance(module, FSDPModule):
            state = module._get_fsdp_state()
            groups = getattr(state, "_fsdp_param_groups", None) or [state._fsdp_param_group]
            for group in groups:
                if group is not None:
                    out.extend(group.fsdp_params)
    return out
