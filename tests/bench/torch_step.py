# SPDX-License-Identifier: Apache-2.0
"""A program for torch_step_bench.py: a job of one rank that makes each step twice, as a job and as an
ordinary loop of an equal model, in changing order.

Writes into LOG a first line with what binding and one copy of the bound state take, then one line per
step: seconds and CPU seconds as a job, the same as an ordinary loop. The ordinary loop clips, updates and
clears gradients as programs do. A step as a job includes what job.steps() does.
"""

import argparse
import time

import torch

import tessera.torch
from tessera.torch.binding import Binding

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--steps", type=int, default=40)
arguments = parser.parse_args()


def build(mesh):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(arguments.width, arguments.width) for _ in range(arguments.layers)]
    model = torch.nn.Sequential(*layers)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def line(*numbers):
    with open(arguments.log, "a", encoding="ascii") as file:
        print(*numbers, file=file, flush=True)


def clock():
    return time.perf_counter(), time.process_time()


def since(begin):
    return [now - then for now, then in zip(clock(), begin)]


def timed(function):
    def run(*words, **named):
        begin = time.perf_counter()
        try:
            return function(*words, **named)
        finally:
            spent[0] += time.perf_counter() - begin

    return run


x = torch.randn(arguments.batch, arguments.width)
spent = [0.0]
Binding.__init__ = timed(Binding.__init__)
Binding.initialise = timed(Binding.initialise)
job = tessera.torch.attach()
job.bind(build)
state = [parameter.detach() for parameter in job.model.parameters()]
state += [value for values in job.optimizer.state.values() for value in values.values()]
# Into memory that is there, as that of the arena is.
copies = [torch.zeros_like(tensor).fill_(1) for tensor in state]
begin = time.perf_counter()
for copy, tensor in zip(copies, state):
    copy.copy_(tensor)
copied = time.perf_counter() - begin
line(spent[0], copied, sum(tensor.nbytes for tensor in state))
del copies, state

model, optimizer = build(None)


def ordinary():
    begin = clock()
    loss = model(x).square().mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
    return since(begin)


begin = clock()
for step in job.steps():
    before = since(begin)
    first = ordinary() if step % 2 else None
    begin = clock()
    loss = job.model(x).square().mean()
    loss.backward()
    job.step(loss, max_norm=1.0)
    as_job = [a + b for a, b in zip(before, since(begin))]
    line(*as_job, *(first or ordinary()))
    if step == arguments.steps:
        time.sleep(3600)  # until the job is stopped
    begin = clock()
