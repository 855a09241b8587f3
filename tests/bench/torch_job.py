# SPDX-License-Identifier: Apache-2.0
"""A program for torch_job_bench.py: FSDP2 over linear layers, under Tessera or under torchrun.

Appends to LOG one line per step: its number, the time when it ended, the seconds of job.step and
those of the optimizer in it. Under torchrun it also saves to and loads from CHECKPOINT, as programs
do today to change their number of ranks.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--until", type=int)
parser.add_argument("--checkpoint")
arguments = parser.parse_args()


def build(mesh):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(arguments.width, arguments.width) for _ in range(arguments.layers)]
    model = torch.nn.Sequential(*layers)
    for layer in model:
        fully_shard(layer, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def memory() -> str:
    """Of this process, in bytes: its own, and what it shares."""
    sums = {}
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if rest.strip().endswith("kB"):
                sums[name] = int(rest.split()[0]) * 1024
    return f"{sums['Pss_Anon']} {sums['Pss_Shmem']}"


job = tessera.torch.attach()
job.bind(build)
rank = int(os.environ.get("RANK", "0"))
if arguments.checkpoint and os.path.exists(arguments.checkpoint):
    states = get_state_dict(job.model, job.optimizer)
    dcp.load({"model": states[0], "optimizer": states[1]}, checkpoint_id=arguments.checkpoint)
    set_state_dict(job.model, job.optimizer, model_state_dict=states[0], optim_state_dict=states[1])
x = torch.ones(4, arguments.width)
for step in job.steps():
    spent = [0.0]
    update = job.optimizer.step

    def timed(update=update, spent=spent):
        begin = time.monotonic()
        update()
        spent[0] = time.monotonic() - begin

    job.optimizer.step = timed
    loss = job.model(x).square().mean()
    loss.backward()
    begin = time.monotonic()
    job.step(loss, max_norm=1.0)
    end = time.monotonic()
    job.optimizer.step = update
    if job.mesh.get_rank() == 0:
        with open(arguments.log, "a", encoding="ascii") as file:
            print(step, end, end - begin, spent[0], job.mesh.size(), memory(), file=file)
    if arguments.until == step:
        if arguments.checkpoint:
            states = get_state_dict(job.model, job.optimizer)
            dcp.save(
                {"model": states[0], "optimizer": states[1]}, checkpoint_id=arguments.checkpoint
            )
        break
dist.barrier()  # a rank that ends early would end the others' collectives
dist.destroy_process_group()
