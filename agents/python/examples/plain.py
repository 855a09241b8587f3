# SPDX-License-Identifier: Apache-2.0
"""A small language model over bytes, with every parameter on each rank (data parallel).

tesseractl job start plain.py --mesh dp=2      torchrun --nproc-per-node 2 plain.py
"""

import argparse
import sys
import time

import torch
from text import sequences
from torch import nn

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--dropout", type=float, default=0.1)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
SEQUENCE = 64


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, width)
        self.recurrent = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 256)
        self.out.weight = self.embedding.weight  # tied

    def forward(self, bytes_: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.recurrent(self.embedding(bytes_[:, :-1]))
        logits = self.out(job.dropout(hidden, arguments.dropout, site=1))  # the same on any mesh
        return nn.functional.cross_entropy(logits.flatten(0, 1), bytes_[:, 1:].flatten())


def build(mesh):
    torch.manual_seed(1)
    model = Model(arguments.width)
    return model, torch.optim.AdamW(model.parameters(), lr=arguments.lr)


data = sequences(SEQUENCE)

job = tessera.torch.attach()
job.bind(build)
job.schedule(lambda step: min(1.0, step / 20))  # warm-up
batch = job.sampler(len(data), global_batch=24)
for step in job.steps(until=arguments.steps):
    samples = data[batch()].to(job.device)
    loss = job.model(samples)
    loss.backward()
    decision = job.step(loss, max_norm=1.0, tokens=samples.numel())
    time.sleep(arguments.delay)
    if step % 20 == 0:
        print(f"step {step}: loss {decision.loss:.4f}", file=sys.stderr)
