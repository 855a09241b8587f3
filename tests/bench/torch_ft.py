# SPDX-License-Identifier: Apache-2.0
"""A program for torch_job_bench.py: one replica under torchft, with all of the state in each replica.

The model, its size and the log are those of torch_job.py. Appends to LOG one line per step: its
number, the time when it ended, two zeros, and the replicas that took part. After SIGTERM it ends
between two steps.
"""

import argparse
import datetime
import signal
import time

import torch
import torch.distributed as dist
import torchft

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("lighthouse")
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
arguments = parser.parse_args()
leaves = []
signal.signal(signal.SIGTERM, lambda *_: leaves.append(True))

torch.manual_seed(1)
layers = [torch.nn.Linear(arguments.width, arguments.width) for _ in range(arguments.layers)]
model = torch.nn.Sequential(*layers)
inner = torch.optim.AdamW(model.parameters(), lr=1e-4)


def state():
    return {"model": model.state_dict(), "optimizer": inner.state_dict()}


def load(values):
    model.load_state_dict(values["model"])
    inner.load_state_dict(values["optimizer"])


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
manager = torchft.Manager(
    pg=torchft.ProcessGroupGloo(timeout=datetime.timedelta(seconds=60)),
    load_state_dict=load,
    state_dict=state,
    min_replica_size=2,
    rank=0,
    world_size=1,
    store_addr="127.0.0.1",
    store_port=store.port,
    lighthouse_addr=arguments.lighthouse,
    hostname="127.0.0.1",
)
parallel = torchft.DistributedDataParallel(manager, model)
optimizer = torchft.Optimizer(manager, inner)
x = torch.ones(4, arguments.width)
while not leaves:
    before = manager.current_step()
    optimizer.zero_grad()
    parallel(x).square().mean().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if manager.current_step() != before:
        with open(arguments.log, "a", encoding="ascii") as file:
            print(manager.current_step(), time.monotonic(), 0, 0, manager.num_participants(), file=file)
