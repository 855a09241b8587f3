# SPDX-License-Identifier: Apache-2.0
"""Programs and loops that the tests share."""

import copy
import functools
import json
import os
import socket
import subprocess
import sys
import unittest

import torch
import torch.distributed as dist
from torch import nn

import tessera.torch
from tessera import TesseraError

SIZES = {"pp": 1, "dp": 1, "ep": 1, "cp": 1, "tp": 1}


class Net(nn.Module):
    """With a buffer that forward() changes, one that it does not, and a dropout."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(4, 3)
        self.scale = 2.0
        self.register_buffer("average", torch.zeros(3))

    def forward(self, x):
        return self.out(self.drop(self.norm(x))) * self.scale


def build(mesh):
    torch.manual_seed(1)
    model = Net()
    return model, torch.optim.AdamW(model.parameters(), lr=0.01)


def build_averaged(mesh):
    """With an average of the weights as a frozen part of the model."""
    model, optimizer = build(mesh)
    model.slow = copy.deepcopy(model.out).requires_grad_(False)

    def follow(*_):
        slow, out = [p.detach() for p in model.slow.parameters()], list(model.out.parameters())
        torch._foreach_lerp_(slow, [p.detach() for p in out], 0.1)

    optimizer.register_step_post_hook(follow)
    return model, optimizer


class Loop(unittest.TestCase):
    """A job without Tessera, whose loop is the same as in a job."""

    def setUp(self):
        for name in ("WORLD_SIZE", "TESSERA_RANK_SOCKET", "TESSERA_DESCRIBE"):
            os.environ.pop(name, None)
        self.end_groups()  # of a subtest that has failed
        self.addCleanup(self.end_groups)
        self.job = tessera.torch.attach()

    def end_groups(self):
        if dist.is_initialized():
            dist.destroy_process_group()

    def bind(self, build=build):
        self.job.bind(build)
        return self.job

    def run_steps(self, num=3, before=None, middle=None, after=None):
        """Calls with the number of the step: at its beginning, after backward(), at its end."""
        job = self.job
        for at in job.steps():
            if before:
                before(at)
            loss = job.model(torch.ones(2, 4) * at).square().mean()
            loss.backward()
            if middle:
                middle(at)
            job.step(loss)
            if after:
                after(at)
            if at == num:
                return

    def refuses(self, *words):
        """A context: what is in it raises a TesseraError of one sentence with these words."""
        return _Refused(self, words)


class _Refused:
    def __init__(self, test, words):
        self._test, self._words = test, words

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        self._test.assertIsNotNone(error, "it was accepted")
        if not isinstance(error, TesseraError):
            return False
        for word in self._words:
            self._test.assertIn(word, str(error))
        self._test.assertNotIn("\n", str(error))
        return True


HEAD = """
import torch, tessera.torch
from torch import nn
job = tessera.torch.attach()
def build(mesh):
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)
rank = int(__import__("os").environ.get("RANK", "0"))
"""


@functools.cache
def _rank_server():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank_server.py")
    return subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def run_ranks(text, num=2):
    """Runs a script after HEAD in `num` processes, as torchrun does. Returns (status, output, last
    line of its errors) of each."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.path.dirname(os.path.dirname(tessera.torch.__path__[0])),
        "OMP_NUM_THREADS": "1",
        "WORLD_SIZE": str(num),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    environments = [
        {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(num)
    ]
    server = _rank_server()
    server.stdin.write(json.dumps({"source": HEAD + text, "environments": environments}) + "\n")
    server.stdin.flush()
    out = []
    for status, output, errors in json.loads(server.stdout.readline()):
        lines = [line for line in errors.splitlines() if "Error: " in line]
        out.append((status, output, lines[-1] if lines else errors))
    return out
