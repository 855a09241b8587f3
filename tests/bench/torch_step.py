# SPDX-License-Identifier: Apache-2.0
"""A program for torch_step_bench.py: steps of one rank, as a job or as an ordinary loop.

Writes into LOG one line per step with its seconds. As a job the first line has what binding and one
copy of the bound state take. The ordinary loop clips, updates and clears gradients as programs do.
"""

import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--plain", action="store_true")
arguments = parser.parse_args()


def build(mesh):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(arguments.width, arguments.width) for _ in range(arguments.layers)]
    model = torch.nn.Sequential(*layers)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def line(*numbers):
    with open(arguments.log, "a", encoding="ascii") as file:
        print(*numbers, file=file, flush=True)


x = torch.randn(arguments.batch, arguments.width)
if arguments.plain:
    model, optimizer = build(None)
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        loss = model(x).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        line(time.perf_counter() - begin)
else:
    import tessera.torch
    from tessera.torch.binding import Binding

    spent = [0.0]

    def timed(function):
        def run(*words, **named):
            begin = time.perf_counter()
            try:
                return function(*words, **named)
            finally:
                spent[0] += time.perf_counter() - begin

        return run

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
    for step in job.steps():
        begin = time.perf_counter()
        loss = job.model(x).square().mean()
        loss.backward()
        job.step(loss, max_norm=1.0)
        line(time.perf_counter() - begin)
        if step == arguments.steps:
            time.sleep(3600)  # until the job is stopped
