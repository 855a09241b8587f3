# SPDX-License-Identifier: Apache-2.0
"""A transformer with FSDP2, written for torchrun, and what Tessera changes in it.

A line that ends in "# Tessera" takes the place of the lines above it that begin with "#-", or is
new. Without the one or the other it is the script that one writes for torchrun alone.

tesseractl job start fsdp2_tutorial.py --mesh dp=4
torchrun --nproc-per-node 4 fsdp2_tutorial.py
"""

import argparse
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

# was: from torch.distributed.device_mesh import init_device_mesh
# was: from torch.utils.data import DataLoader
# was: from torch.utils.data.distributed import DistributedSampler
import tessera.torch  # Tessera

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--batch", type=int, default=16, help="sequences per step, of all ranks")
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()


@dataclass(frozen=True)
class Sizes:
    layers: int = 3
    width: int = 64
    heads: int = 4
    words: int = 128
    length: int = 32


class Attention(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.query = nn.Linear(sizes.width, sizes.width, bias=False)
        self.key = nn.Linear(sizes.width, sizes.width, bias=False)
        self.value = nn.Linear(sizes.width, sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(sizes.width)
        self.attention = Attention(sizes)
        self.feed_norm = nn.LayerNorm(sizes.width)
        self.feed = nn.Sequential(
            nn.Linear(sizes.width, 4 * sizes.width),
            nn.GELU(),
            nn.Linear(4 * sizes.width, sizes.width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed(self.feed_norm(x))


class Transformer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.places = nn.Embedding(sizes.length, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = nn.LayerNorm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.words, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.words(words) + self.places.weight[: words.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def make_data(sizes: Sizes, rows: int = 4096) -> torch.Tensor:
    """Sequences that count in steps of 1 to 7 from anywhere, with one word in ten replaced."""
    random = torch.Generator().manual_seed(7)
    begin = torch.randint(sizes.words, (rows, 1), generator=random)
    stride = torch.randint(1, 8, (rows, 1), generator=random)
    counted = (begin + stride * torch.arange(sizes.length + 1)) % sizes.words
    noise = torch.randint(sizes.words, counted.shape, generator=random)
    return torch.where(torch.rand(counted.shape, generator=random) < 0.1, noise, counted)


def build(mesh: DeviceMesh) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The model, sharded over the mesh layer by layer, and its optimizer."""
    torch.manual_seed(1)
    model = Transformer(Sizes())
    # was: sharding = {"mesh": mesh}
    sharding = {"mesh": mesh["dp"]}  # Tessera
    for layer in model.layers:
        fully_shard(layer, **sharding)
    fully_shard(model, **sharding)
    return model, torch.optim.Adam(model.parameters(), lr=arguments.lr)


data = make_data(Sizes())

# was: torch.distributed.init_process_group("gloo")
# was: mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),), mesh_dim_names=("dp",))
# was: model, optimizer = build(mesh)
job = tessera.torch.attach()  # Tessera
job.bind(build)  # Tessera

# was: sampler = DistributedSampler(data, drop_last=True)
# was: batches = iter(DataLoader(data, arguments.batch // mesh.size(), sampler=sampler))
batch = job.sampler(len(data), global_batch=arguments.batch)  # Tessera

# was: for step in range(1, arguments.steps + 1):
for step in job.steps(until=arguments.steps):  # Tessera
    # was: text = next(batches)
    text = data[batch()].to(job.device)  # Tessera
    model = job.model  # Tessera
    words = model(text[:, :-1])
    loss = F.cross_entropy(words.flatten(0, 1), text[:, 1:].flatten())
    # was: optimizer.zero_grad()
    loss.backward()
    # was: torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    # was: optimizer.step()
    decision = job.step(loss, max_norm=1.0, tokens=words[..., 0].numel())  # Tessera
    time.sleep(arguments.delay)
    if step % 20 == 0:
        # was: print(f"step {step}: loss {loss.item():.4f}", file=sys.stderr)
        print(f"step {step}: loss {decision.loss:.4f}", file=sys.stderr)  # Tessera

# was: torch.distributed.destroy_process_group()
