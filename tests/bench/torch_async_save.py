# SPDX-License-Identifier: Apache-2.0
"""Prints the seconds that torch.distributed.checkpoint.async_save takes for COUNT matrices of f32,
ROWS x COLUMNS each, on tmpfs and in one process, and those until the call returns."""

import shutil
import sys
import tempfile
import time

import torch
import torch.distributed.checkpoint as dcp

count, rows, columns = (int(word) for word in sys.argv[1:4])
state = {f"layer.{i}": torch.rand(rows, columns) for i in range(count)}
folder = tempfile.mkdtemp(dir="/dev/shm")
try:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=0, world_size=1)
    begin = time.monotonic()
    done = dcp.async_save(state, checkpoint_id=folder + "/checkpoint")
    returned = time.monotonic() - begin
    done.result()
    print(time.monotonic() - begin, returned)
finally:
    shutil.rmtree(folder)
