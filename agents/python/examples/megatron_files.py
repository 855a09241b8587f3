# SPDX-License-Identifier: Apache-2.0
"""A program in the manner of Megatron-LM: weights cut by columns and rows over tp, samples over dp,
Adam, and one checkpoint per model-parallel rank (mp_rank_00, mp_rank_01, …). NumPy only.

With Tessera the same state goes through `tessera.files`, so the job can be given another mesh:

    python3 megatron_files.py --rules > rules.json
    python3 -m tessera.files list -- python3 megatron_files.py > tensors.json
    tesseractl job start megatron_files.py --kind files --tensors tensors.json --rules rules.json \\
        --mesh tp=2
"""

import argparse
import json
import os
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
parser.add_argument("--save", metavar="DIR", help="without Tessera: where checkpoints are")
parser.add_argument("--rules", action="store_true", help="print a rules file for Tessera")
arguments = parser.parse_args()

INPUTS, HIDDEN, OUTPUTS, BATCH = 16, 48, 8, 24

# The gate and the projection to the hidden layer are one tensor, as in Megatron's SwiGLU.
GATED = {"segments": {"dim": 0, "sizes": [HIDDEN, HIDDEN]}, "dims": [["tp"], []]}
RULES = {
    "rules": [
        {"match": "fc1.weight", "cut": GATED},
        {"match": "fc2.weight", "cut": "rowwise"},
        {"match": "fc2.bias", "cut": "replicate"},
    ]
}


class Alone:
    """One rank, with checkpoints in its own folder per model-parallel rank."""

    def __init__(self, folder):
        self.mesh = {"dp": 1, "tp": 1}
        self.coordinates = {"dp": 0, "tp": 0}
        self.path = os.path.join(folder or ".", "mp_rank_00", "model_optim.npz")
        self.loads = folder is not None
        self.step = 0

    def part_of(self, name, whole):
        return whole

    def load(self):
        if not self.loads or not os.path.exists(self.path):
            return None
        with np.load(self.path) as saved:
            state = {name: saved[name] for name in saved}
        self.step = int(state.pop("iteration"))
        return state

    def save(self, state, step):
        if self.loads:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            np.savez(self.path, iteration=step, **state)

    def all_reduce(self, array, axis):
        return array

    def end_step(self, state, step, loss):
        if step % 10 == 0:
            print(f"step {step}: loss {loss:.6f}")
        if step == arguments.steps:
            self.save(state, step)


class Tessera:
    """A rank of a job: the same, with the state in the file that Tessera gives and takes."""

    def __init__(self):
        import tessera.files

        self.files = tessera.files
        self.run = tessera.files.begin()
        self.mesh, self.coordinates = self.run.mesh, self.run.coordinates
        self.step = self.run.step
        self.part_of, self.load = self.run.part_of, tessera.files.load
        self.all_reduce = tessera.files.all_reduce

    def save(self, state, step):
        self.files.save(state)

    def end_step(self, state, step, loss):
        self.files.report(step, loss, last=step == arguments.steps)
        if self.files.should_save():
            self.files.save(state)


def initial(rank):
    """The same whole weights on every rank, of which each takes its part."""
    random = np.random.default_rng(1)
    shapes = {"fc1.weight": (2 * HIDDEN, INPUTS), "fc2.weight": (OUTPUTS, HIDDEN)}
    weights = {n: random.normal(0, s[1] ** -0.5, s).astype("f4") for n, s in shapes.items()}
    weights["fc2.bias"] = np.zeros(OUTPUTS, "f4")
    state = {}
    for name, weight in weights.items():
        state[name] = rank.part_of(name, weight)
        state[name + ".exp_avg"] = np.zeros_like(state[name])
        state[name + ".exp_avg_sq"] = np.zeros_like(state[name])
    return state


def samples(rank, step):
    """This rank's samples of a step: they depend on the step, not on the mesh."""
    random = np.random.default_rng([2, step])
    x = random.normal(size=(BATCH, INPUTS))
    wanted = np.tanh(x[:, :OUTPUTS] * x[:, OUTPUTS : 2 * OUTPUTS])
    mine = slice(rank.coordinates["dp"], BATCH, rank.mesh["dp"])
    return x[mine], wanted[mine]


def gradients(rank, state, step):
    """Loss of the whole batch, and gradients of this rank's part of the weights."""
    x, wanted = samples(rank, step)
    fc1, fc2 = state["fc1.weight"].astype("f8"), state["fc2.weight"].astype("f8")
    half = len(fc1) // 2
    gate, value = x @ fc1[:half].T, x @ fc1[half:].T
    sigmoid = 1 / (1 + np.exp(-gate))
    hidden = gate * sigmoid * value
    # Each rank has some columns of fc2 only.
    out = rank.all_reduce(hidden @ fc2.T, "tp") + state["fc2.bias"]
    error = out - wanted
    d_out = 2 * error / (BATCH * OUTPUTS)
    d_hidden = d_out @ fc2
    d_gate = d_hidden * value * (sigmoid + gate * sigmoid * (1 - sigmoid))
    d_value = d_hidden * gate * sigmoid
    found = {
        "fc1.weight": np.concatenate([d_gate.T @ x, d_value.T @ x]),
        "fc2.weight": d_out.T @ hidden,
        "fc2.bias": d_out.sum(0),
    }
    loss = rank.all_reduce(np.array([np.square(error).sum() / (BATCH * OUTPUTS)]), "dp")
    return float(loss[0]), {name: rank.all_reduce(g, "dp") for name, g in found.items()}


def update(state, found, step):
    for name, gradient in found.items():
        mean, square = state[name + ".exp_avg"], state[name + ".exp_avg_sq"]
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (np.square(gradient) - square)
        scale = np.sqrt(square / (1 - 0.999**step)) + 1e-6
        state[name] -= arguments.lr * (mean / (1 - 0.9**step)) / scale


def main():
    rank = Tessera() if "TESSERA_FOLDER" in os.environ else Alone(arguments.save)
    state = rank.load()
    if state is None:
        state = initial(rank)
        rank.save(state, 0)
    for step in range(rank.step + 1, arguments.steps + 1):
        loss, found = gradients(rank, state, step)
        update(state, found, step)
        time.sleep(arguments.delay)
        rank.end_step(state, step, loss)


if arguments.rules:
    print(json.dumps(RULES, indent=2))
else:
    main()
