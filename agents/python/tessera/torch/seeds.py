# SPDX-License-Identifier: Apache-2.0
"""Random numbers that a script draws before its loop, such as to split its data.

All ranks must draw the same, also ranks that join later, and many scripts set no seed there.
"""

from __future__ import annotations

import contextlib
import os
import random
import zlib
from typing import Any

import torch
from torch.utils.data import dataset

from tessera.describe import FOLDER

_SEED = 42  # that of TrainingArguments of transformers
_checksum_of_splits = 0


def set_seeds() -> None:
    """Seeds torch, NumPy and Python in a process that has other ranks beside it, or may get them.

    Overrides seeds that the script has set before.
    """
    if not any(name in os.environ for name in ("TESSERA_RANK_SOCKET", FOLDER, "WORLD_SIZE")):
        return
    random.seed(_SEED)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(_SEED)
    torch.manual_seed(_SEED)


def note_splits() -> None:
    """Notes the orders that random_split draws from now on, for checksum_of_splits()."""
    module: Any = dataset
    draw = module.randperm

    def noted(*arguments: Any, **options: Any) -> torch.Tensor:
        global _checksum_of_splits
        order: torch.Tensor = draw(*arguments, **options)
        weights = torch.arange(1, len(order) + 1, device=order.device)
        weighted = int((order * weights).sum())
        _checksum_of_splits = zlib.crc32(str(weighted).encode(), _checksum_of_splits)
        return order

    module.randperm = noted


def checksum_of_splits() -> int:
    """Returns a checksum of the orders in which random_split has dealt data so far."""
    return _checksum_of_splits
