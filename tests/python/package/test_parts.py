# SPDX-License-Identifier: Apache-2.0
"""Objects, schedulers, scalers and callbacks of a job."""

import unittest
import warnings

import torch
from programs import Loop, Net, build, run_ranks
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    SequentialLR,
)

from tessera.torch.describe import describe
from tessera.torch.objects import PREFIX
from tessera.torch.parts import Parts

CHAIN = [
    lambda o: LambdaLR(o, lambda step: 1 / (1 + step)),
    lambda o: OneCycleLR(o, max_lr=0.1, total_steps=12),
    lambda o: CosineAnnealingLR(o, 9),
    lambda o: MultiStepLR(o, [2, 4], 0.5),
    lambda o: SequentialLR(o, [LinearLR(o, 0.1, 1, 3), CosineAnnealingLR(o, 9)], [3]),
    lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    lambda o: ReduceLROnPlateau(o, patience=0, factor=0.5),
]


class Counted:
    def __init__(self, value=0):
        self.value = value

    def state_dict(self):
        return {"value": self.value}

    def load_state_dict(self, state):
        self.value = state["value"]


class Held(unittest.TestCase):
    """Objects over a job's tensors, which a second process reads."""

    def places(self, parts):
        return {
            name: torch.zeros(size, dtype=torch.uint8)
            for name, size in parts.objects.tensors().items()
        }

    def test_a_rank_that_joins(self):
        first, second = Parts(), Parts()
        one, other = Counted(), Counted(7)
        first.register("count", one)
        second.register("count", other)
        places = self.places(first)
        first.objects.bind(places)
        self.assertEqual(one.value, 0)
        one.value = 5
        first.objects.keep()
        second.objects.bind(places)
        self.assertEqual(other.value, 5)
        second.objects.check_after_step()
        self.assertEqual(first.objects.checksum(), second.objects.checksum())

    def test_a_new_job_begins_with_its_own(self):
        parts, one = Parts(), Counted(3)
        parts.register("count", one)
        parts.objects.bind(self.places(parts))
        one.value = 4  # before the loop
        parts.objects.begin(is_first=True)
        self.assertEqual(one.value, 4)
        parts.objects.keep()
        one.value = 9  # in a process that starts again
        parts.objects.begin(is_first=False)
        self.assertEqual(one.value, 4)

    def test_damaged_bytes(self):
        parts = Parts()
        parts.register("count", Counted())
        places = self.places(parts)
        (place,) = places.values()
        for size, text in ((1 << 40, b""), (3, b"{no"), (4, b"[1]")):
            place.zero_()
            place[:8] = torch.tensor(list(size.to_bytes(8, "little")), dtype=torch.uint8)
            place[8 : 8 + len(text)] = torch.tensor(list(text), dtype=torch.uint8)
            with self.assertRaisesRegex(Exception, "count|cannot be read|indices"):
                parts.objects.bind(places)


class Registered(Loop):
    def test_refusals(self):
        class Half:
            def state_dict(self):
                return {}

        for call, words in (
            (lambda: self.job.register("a/b", Counted()), ("'a/b'", "letters")),
            (lambda: self.job.register("half", Half()), ("'half'", "load_state_dict")),
            (lambda: self.job.register("big", Counted(), room=0), ("room=0", "'big'")),
            (lambda: self.job.scaler(3), ("GradScaler", "int")),
        ):
            with self.refuses(*words):
                call()
        self.job.register("count", Counted())
        with self.refuses("'count'", "registered already"):
            self.job.register("count", Counted())
        self.bind()
        for call, name in (
            (lambda: self.job.register("late", Counted()), "job.register"),
            (lambda: self.job.scheduler(CHAIN[0]), "job.scheduler"),
            (lambda: self.job.scaler(torch.amp.GradScaler("cpu")), "job.scaler"),
            (lambda: self.job.on_model(print), "job.on_model"),
            (lambda: self.job.after_update(print), "job.after_update"),
            (lambda: self.job.freeze("out"), "job.freeze"),
        ):
            with self.refuses(name, "before job.bind(build)"):
                call()

    def test_a_change_after_the_step(self):
        one = self.job.register("count", Counted())
        self.bind()
        self.run_steps(2, before=lambda at: setattr(one, "value", at))
        self.assertEqual(one.value, 2)
        with self.refuses("'count'", "job.after_update"):
            self.run_steps(3, after=lambda at: setattr(one, "value", -at))

    def test_no_room(self):
        one = self.job.register("count", Counted(), room=40)
        self.bind()
        with self.refuses("'count'", "room for 40", "room="):
            self.run_steps(2, before=lambda at: setattr(one, "value", "x" * 50))

    def test_ranks_that_differ(self):
        text = """
class Counted:
    value = 0
    def state_dict(self): return {"value": self.value}
    def load_state_dict(self, state): self.value = state["value"]
one = job.register("count", Counted())
job.bind(build)
for step in job.steps(until=3):
    one.value = step * (rank if step == 2 else 1)
    job.model(torch.ones(2, 4)).sum().backward()
    job.step(0.0)
"""
        for status, _, error in run_ranks(text):
            self.assertNotEqual(status, 0)
            self.assertIn("the state of an object", error)
            self.assertIn("step 2", error)

    def test_it_is_a_tensor_of_the_job(self):
        self.job.register("count", Counted(), room=100)
        whole, _ = describe(self.job._parts.prepare(build))
        (found,) = [one for one in whole.tensors if one.name.startswith(PREFIX)]
        self.assertEqual((found.name, found.dtype, found.shape), (PREFIX + "count", "u8", (108,)))
        self.assertFalse(whole.updates_alone)


class Schedulers(Loop):
    def test_as_without_a_job(self):
        for make in CHAIN:
            self.setUp()
            torch.manual_seed(1)
            optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.01, momentum=0.9)
            alone = make(optimizer)

            def own(mesh):
                torch.manual_seed(1)
                model = Net()
                return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

            self.job.scheduler(make)
            self.bind(own)
            found, wanted = [], []
            for _step in self.job.steps(until=8):
                group, other = self.job.optimizer.param_groups[0], optimizer.param_groups[0]
                found.append((group["lr"], group["momentum"]))
                wanted.append((other["lr"], other["momentum"]))
                loss = self.job.model(torch.ones(2, 4)).square().mean()
                loss.backward()
                made = self.job.step(loss)
                optimizer.step()
                alone.step(*[made.loss] * isinstance(alone, ReduceLROnPlateau))
            self.assertEqual(found, wanted)
            self.doCleanups()

    def test_a_rank_that_joins(self):
        """Its scheduler goes on, with the rates of its optimizer."""
        for make in CHAIN:
            ways = []
            for is_joined in (False, True):
                parts, optimizer = self.scheduled(make)
                places = {
                    name: torch.zeros(size, dtype=torch.uint8)
                    for name, size in parts.objects.tensors().items()
                }
                parts.objects.bind(places)
                rates = []
                for step in range(8):
                    if is_joined and step == 4:
                        parts, optimizer = self.scheduled(make)
                        parts.objects.bind(places)
                        parts.objects.check_after_step()
                    rates.append({**optimizer.param_groups[0], "params": None})
                    optimizer.step()
                    parts.scheduler.step(1.0)
                    parts.objects.keep()
                ways.append(rates)
            self.assertEqual(*ways)

    def scheduled(self, make):
        parts = Parts()
        parts.set_scheduler(make)
        optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr=0.01)
        parts.scheduler.attach(optimizer)
        return parts, optimizer

    def test_refusals(self):
        with self.refuses("int", "torch.optim.lr_scheduler"):
            self.job.scheduler(lambda optimizer: 3)
            self.bind()
        self.doCleanups()
        self.setUp()
        other = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.01)
        with self.refuses("another optimizer"):
            self.job.scheduler(lambda optimizer: CosineAnnealingLR(other, 3))
            self.bind()
        self.doCleanups()
        self.setUp()
        self.job.schedule(lambda step: 1.0)
        with self.refuses("call one of them"):
            self.job.scheduler(CHAIN[0])

    def test_an_update_by_another_process(self):
        """Possible unless the rates depend on the loss."""
        for make, updates_alone in ((CHAIN[2], True), (CHAIN[-1], False)):
            self.setUp()
            self.job.scheduler(make)

            def own(mesh):
                model = torch.nn.Linear(2, 2)
                return model, torch.optim.AdamW(model.parameters())

            whole, _ = describe(self.job._parts.prepare(own))
            self.assertEqual(whole.updates_alone, updates_alone)


class Scalers(Loop):
    def test_as_without_a_job(self):
        """The scale and the weights are those of an ordinary loop, also where an update is skipped
        for a gradient that is not finite."""
        self.compare(2.0**15)

    def test_the_largest_scale(self):
        """It grows no further."""
        self.compare(2.0**127, loss_by=2.0**-100)

    def compare(self, scale, loss_by=1.0):
        ways = []
        for is_job in (False, True):
            torch.manual_seed(1)
            model = torch.nn.Linear(4, 3)
            options = {"init_scale": scale, "growth_interval": 2}
            scaler = torch.amp.GradScaler("cpu", **options)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            scales = []
            if is_job:
                self.job.scaler(scaler)
                self.bind(lambda mesh, model=model, of=optimizer: (model, of))
            for step in self.job.steps(until=7) if is_job else range(1, 8):
                scales.append(scaler.get_scale())
                x = torch.ones(2, 4) * (float("inf") if step == 4 else step)
                loss = model(x).square().mean() * loss_by
                scaler.scale(loss).backward()
                if is_job:
                    self.job.step(loss)
                else:
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()
            ways.append((scales, [p.detach().clone() for p in model.parameters()]))
        self.assertEqual(ways[0][0], ways[1][0])
        for one, other in zip(ways[0][1], ways[1][1]):
            self.assertTrue(torch.allclose(one, other, rtol=1e-6, atol=0))

    def test_a_loss_that_is_not_scaled(self):
        self.job.scaler(torch.amp.GradScaler("cpu"))
        self.bind()
        with self.refuses("scaler.scale(loss).backward()"):
            self.run_steps(1)

    def test_one_that_is_disabled(self):
        self.job.scaler(torch.amp.GradScaler("cpu", enabled=False))
        self.bind()
        self.run_steps(2)

    def test_one_that_is_not_of_the_job(self):
        scaler = torch.amp.GradScaler("cpu")
        self.bind()
        with self.refuses("job.scaler(GradScaler(…))"):
            self.run_steps(1, before=lambda at: scaler.scale(torch.ones(())))


class Callbacks(Loop):
    def test_on_model(self):
        """What scripts set on a model after it is made."""
        seen = []

        @self.job.on_model
        def change(model):
            model.drop.p = 0.0
            model.out.register_forward_hook(lambda *_: seen.append(1))

        self.bind()
        self.run_steps(2)
        self.assertEqual((self.job.model.drop.p, len(seen)), (0.0, 2))

    def test_after_update(self):
        self.job.after_update(lambda model, _: model.out.weight.clamp_(-0.01, 0.01))
        self.bind()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.run_steps(3)
        self.assertLessEqual(self.job.model.out.weight.abs().max().item(), 0.01)
        self.end_groups()
        whole, _ = describe(self.job._parts.prepare(build))
        self.assertFalse(whole.updates_alone)

    def test_freeze(self):
        job = self.job
        job.freeze("norm")
        self.bind()
        weights = []

        def change(at):
            weights.append([job.model.norm.weight.detach().clone(), job.model.out.bias.clone()])
            if at == 3:
                job.unfreeze("norm")
            if at == 4:
                job.freeze("out.bias")

        self.run_steps(6, before=change)
        same = [[torch.equal(*each) for each in zip(*two)] for two in zip(weights, weights[1:])]
        norms, biases = zip(*same)
        self.assertEqual(norms, (True, True, False, False, False))
        self.assertEqual(biases, (False, False, False, True, True))

    def test_what_is_frozen_is_state(self):
        first, second = Parts(), Parts()
        for parts in (first, second):
            parts.freeze(("norm",), True)
            parts.check(Net(), torch.optim.SGD(Net().parameters(), lr=0.1), True)
        places = {
            name: torch.zeros(size, dtype=torch.uint8)
            for name, size in first.objects.tensors().items()
        }
        first.freeze(("norm.bias",), False)
        first.freeze(("out",), True)
        first.objects.bind(places)
        first.objects.keep()
        second.objects.bind(places)
        model = second._frozen._model
        trains = {name for name, one in model.named_parameters() if one.requires_grad}
        self.assertEqual(trains, {"norm.bias"})

    def test_freeze_of_nothing(self):
        self.job.freeze()
        self.bind()
        with self.refuses("job.freeze('encoder')", "requires_grad=True"):
            self.run_steps(1, before=lambda at: self.job.freeze("encoder"))

    def test_freeze_after_the_step(self):
        self.job.freeze()
        self.bind()
        with self.refuses("'frozen'", "before job.step(loss)"):
            self.run_steps(2, after=lambda at: self.job.freeze("out"))
