# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints with torch, and beside them what their tensors hold.

torch_judge.py FOLDER fills FOLDER with dcp/, sharded/ (four ranks), megatron/, state.pt and model/,
and with expected.json: a list of {"checkpoint", "name", "dtype", "shape", "file"}, each file being
the elements of a tensor, row-major and little-endian. The dtype is spelt as Tessera does.
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp

NUM_RANKS = 4
NAMES = {
    torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16",
    torch.int32: "i32", torch.int64: "i64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float32: "f32", torch.float64: "f64", torch.float8_e4m3fn: "f8e4m3",
    torch.float8_e5m2: "f8e5m2", torch.complex64: "c64",
    torch.float8_e4m3fnuz: "f8e4m3fnuz", torch.float8_e5m2fnuz: "f8e5m2fnuz",
}
for late in ("uint16", "uint32", "uint64"):  # torch 2.3 and later
    if hasattr(torch, late):
        NAMES[getattr(torch, late)] = late.replace("uint", "u")


class Expected:
    """What a reader should find."""

    def __init__(self, folder):
        self.folder = folder
        self.entries = []

    def add(self, checkpoint, name, tensor):
        file = f"expected-{len(self.entries)}.bin"
        plain = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
        (self.folder / file).write_bytes(bytes(plain.tolist()))
        self.entries.append({"checkpoint": checkpoint, "name": name, "dtype": NAMES[tensor.dtype],
                             "shape": list(tensor.shape), "file": file})

    def write(self):
        (self.folder / "expected.json").write_text(json.dumps(self.entries))


def numbers(shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(0, 100, shape, generator=generator, dtype=torch.int32)
    return values.to(torch.float32).to(dtype) if dtype.is_floating_point else values.to(dtype)


def plain_state():
    state = {f"of.{name}": numbers((5, 3), dtype, i)
             for i, (dtype, name) in enumerate(NAMES.items())}
    state["transposed"] = numbers((4, 6)).t()
    state["permuted"] = numbers((2, 3, 4)).permute(2, 0, 1)
    state["part of a larger one"] = numbers((8, 8))[2:5, 1:7:2]
    state["scalar"] = torch.tensor(2.5)
    state["without elements"] = torch.zeros(0, 4)
    state["a name that is not ASCII: ä"] = numbers((3,))
    return state


def write_dcp(folder, expected):
    state = plain_state()
    dcp.save({"model": state, "step": 7, "extra": {"list": [1, 2]}},
             checkpoint_id=str(folder / "dcp"), no_dist=True)
    for name, tensor in state.items():
        expected.add("dcp", "model." + name, tensor)


def sharded_state():
    return {"rows": numbers((10, 6), seed=1), "columns": numbers((4, 9), torch.bfloat16, 2),
            "both": numbers((7, 5), torch.float64, 3), "replicated": numbers((3, 2), seed=4),
            "few rows": numbers((3, 4), seed=5)}


def rank_main(rank, folder):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    warnings.simplefilter("ignore")
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank,
                            world_size=NUM_RANKS)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    cuts = {"rows": [Replicate(), Shard(0)], "columns": [Replicate(), Shard(1)],
            "both": [Shard(0), Shard(1)], "replicated": [Replicate(), Replicate()],
            "few rows": [Shard(0), Shard(0)]}
    state = {name: distribute_tensor(tensor, mesh, cuts[name])
             for name, tensor in sharded_state().items()}
    dcp.save(state, checkpoint_id=str(folder / "sharded"))
    dist.destroy_process_group()


def write_sharded(folder, expected):
    mp.spawn(rank_main, args=(folder,), nprocs=NUM_RANKS)
    for name, tensor in sharded_state().items():
        expected.add("sharded", name, tensor)


def write_megatron(folder, expected):
    iteration = folder / "megatron" / "iter_0000100"
    weight = numbers((6, 4), torch.bfloat16, 9)
    dcp.save({"decoder.layers.self_attention.linear_qkv.weight": weight,
              "rng_state/shard_0.0_1.1": {"random": 1}},
             checkpoint_id=str(iteration), no_dist=True)
    args = argparse.Namespace(hidden_size=64, params_dtype=torch.bfloat16, lr=1e-4,
                              save=pathlib.PosixPath("/checkpoints"), betas=(0.9, 0.95))
    torch.save({"args": args, "iteration": 100, "checkpoint_version": 3.0,
                "opt_param_scheduler": collections.OrderedDict(max_lr=1e-4)},
               iteration / "common.pt")
    (iteration / "metadata.json").write_text(
        json.dumps({"sharded_backend": "torch_dist", "sharded_backend_version": 1}))
    (folder / "megatron" / "latest_checkpointed_iteration.txt").write_text("100")
    expected.add("megatron", "decoder.layers.self_attention.linear_qkv.weight", weight)


def write_torch_save(folder, expected):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "plain": plain_state(),
             "parameter": torch.nn.Parameter(torch.ones(2)), "epoch": 3}
    torch.save(state, folder / "state.pt")
    for name, tensor in state["model"].items():
        expected.add("state.pt", "model." + name, tensor)
    for number, values in state["optimizer"]["state"].items():
        for name, tensor in values.items():
            expected.add("state.pt", f"optimizer.state.{number}.{name}", tensor)
    for name, tensor in state["plain"].items():
        expected.add("state.pt", "plain." + name, tensor)
    expected.add("state.pt", "parameter", state["parameter"])

    (folder / "model").mkdir()
    files = {}
    for number, (name, tensor) in enumerate(model.state_dict().items()):
        file = f"pytorch_model-{number + 1:05}-of-00004.bin"
        torch.save({name: tensor}, folder / "model" / file)
        files[name] = file
        expected.add("model", name, tensor)
    (folder / "model" / "pytorch_model.bin.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": files}))


def main():
    warnings.simplefilter("ignore")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    folder = pathlib.Path(sys.argv[1])
    expected = Expected(folder)
    write_dcp(folder, expected)
    write_sharded(folder, expected)
    write_megatron(folder, expected)
    write_torch_save(folder, expected)
    expected.write()


if __name__ == "__main__":
    main()
