# SPDX-License-Identifier: Apache-2.0
"""Prints the seconds that torch.distributed.checkpoint takes to save and load COUNT matrices of f32,
ROWS x COLUMNS each, on tmpfs and in one process. With a fourth argument, the matrices are on this
device."""

import shutil
import sys
import tempfile
import time

import torch
import torch.distributed.checkpoint as dcp

count, rows, columns = (int(word) for word in sys.argv[1:4])
device = sys.argv[4] if len(sys.argv) > 4 else "cpu"
state = {f"layer.{i}": torch.rand(rows, columns, device=device) for i in range(count)}
folder = tempfile.mkdtemp(dir="/dev/shm")
try:
    begin = time.monotonic()
    dcp.save(state, checkpoint_id=folder, no_dist=True)
    dcp.load(state, checkpoint_id=folder, no_dist=True)
    print(time.monotonic() - begin)
finally:
    shutil.rmtree(folder)
