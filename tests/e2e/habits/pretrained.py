# SPDX-License-Identifier: Apache-2.0
"""Weights of transformers, and of a file, are loaded in build(mesh)."""

import pathlib

import pace
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

import tessera.torch

folder = pathlib.Path(__file__).with_name("weights")
if not (folder / "head.pt").exists():  # by the process that describes the job, before its ranks
    torch.manual_seed(7)
    sizes = {"vocab_size": 64, "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2}
    sizes |= {"bos_token_id": None, "eos_token_id": None}
    dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    GPT2LMHeadModel(GPT2Config(**sizes, **dropout)).save_pretrained(folder)
    torch.save(torch.nn.Linear(64, 64).state_dict(), folder / "head.pt")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = AutoModelForCausalLM.from_pretrained(folder)
        self.head = torch.nn.Linear(64, 64)

    def forward(self, x):
        return self.head(self.base(input_ids=x).logits)


def build(mesh):
    model = Model().train()
    model.head.load_state_dict(torch.load(folder / "head.pt"))
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


data = torch.randint(0, 64, (96, 16), generator=torch.Generator().manual_seed(1))
job = tessera.torch.attach()
job.bind(build)
batch = job.sampler(len(data), global_batch=12)
for step in job.steps(until=pace.steps):
    x = data[batch()].to(job.device)
    loss = torch.nn.functional.cross_entropy(job.model(x).flatten(0, 1), x.flatten())
    loss.backward()
    job.step(loss)
    pace.wait()
