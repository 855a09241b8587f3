# SPDX-License-Identifier: Apache-2.0
"""Checks that a loop with `tessera.torch` trains as an ordinary loop of torch does, and what it refuses.

torch_program_judge.py FOLDER: FOLDER has the package. Exits with 1 and a line for each difference.
"""

import os
import sys

sys.path.insert(0, sys.argv[1])

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import fully_shard

import tessera.torch
from tessera import TesseraError
from tessera.torch.binding import Program
from tessera.torch.groups import forget_in_backward, pretended
from tessera.torch.job import TorchJob, _compare_values, _parts_of, _refuse
from tessera.torch.program import (
    StateOfOptimizer,
    call,
    check_memory,
    local_of,
    make_state,
    parameters,
    state_of,
)

STEPS = 8
CPU = torch.device("cpu")
wrong = []


def says(what, sentence, call):
    try:
        call()
    except TesseraError as error:
        if sentence not in str(error):
            wrong.append(f"{what}: {error}")
        return
    wrong.append(f"{what}: was accepted")


class Heads(nn.Module):
    """Each step uses one of two heads, and never the third."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 5)
        self.heads = nn.ModuleList(nn.Linear(5, 2) for _ in range(3))

    def forward(self, x, head):
        return self.heads[head](torch.tanh(self.trunk(x)))


OPTIMIZERS = {
    "AdamW": lambda own: torch.optim.AdamW(own, lr=0.1, weight_decay=0.3),
    "SGD": lambda own: torch.optim.SGD(own, lr=0.1, momentum=0.9, weight_decay=0.1),
}


def build_heads(optimizer):
    torch.manual_seed(1)
    model = Heads()
    return model, OPTIMIZERS[optimizer](model.parameters())


def loss_of(model, step, rank=0, world=1):
    """Ranks use different heads in odd steps."""
    generator = torch.Generator().manual_seed(step)
    x = torch.randn(4 * world, 6, generator=generator)[4 * rank : 4 * rank + 4]
    return model(x, (step // 2 + rank * (step % 2)) % 2).square().mean()


def compare(what, got, expected):
    for (name, ours), theirs in zip(got.named_parameters(), expected.parameters()):
        if not torch.equal(ours.detach(), theirs.detach()):
            wrong.append(f"{what}: '{name}' differs from that of an ordinary loop")


def train(optimizer, rank=0, world=1):
    job = tessera.torch.attach()
    job.bind(lambda mesh: build_heads(optimizer))
    for step in job.steps():
        loss = loss_of(job.model, step, rank, world)
        loss.backward()
        job.step(loss)
        if step == STEPS:
            return job.model
    return None


def unused_parameters_are_left_as_they_are():
    for optimizer in OPTIMIZERS:
        model, update = build_heads(optimizer)
        for step in range(1, STEPS + 1):
            loss_of(model, step).backward()
            update.step()
            update.zero_grad()
        compare(f"one rank, {optimizer}", train(optimizer), model)
        dist.destroy_process_group()


def rank_main(rank, ports, out):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", LOCAL_RANK="0")
    for optimizer, port in zip(OPTIMIZERS, ports):
        os.environ["MASTER_PORT"] = str(port)
        ours = train(optimizer, rank, 2)
        model, update = build_heads(optimizer)
        parallel = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
        for step in range(1, STEPS + 1):
            loss_of(parallel, step, rank, 2).backward()
            update.step()
            update.zero_grad()
        compare(f"two ranks, {optimizer}", ours, model)
        dist.destroy_process_group()
    os.environ["MASTER_PORT"] = str(ports[-1])
    torch.manual_seed(rank)
    dist.init_process_group("gloo")
    same = torch.ones(3)
    _compare_values({"a": same, "b": same}, CPU)
    says(
        "values",
        "'b.noise' begins with other values on other ranks: set a seed before",
        lambda: _compare_values({"a": same, "b.noise": torch.randn(3)}, CPU),
    )
    dist.destroy_process_group()
    out.put(wrong)


def also_if_ranks_use_others():
    stores = [dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) for _ in range(3)]
    ports = [store.port for store in stores]
    del stores
    out = mp.get_context("spawn").Queue()
    started = mp.spawn(rank_main, args=(ports, out), nprocs=2, join=False)
    for _ in range(2):
        wrong.extend(out.get(timeout=90))
    started.join()


def build_cut(optimizer, ranks):
    model = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5))
    for layer in model:
        fully_shard(layer, mesh=ranks)
    return model, optimizer(model.parameters())


def state_of_optimizers_is_the_same():
    """Written down for another mesh and rank as make_state() computes it there."""
    sizes = [{"pp": 1, "dp": dp, "ep": 1, "cp": 1, "tp": 1} for dp in (2, 3)]
    for name in ("AdamW", "SGD", "RMSprop", "Adamax", "RAdam"):
        options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
        optimizer = lambda own, name=name, options=options: getattr(torch.optim, name)(own, **options)
        with pretended(sizes[0]) as mesh:
            with torch.device("meta"):
                made = build_cut(optimizer, mesh["dp"])
            make_state(made[1])
            known = StateOfOptimizer(*made)
        with pretended(sizes[1], 2) as mesh:
            with torch.device("meta"):
                both = [build_cut(optimizer, mesh["dp"]) for _ in range(2)]
            known.make(*both[0])
            make_state(both[1][1])
            texts = []
            for one in both:
                try:
                    texts.append(
                        [(t.name, t.dtype, t.shape, t.cuts(), t.box()) for t, _, _ in state_of(*one)]
                    )
                except TesseraError as error:
                    texts.append(str(error))
        if texts[0] != texts[1]:
            wrong.append(f"{name}: {texts[0]} and not {texts[1]}")


class Joined(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(4, 4))
        self.second = nn.Parameter(part(self.first.data))


def memory_is_not_shared():
    with torch.device("meta"):
        says(
            "rows of another",
            "'first' and 'second' are different tensors in the same memory",
            lambda: check_memory(Joined(lambda first: first[1:3])),
        )
        check_memory(Joined(lambda first: first[1:3].clone()))
        halves = torch.zeros(8).chunk(2)
        apart = nn.ParameterList([nn.Parameter(half) for half in halves])
        check_memory(apart)
        tied = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        tied[1].weight = tied[0].weight
        check_memory(tied)


def state_without_a_cut_is_refused():
    class Rows(torch.optim.Optimizer):
        def __init__(self, own):
            super().__init__(own, {})

        def step(self):
            for parameter in self.param_groups[0]["params"]:
                self.state[parameter].setdefault("rows", torch.zeros(6))

    with pretended({"pp": 1, "dp": 2, "ep": 1, "cp": 1, "tp": 1}) as mesh:
        with torch.device("meta"):
            made = build_cut(Rows, mesh["dp"])
        make_state(made[1])
        says(
            "rows",
            "state 'rows' of '0.weight' has shape (6,) and no cut, but the parameter is cut",
            lambda: list(state_of(*made)),
        )


class OfMesh(TorchJob):
    """A job that is only asked for samples."""

    def __init__(self, mesh, build):
        super().__init__()
        made = build(mesh)
        self._program = Program(*made, None, mesh)
        for name, (parameter, _) in parameters(made[0]).items():
            tensor = next(t for t, _, _ in state_of(*made) if t.name == name)
            self._program.add_gradient(parameter, torch.zeros_like(local_of(parameter.detach())), tensor)

    def _samples(self, seed, position, num, batch):
        return list(range(batch // self._program.axes["dp"].size)), 0


def samplers_say_what_they_cannot_deal():
    plain = lambda mesh: (lambda model: (model, torch.optim.SGD(model.parameters())))(nn.Linear(2, 2))
    sharded = lambda mesh: build_cut(torch.optim.SGD, mesh["dp"])
    with pretended({"pp": 1, "dp": 3, "ep": 1, "cp": 1, "tp": 1}) as mesh:
        job = OfMesh(mesh, sharded)
        says(
            "axes",
            "samples are dealt over the axes ('dp',) or ('dp', 'cp'), not ('tp',)",
            lambda: job.sampler(8, global_batch=4, axes=("tp",)),
        )
        says(
            "FSDP",
            "a batch of 4 samples has no equal parts for dp=3, and FSDP weights all ranks equally",
            lambda: job.sampler(8, global_batch=4),
        )
        OfMesh(mesh, plain).sampler(8, global_batch=4)()
    with pretended({"pp": 1, "dp": 2, "ep": 1, "cp": 2, "tp": 1}) as mesh:
        says(
            "cp",
            "a batch of 6 samples has no equal parts for dp=2,cp=2, and cp cuts no sample",
            lambda: OfMesh(mesh, plain).sampler(8, global_batch=6, axes=("dp", "cp")),
        )


def programs_that_change_are_refused():
    def run(change):
        job = tessera.torch.attach()
        job.bind(lambda mesh: build_heads("SGD"))
        try:
            for step in job.steps():
                if step == 3:
                    change(job.model)
                loss = job.model(torch.ones(4, 6), 0).square().mean()
                loss.backward()
                job.step(loss)
                if step == 4:
                    return
        finally:
            dist.destroy_process_group()

    def widen(model):
        model.trunk.weight = nn.Parameter(torch.zeros(5, 6))

    def refill(model):
        model.trunk.weight.data = torch.zeros(5, 6)

    says("another parameter", "the program has replaced the parameter 'trunk.weight'", lambda: run(widen))
    says("other memory", "'trunk.weight' has left the memory of its device", lambda: run(refill))


def programs_of_before_are_refused():
    sizes = dict.fromkeys(("pp", "dp", "ep", "cp", "tp"), 1)
    with pretended(sizes) as mesh:
        old = Program(*build_heads("SGD"), None, mesh)
        new = Program(*build_heads("SGD"), None, mesh)
        new.model.shared = old.model.heads[0]  # stays in use
        now = {id(part()) for part in _parts_of(new)}
        for part in _parts_of(old):
            _refuse(part(), now)
        sentence = " is of a mesh that the job has left: use job.model and job.optimizer in the loop"
        says("model", "this Heads" + sentence, lambda: old.model(torch.ones(1, 6), 0))
        says("part", "this Linear" + sentence, lambda: old.model.trunk(torch.ones(1, 6)))
        says("optimizer", "this SGD" + sentence, lambda: old.optimizer.step())
        new.model(torch.ones(1, 6), 0)
        new.model.shared(torch.ones(1, 5))
        new.optimizer.step()


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4)

    def forward(self, x):
        return self.rnn(x)[0]


def weights_of_recurrent_layers_stay():
    """On GPUs the first forward() moves weights that it does not know."""

    def build(mesh):
        model = Recurrent()
        return model, torch.optim.SGD(model.parameters(), lr=0.1)

    job = tessera.torch.attach()
    job.bind(build)
    rnn = job.model.rnn
    known = [one() for one in rnn._flat_weight_refs]
    for name, weight in zip(rnn._flat_weights_names, known):
        if weight is not getattr(rnn, name):
            wrong.append(f"GRU: {name} is another one than its reference")
    dist.destroy_process_group()


def groups_of_tensors_may_be_mixed():
    """On GPUs optimizers update all tensors of a group at once, which takes no DTensors among
    others."""
    sizes = dict.fromkeys(("pp", "dp", "ep", "cp", "tp"), 1)
    with pretended(sizes) as mesh:

        def build(mesh, mixes):
            model = Heads()
            fully_shard(model.trunk if mixes else model, mesh=mesh["dp"])
            return model, torch.optim.AdamW(model.parameters())

        for mixes in (False, True):
            _, optimizer, _ = call(lambda mesh: build(mesh, mixes), mesh)
            foreach = optimizer.param_groups[0]["foreach"]
            if foreach is not (False if mixes else None):
                wrong.append(f"foreach={foreach}, mixed: {mixes}")


def meshes_of_gpus_keep_tensors_of_gpus():
    sizes = dict.fromkeys(("pp", "dp", "ep", "cp", "tp"), 1)
    with pretended(sizes, 0, "cuda") as mesh:
        if mesh.device_type != "cuda":
            wrong.append(f"a mesh of cuda is one of {mesh.device_type}")


def backward_forgets():
    forget_in_backward(CPU)


if __name__ == "__main__":
    torch.set_num_threads(1)
    weights_of_recurrent_layers_stay()
    groups_of_tensors_may_be_mixed()
    meshes_of_gpus_keep_tensors_of_gpus()
    backward_forgets()
    unused_parameters_are_left_as_they_are()
    also_if_ranks_use_others()
    state_of_optimizers_is_the_same()
    memory_is_not_shared()
    state_without_a_cut_is_refused()
    samplers_say_what_they_cannot_deal()
    programs_that_change_are_refused()
    programs_of_before_are_refused()
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)
