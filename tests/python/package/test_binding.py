# SPDX-License-Identifier: Apache-2.0
"""A program in memory that stands for that of a device."""

import ctypes
import unittest
from unittest import mock

import torch
from programs import SIZES, Net, build_averaged
from torch.distributed.fsdp import fully_shard

from tessera import TesseraError
from tessera.job import Piece
from tessera.torch.binding import Binding
from tessera.torch.groups import alone, pretended
from tessera.torch.job import TorchJob, _parts_of, _refuse
from tessera.torch.layout import Layout
from tessera.torch.program import STEP, call, make_state, state_of

CPU = torch.device("cpu")


def build(mesh, shards=False):
    torch.manual_seed(1)
    model = Net()
    if shards:
        fully_shard(model, mesh=mesh["dp"])
    return model, torch.optim.AdamW(model.parameters(), lr=0.01)


class Memory:
    """Pieces for what a program has on one mesh, as an agent makes them."""

    def __init__(self, build, mesh):
        with torch.device("meta"):
            model, optimizer, _ = call(build, mesh)
        make_state(optimizer)
        self._kept = []
        self.pieces = [
            self._piece(t.name, t.dtype, t.role, t.shape, *t.box())
            for t, _, _ in state_of(model, optimizer)
        ]
        self.pieces.append(self._piece(STEP, "i64", "scalar", (), (), ()))
        self.layout = Layout(
            {
                "num_layers": 0,
                "tensors": [{"name": one.name, "place": "all"} for one in self.pieces],
            }
        )

    def _piece(self, name, dtype, role, shape, begin, end):
        addresses = []
        for _ in range(2 if role == "param" else 1):
            self._kept.append(ctypes.create_string_buffer(4096))
            addresses.append((ctypes.addressof(self._kept[-1]) + 63) // 64 * 64)
        return Piece(name, dtype, role, shape, begin, end, addresses[0], (addresses + [None])[1])

    def bind(self, build, mesh):
        with torch.device("meta"):
            made = call(build, mesh)
        with mock.patch.object(Layout, "of_job", lambda: self.layout):
            binding = Binding(*made, mesh, self.pieces, 2**63, CPU, {})
        binding.memory = self  # which lives as long
        return binding

    def piece(self, name):
        return next(one for one in self.pieces if one.name == name)


class Bindings(unittest.TestCase):
    def setUp(self):
        self.mesh = self.enterContext(alone())
        self.memory = Memory(build, self.mesh)
        self.binding = self.memory.bind(build, self.mesh)
        self.binding.initialise(*build(self.mesh))

    def test_the_state_is_in_the_pieces(self):
        weight = self.binding.model.out.weight
        self.assertEqual(weight.data_ptr(), self.memory.piece("out.weight").address)
        self.assertTrue(torch.equal(weight.detach(), build(self.mesh)[0].out.weight.detach()))
        moment = self.binding.optimizer.state[weight]["exp_avg"]
        self.assertEqual(moment.data_ptr(), self.memory.piece("out.weight.exp_avg").address)
        self.binding.check()

    def test_gradients_are_in_the_pieces(self):
        self.binding.model(torch.ones(2, 4)).sum().backward()
        for gradient in self.binding.gradients:
            self.assertEqual(
                gradient.parameter.grad.data_ptr(),
                self.memory.piece(gradient.name).gradient_address,
            )
        self.binding.take_gradients()
        self.binding.clear_gradients()
        self.assertIsNone(self.binding.model.out.weight.grad)

    def test_hooks_of_parameters_stay(self):
        def halved(mesh):
            model, optimizer = build(mesh)
            model.out.bias.register_hook(lambda gradient: gradient / 2)
            return model, optimizer

        binding = self.memory.bind(halved, self.mesh)
        binding.initialise(*build(self.mesh))
        binding.model(torch.ones(2, 4)).sum().backward()
        self.assertEqual(binding.model.out.bias.grad.tolist(), [2.0] * 3)

    def test_buffers_are_copied_in_the_update(self):
        place = next(place for _, key, place in self.binding.buffers if key == "average")
        self.binding.model.average.fill_(3)
        self.assertEqual(float(place[0]), 0)
        self.binding.keep_buffers()
        self.assertEqual(float(place[0]), 3)

    def test_state_that_has_moved(self):
        self.binding.optimizer.state[self.binding.model.out.bias]["exp_avg"] = torch.zeros(3)
        with self.assertRaisesRegex(TesseraError, "'out.bias.exp_avg' has left the memory"):
            self.binding.check()

    def test_a_program_with_other_tensors(self):
        def larger(mesh):
            model, _ = build(mesh)
            model.more = torch.nn.Linear(2, 2)
            return model, torch.optim.AdamW(model.parameters(), lr=0.01)

        with self.assertRaisesRegex(TesseraError, "'more.weight' is not in the rules of the job"):
            self.memory.bind(larger, self.mesh)

    def test_updates_and_writes_are_watched(self):
        self.binding.begin_watch(False)
        self.binding.watch.check_before_loop()
        with self.assertRaisesRegex(TesseraError, "delete optimizer.step()"):
            self.binding.optimizer.step()
        self.binding.model(torch.ones(2, 4)).sum().backward()
        self.binding.take_gradients()
        self.binding.update()
        self.binding.note_values()
        self.binding.watch.check_after_step()
        self.binding.optimizer.param_groups[0]["params"][0].data.add_(1)
        with self.assertRaisesRegex(TesseraError, "was changed outside of job.step"):
            self.binding.watch.check_after_step()

    def test_averages_that_are_a_part_of_the_model(self):
        memory = Memory(build_averaged, self.mesh)
        binding = memory.bind(build_averaged, self.mesh)
        binding.initialise(*build_averaged(self.mesh))
        binding.begin_watch(False)
        slow = binding.model.slow.weight
        self.assertEqual(slow.data_ptr(), memory.piece("slow.weight").address)
        before = slow.detach().clone()
        for _ in range(4):
            binding.model(torch.ones(2, 4)).sum().backward()
            binding.watch.check_before_update()
            binding.take_gradients()
            binding.update()
            binding.note_values()
            binding.clear_gradients()
            binding.watch.check_after_step()
        self.assertFalse(torch.equal(slow.detach(), before))
        binding.check()

    def test_a_compiled_model_of_an_earlier_mesh(self):
        """It may not look at the hooks of the model."""
        compiled = torch.compile(self.binding.model.out, backend="eager")
        for _ in range(2):
            compiled(torch.ones(2, 4)).sum().backward()
            self.binding.take_gradients()
            self.binding.clear_gradients()
        later = self.memory.bind(build, self.mesh)
        now = {id(part()) for part in _parts_of(later)}
        for part in _parts_of(self.binding):
            _refuse(part(), now)
        with self.assertRaisesRegex(TesseraError, "of a mesh that the job has left: use job.model"):
            compiled(torch.ones(2, 4)).sum().backward()

    def test_modules_that_stay(self):
        """A Trainer keeps its model on all meshes, with its modes and hooks."""
        self.binding.begin_watch(True)
        self.binding.model.eval()
        self.binding.model.scale = 1.0
        self.binding.watch.check_before_loop()
        self.binding.model.drop.p = 0.5
        self.binding.watch.check_after_step()
        self.binding.model.out.weight.requires_grad_(False)
        with self.assertRaisesRegex(TesseraError, "requires_grad"):
            self.binding.watch.check_before_loop()


class Shards(unittest.TestCase):
    def setUp(self):
        self.mesh = self.enterContext(alone())
        self.build = lambda mesh: build(mesh, shards=True)
        self.binding = Memory(self.build, self.mesh).bind(self.build, self.mesh)
        self.binding.initialise(*self.build(self.mesh))
        self.binding.begin_watch(False)

    def step(self, middle=lambda: None):
        self.binding.model(torch.ones(2, 4)).sum().backward()
        middle()
        self.binding.watch.check_before_update()
        self.binding.take_gradients()
        self.binding.update()
        self.binding.note_values()
        self.binding.clear_gradients()

    def test_steps(self):
        for _ in range(4):
            self.step()
            self.binding.watch.check_after_step()
        self.binding.check()

    def test_limits_of_averaged_gradients(self):
        """FSDP has averaged them already."""
        self.step(lambda: torch.nn.utils.clip_grad_norm_(self.binding.model.parameters(), 1e-3))

    def test_writes(self):
        self.step()
        with torch.no_grad():
            self.binding.model.out.weight.mul_(0.9)
        with self.assertRaisesRegex(TesseraError, "the parameter 'out.weight'"):
            self.binding.watch.check_after_step()


class ComingMeshes(unittest.TestCase):
    """What the ranks of a job say of a mesh before its change commits."""

    def job(self, mesh, shards):
        job = TorchJob()
        job._program = Memory(lambda m: build(m, shards), mesh).bind(
            lambda m: build(m, shards), mesh
        )
        return job

    def test_a_batch_that_has_no_equal_parts(self):
        with pretended({**SIZES, "dp": 2}) as mesh:
            job = self.job(mesh, shards=True)
            sampler = job.sampler(8, global_batch=4)
            sampler.check({**SIZES, "dp": 4})
            with self.assertRaisesRegex(
                TesseraError, "a batch of 4 samples has no equal parts for dp=3"
            ):
                sampler.check({**SIZES, "dp": 3})
            self.job(mesh, shards=False).sampler(8, global_batch=4).check({**SIZES, "dp": 3})

    def test_it_is_said_when_groups_are_built(self):
        from tessera.torch import job as module

        with pretended({**SIZES, "dp": 2}) as mesh:
            job = self.job(mesh, shards=True)
            job.sampler(8, global_batch=4)
            job._refusal = None
            job._check_change = lambda sizes: module.Attached._check_change(job, sizes)
            view = mock.Mock(sizes={**SIZES, "dp": 3}, rank=1, world=3)
            with self.assertRaisesRegex(TesseraError, "no equal parts for dp=3"):
                module.Attached._connect(job, view)

    def test_it_is_said_when_a_change_is_planned(self):
        from tessera.torch import job as module

        with pretended({**SIZES, "dp": 2}) as mesh:
            job = self.job(mesh, shards=True)
            job.sampler(8, global_batch=4)
            job._job = mock.Mock()
            job._check_change = lambda sizes: module.Attached._check_change(job, sizes)
            with mock.patch.object(module, "check_in_child") as in_child:
                with self.assertRaisesRegex(TesseraError, "no equal parts for dp=3"):
                    module.Attached._check(job, {**SIZES, "dp": 3})
                in_child.assert_not_called()
                module.Attached._check(job, {**SIZES, "dp": 4})
                in_child.assert_called_once_with({**SIZES, "dp": 4}, job._job.check_abandoned)


if __name__ == "__main__":
    unittest.main()
