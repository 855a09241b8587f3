# SPDX-License-Identifier: Apache-2.0
"""Ordinary habits of PyTorch that a loop around job.step(loss) cannot have, and what it may do."""

import contextlib
import copy
import io
import random
import threading
import types
import unittest

import numpy as np
import torch
from programs import Loop, Net, build, build_averaged
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import (
    DataLoader,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from tessera.torch.describe import describe


class Large(Net):
    """A table that is read in turns, and is larger than what is read of it when a mesh begins."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4096, 512)
        self.more = nn.ParameterList(nn.Parameter(torch.ones(2)) for _ in range(70))

    def forward(self, x):
        return super().forward(x) + self.table.weight[:3, 0] + sum(self.more)[0]


def build_large(mesh):
    torch.manual_seed(1)
    model = Large()
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


class Own(Net):
    """With settings of its own, some of which forward() changes."""

    def __init__(self):
        super().__init__()
        self.heads, self.causal, self.kind, self.windows = 2, True, "relu", (4, 4)
        self.config = types.SimpleNamespace(width=4)
        self.calls = self.longest = 0
        self.hidden = None

    def forward(self, x):
        self.calls += 1
        self.longest = max(self.longest, len(x))
        self.made = True
        self.hidden = x[0]
        return super().forward(x)


def build_own(mesh):
    torch.manual_seed(1)
    model = Own()
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


class Counted(nn.Linear):
    """A part that counts its calls, and an adapter that can be disabled."""

    def __init__(self):
        super().__init__(4, 4)
        self.calls, self.adapts = 0, True

    def forward(self, x):
        self.calls += 1
        self.shape = tuple(x.shape)
        return super().forward(x) * (2 if self.adapts else 1)


class InParts(nn.Module):
    """Recomputes a part in backward(), and keeps numbers for logging."""

    def __init__(self):
        super().__init__()
        self.part, self.out = Counted(), nn.Linear(4, 3)
        self.last_norm = None

    def forward(self, x):
        return self.out(checkpoint(self.part, x, use_reentrant=False))

    def loss(self, x):
        loss = self.out(self.part(x)).square().mean()
        self.last_loss = loss.item()
        return loss

    @contextlib.contextmanager
    def disable_adapter(self):
        self.part.adapts = False
        yield
        self.part.adapts = True


def build_in_parts(mesh):
    torch.manual_seed(1)
    model = InParts()

    def keep(module, gradients, _):
        model.last_norm = model.part.last_norm = float(gradients[0].norm())

    model.part.register_full_backward_hook(keep)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


class Updates(Loop):
    def test_an_update_beside_job_step(self):
        self.bind()
        weight = self.job.model.out.weight.detach().clone()
        with self.refuses("delete optimizer.step()"):
            self.run_steps(middle=lambda at: self.job.optimizer.step())
        self.assertTrue(torch.equal(self.job.model.out.weight.detach(), weight))

    def test_another_optimizer(self):
        """Such as that of a discriminator beside the model of the job."""
        self.bind()
        other = nn.Linear(3, 1)
        optimizer = torch.optim.Adam(other.parameters())

        def update(at):
            other(torch.ones(2, 3)).sum().backward()
            optimizer.step()

        with self.refuses("Adam updates parameters that are none of the job's", "build(mesh)"):
            self.run_steps(before=update)
        self.assertEqual(self.job.coming_step, 2)

    def test_an_optimizer_without_gradients(self):
        """Such as one that a scheduler of torch needs."""
        self.bind()
        optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(()))], lr=0.1)
        self.run_steps(before=lambda at: optimizer.step())

    def test_an_optimizer_of_one_step(self):
        """Such as for inputs that mislead the model."""
        self.bind()

        def search(at):
            noise = torch.zeros(2, 4, requires_grad=True)
            optimizer = torch.optim.SGD([noise], lr=0.1)
            for _ in range(3):
                (noise - 1).square().sum().backward()
                optimizer.step()

        self.run_steps(before=search)

    def test_an_update_of_a_scaler(self):
        self.bind()
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        with self.refuses("delete optimizer.step(), or scaler.step(optimizer)"):
            self.run_steps(middle=lambda at: scaler.step(self.job.optimizer))

    def test_a_scaler(self):
        self.bind()
        scaler = torch.amp.GradScaler("cpu")
        with self.refuses("job.scaler(GradScaler(…))", "bfloat16"):
            self.run_steps(before=lambda at: scaler.scale(torch.ones(())))

    def test_a_scaler_that_is_off(self):
        self.bind()
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        self.run_steps(before=lambda at: scaler.scale(torch.ones(())))

    def test_a_limit_before_job_step(self):
        self.bind()
        with self.refuses("delete clip_grad_norm_", "max_norm"):
            self.run_steps(
                middle=lambda at: nn.utils.clip_grad_norm_(self.job.model.parameters(), 1e-3)
            )

    def test_a_norm_without_a_limit(self):
        """To log it. The gradients stay the same."""
        for foreach in (None, False, True):
            self.setUp()
            self.bind()
            norms = []

            def log(at, foreach=foreach, norms=norms):
                own = self.job.model.parameters()
                norms.append(nn.utils.clip_grad_norm_(own, float("inf"), foreach=foreach))

            self.run_steps(middle=log)
            self.assertTrue(all(norm > 0 for norm in norms))
            self.assertAlmostEqual(float(norms[-1]), self.job.last.norm2**0.5, places=5)
            self.doCleanups()

    def test_a_limit_of_values_of_one_parameter(self):
        self.bind()
        with self.refuses("gradient of 'out.bias'", "max_norm"):
            self.run_steps(middle=lambda at: self.job.model.out.bias.grad.clamp_(-1, 1))

    def test_gradients_that_change_without_a_version(self):
        def assign(at):
            for one in self.job.model.parameters():
                one.grad = one.grad.clamp(-1e-3, 1e-3)

        def of_all(change):
            return lambda at: [change(one.grad) for one in self.job.model.parameters()]

        for name, change in {
            "data": of_all(lambda gradient: gradient.data.clamp_(-1e-3, 1e-3)),
            "NumPy": of_all(lambda gradient: gradient.numpy().fill(1e-3)),
            "another tensor": assign,
            "values": lambda at: nn.utils.clip_grad_value_(self.job.model.parameters(), 1e-3),
        }.items():
            for begin in (1, 9):
                with self.subTest(name, begin=begin):
                    self.setUp()
                    self.bind()
                    with self.refuses("the gradient of 'norm.", "max_norm"):
                        self.run_steps(9, middle=lambda at: change(at) if at >= begin else None)
                    self.assertEqual(self.job.coming_step, begin)
                    self.doCleanups()

    def test_one_element_of_a_large_gradient(self):
        self.bind(build_large)
        with self.refuses("the gradient of 'table.weight'"):
            self.run_steps(middle=lambda at: self.job.model.table.weight.grad.data[-1, -1].add_(1))

    def test_gradients_that_add_up(self):
        self.bind()
        self.run_steps(middle=lambda at: self.job.model(torch.ones(2, 4)).sum().backward())

    def test_gradients_that_are_dropped(self):
        self.bind()
        self.run_steps(middle=lambda at: self.job.optimizer.zero_grad())


class Steps(Loop):
    def test_a_step_that_is_left_out(self):
        self.bind()
        with self.refuses("step 1 ended without job.step(loss), such as by `continue`"):
            for _ in self.job.steps():
                continue

    def test_what_the_sentence_names(self):
        """No update with gradients that are not finite, and a step without samples."""
        self.bind()
        weight = self.job.model.out.weight.detach().clone()
        for at in self.job.steps(until=2):
            if at == 1:
                loss = self.job.model(torch.ones(2, 4)).sum() * float("nan")
                loss.backward()
                self.job.step(loss)
            else:
                self.job.step(0.0)
            self.assertTrue(torch.equal(self.job.model.out.weight.detach(), weight), at)


class Wrappers(Loop):
    kinds = {
        nn.parallel.DistributedDataParallel: "job.step(loss) averages gradients",
        nn.DataParallel: "job.device",
        FullyShardedDataParallel: "fully_shard(module, mesh=mesh['dp'])",
    }

    def test_in_build(self):
        for kind, remedy in self.kinds.items():

            def wrapped(mesh, kind=kind):
                model = kind(nn.Linear(4, 3))
                return model, torch.optim.SGD(model.parameters(), lr=0.01)

            for bind in (self.bind, describe):
                with self.subTest(kind.__name__, bind=bind.__name__):
                    self.setUp()
                    with self.refuses(f"not wrapped in {kind.__name__}: ", remedy):
                        bind(wrapped)
                    self.doCleanups()

    def test_in_the_loop(self):
        self.bind()
        for kind, remedy in self.kinds.items():
            with self.refuses(f"not wrapped in {kind.__name__}: ", remedy):
                kind(self.job.model)
        self.run_steps()

    def test_of_another_model(self):
        self.bind()
        self.run_steps(before=lambda at: nn.parallel.DistributedDataParallel(nn.Linear(2, 2)))


class Options(Loop):
    def test_rates_beside_a_schedule(self):
        for at_step in (0, 2):
            with self.subTest(at_step=at_step):
                self.setUp()
                self.bind()
                self.job.schedule(lambda step: 1 / step)

                def slow_down(at):
                    if at == at_step:
                        self.job.optimizer.param_groups[0]["lr"] /= 10

                slow_down(0)
                with self.refuses("'lr' of the optimizer", "job.schedule(factor)"):
                    self.run_steps(before=slow_down)
                self.assertEqual(self.job.coming_step, max(at_step, 1))
                self.doCleanups()

    def test_a_schedule(self):
        self.bind()
        self.job.schedule(lambda step: 1 / step)
        self.run_steps(4)
        self.assertEqual(self.job.optimizer.param_groups[0]["lr"], 0.01 / 4)

    def test_a_rate_that_is_a_tensor(self):
        def build_tensor(mesh):
            model, _ = build(mesh)
            return model, torch.optim.SGD(model.parameters(), lr=torch.tensor(0.01))

        self.bind(build_tensor)
        self.run_steps(2)
        with self.refuses("'lr' of the optimizer"):
            self.run_steps(4, before=lambda at: self.job.optimizer.param_groups[0]["lr"].mul_(0.5))

    def test_a_scheduler(self):
        self.bind()
        scheduler = torch.optim.lr_scheduler.StepLR(self.job.optimizer, 1)
        with self.refuses("delete it and its step()", "job.scheduler(lambda optimizer"):
            self.run_steps(after=lambda at: scheduler.step())

    def test_groups(self):
        """Also those whose parameters have no state, and parameters that are taken out."""

        def build_half(mesh):
            model, _ = build(mesh)
            return model, torch.optim.SGD(model.out.parameters(), lr=0.01)

        def freeze(optimizer):
            optimizer.param_groups[0]["params"].pop()

        def thaw(optimizer):
            optimizer.add_param_group({"params": self.job.model.norm.parameters()})

        for change in (freeze, thaw):
            for at_step in (0, 2):
                with self.subTest(change.__name__, at_step=at_step):
                    self.setUp()
                    self.bind(build_half)
                    act = lambda at: at == at_step and change(self.job.optimizer)
                    act(0)
                    before = self.job.model.norm.weight.detach().clone()
                    with self.refuses("groups of parameters", "in build(mesh)"):
                        self.run_steps(before=act)
                    self.assertEqual(self.job.coming_step, max(at_step, 1))
                    self.assertTrue(torch.equal(self.job.model.norm.weight.detach(), before))
                    self.doCleanups()

    def test_state(self):
        def forget(optimizer):
            optimizer.state.clear()

        def reset(optimizer):
            for state in optimizer.state.values():
                state["exp_avg"].zero_()

        def load(optimizer):
            model, other = build(None)
            model(torch.ones(2, 4)).sum().backward()
            other.step()
            optimizer.load_state_dict(other.state_dict())

        for change in (forget, reset, load):
            for at_step in (0, 2) if change is load else (2,):
                with self.subTest(change.__name__, at_step=at_step):
                    self.setUp()
                    self.bind()
                    act = lambda at: at == at_step and change(self.job.optimizer)
                    act(0)
                    with self.refuses("of the optimizer was changed", "--from-checkpoint"):
                        self.run_steps(before=act)
                    self.doCleanups()


class Copies(Loop):
    def test_averages_of_the_weights(self):
        for make in (copy.deepcopy, torch.optim.swa_utils.AveragedModel):
            with self.subTest(make.__name__):
                self.setUp()
                self.bind()
                with self.refuses("a copy of job.model", "job.after_update(…)"):
                    make(self.job.model)
                self.doCleanups()

    def test_averages_that_are_a_part_of_the_model(self):
        """What the sentence names."""
        self.bind(build_averaged)
        self.run_steps()
        weight, average = self.job.model.out.weight, self.job.model.slow.weight
        self.assertTrue(0 < float((weight - average).detach().abs().max()) < 1)

    def test_values(self):
        self.bind()
        best = []
        self.run_steps(after=lambda at: best.append(copy.deepcopy(self.job.model.state_dict())))
        self.assertEqual(len(best), 3)
        copy.deepcopy(nn.Linear(2, 2))


class RandomNumbers(Loop):
    def test_they_belong_to_the_step(self):
        drawn = []
        for begin in (1, 3):
            self.setUp()
            self.bind()
            self.job.coming_step = begin  # as in a rank that joins
            random.seed()
            np.random.seed()
            draw = lambda at: drawn.append((at, random.random(), np.random.rand()))
            self.run_steps(4, before=draw)
            self.doCleanups()
        self.assertEqual(len(set(drawn)), 4, drawn)


class Writes(Loop):
    def test_parameters_after_a_step(self):
        for name, write in {
            "in place": lambda weight: weight.clamp_(-0.1, 0.1),
            "data": lambda weight: weight.data.mul_(0.9),
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind()

                def after(at):
                    with torch.no_grad():
                        write(self.job.model.out.weight)

                with self.refuses("the parameter 'out.weight'", "job.after_update(…)"):
                    self.run_steps(after=after)
                self.assertEqual(self.job.coming_step, 1)
                self.doCleanups()

    def test_one_element_of_a_large_parameter(self):
        """In steps in which only a part of the state is read."""
        for begin in (1, 7):
            with self.subTest(begin=begin):
                self.setUp()
                self.bind(build_large)

                def after(at):
                    if at >= begin:
                        self.job.model.table.weight.data[-1, -1] = at

                with self.refuses("the parameter 'table.weight'"):
                    self.run_steps(40, after=after)
                self.assertLess(self.job.coming_step, begin + 8)
                self.doCleanups()

    def test_all_parameters_at_any_time(self):
        self.bind(build_large)

        def shrink(at):
            if at == 12:
                for one in self.job.model.parameters():
                    one.data.mul_(0.9)

        with self.refuses("the parameter"):
            self.run_steps(40, after=shrink)
        self.assertEqual(self.job.coming_step, 12)

    def test_buffers_of_a_late_step(self):
        self.bind()

        def average(at):
            if at == 12:
                self.job.model.average.data.add_(1)

        with self.refuses("the buffer 'average'"):
            self.run_steps(40, after=average)
        self.assertEqual(self.job.coming_step, 12)

    def test_values_that_are_loaded_after_bind(self):
        self.bind()
        self.job.model.load_state_dict(Net().state_dict())
        with self.refuses("load values in build(mesh)"):
            self.run_steps()

    def test_parameters_in_the_update(self):
        """What the sentence names."""

        def limited(mesh):
            model, optimizer = build(mesh)
            limit = lambda *_: model.out.weight.detach().clamp_(-0.125, 0.125)
            optimizer.register_step_post_hook(limit)
            return model, optimizer

        self.bind(limited)
        self.run_steps()
        self.assertLessEqual(float(self.job.model.out.weight.detach().abs().max()), 0.125)

    def test_buffers_after_a_step(self):
        def average(at):
            self.job.model.average.mul_(0.9).add_(1)

        def replace(at):
            self.job.model.average = self.job.model.average + 1

        def train_on_other_data(at):
            self.job.model(torch.ones(2, 4) * 7)

        for name, after in {
            "average": average,
            "data": lambda at: self.job.model.average.data.add_(1),
            "another": replace,
            "norm": train_on_other_data,
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind()
                with self.refuses("the buffer", "before job.step(loss)"):
                    self.run_steps(after=after)
                self.doCleanups()

    def test_buffers_before_a_step(self):
        self.bind()
        self.run_steps(before=lambda at: self.job.model.average.mul_(0.9).add_(1))
        self.assertGreater(float(self.job.model.average[0]), 2)

    def test_an_evaluation(self):
        self.bind()

        def evaluate(at):
            self.job.model.eval()
            with torch.no_grad():
                self.job.model(torch.ones(2, 4) * 7)
            self.job.model.train()

        self.run_steps(after=evaluate)


class Settings(Loop):
    def test_requires_grad(self):
        for at_step, name in ((0, "out.weight"), (2, "norm.bias")):
            with self.subTest(name):
                self.setUp()
                self.bind()

                def freeze(at):
                    if at == at_step:
                        self.job.model.get_parameter(name).requires_grad_(False)

                freeze(0)
                with self.refuses(f"requires_grad of '{name}'", "in build(mesh)"):
                    self.run_steps(before=freeze)
                self.doCleanups()

    def test_requires_grad_within_a_step(self):
        """As in a loop of two players."""
        self.bind()

        def toggle(at):
            self.job.model.out.bias.requires_grad_(False)
            self.job.model.out.bias.requires_grad_(True)

        self.run_steps(before=toggle)

    def test_parameters_that_thaw(self):
        def frozen(mesh):
            model, optimizer = build(mesh)
            model.out.weight.requires_grad_(False)
            return model, optimizer

        self.bind(frozen)
        weight = self.job.model.out.weight
        before = weight.detach().clone()
        with self.refuses("requires_grad of 'out.weight' was changed to True"):
            self.run_steps(before=lambda at: weight.requires_grad_(True))
        self.assertTrue(torch.equal(weight.detach(), before))

    def test_modes(self):
        self.bind()
        self.job.model.norm.eval()
        with self.refuses("norm is in eval() and was in train()", "in build(mesh)"):
            self.run_steps()

    def test_modes_in_the_loop(self):
        self.bind()
        with self.refuses("drop is in eval()"):
            self.run_steps(before=lambda at: self.job.model.drop.eval() if at == 2 else None)

    def test_modes_of_build(self):
        def made(mesh):
            model, optimizer = build(mesh)
            model.norm.eval()
            return model, optimizer

        self.bind(made)
        self.run_steps()

    def test_hooks(self):
        hook = lambda *_: None
        for name, add in {
            "out": lambda model: model.out.register_forward_hook(hook),
            "norm": lambda model: model.norm.register_forward_pre_hook(hook),
            "the model": lambda model: model.register_full_backward_hook(hook),
            "'out.bias'": lambda model: model.out.bias.register_hook(hook),
            "the optimizer": lambda model: self.job.optimizer.register_step_post_hook(hook),
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind()
                with self.refuses(f"hooks of {name} ", "in build(mesh)"):
                    self.run_steps(before=lambda at: add(self.job.model) if at == 2 else None)
                self.assertEqual(self.job.coming_step, 2)
                self.doCleanups()

    def test_hooks_within_a_step(self):
        self.bind()

        def look(at):
            handle = self.job.model.out.register_forward_hook(lambda *_: None)
            self.job.model.eval()
            self.job.model(torch.ones(1, 4))
            self.job.model.train()
            handle.remove()

        self.run_steps(before=look)

    def test_flags(self):
        def drop_less(at):
            if at == 2:
                self.job.model.drop.p = 0.5

        self.bind()
        with self.refuses("'p' of drop was changed from 0.1 to 0.5", "in build(mesh)"):
            self.run_steps(before=drop_less)

    def test_flags_of_own_modules(self):
        self.bind()
        self.job.model.scale = 3.0
        with self.refuses("'scale' of the model was changed from 2.0 to 3.0"):
            self.run_steps()

    def test_settings_in_the_loop(self):
        """Of any kind, before and after job.step, and in a step in which something else is called."""

        def add(model):
            model.mode = "wide"

        for name, change in {
            "'heads' of the model was changed from 2 to 4": lambda model: setattr(
                model, "heads", 4
            ),
            "'scale' of the model": lambda model: setattr(model, "scale", 0.5),
            "'causal' of the model": lambda model: setattr(model, "causal", False),
            "'kind' of the model": lambda model: setattr(model, "kind", "gelu"),
            "'windows' of the model": lambda model: setattr(model, "windows", (8, 8)),
            "'num_features' of norm": lambda model: setattr(model.norm, "num_features", 3),
            "'width' of the model's config": lambda model: setattr(model.config, "width", 3),
            "'mode' of the model was changed from None to wide": add,
        }.items():
            for at_step in (1, 3):
                for when in ("before", "after"):
                    with self.subTest(name, at_step=at_step, when=when):
                        self.setUp()
                        self.bind(build_own)
                        act = lambda at: at == at_step and change(self.job.model)
                        with self.refuses(name, "in build(mesh), or give it to forward()"):
                            self.run_steps(4, **{when: act})
                        self.assertEqual(self.job.coming_step, at_step)
                        self.doCleanups()

    def test_settings_that_forward_changes(self):
        """What it keeps of its inputs, and what it makes when it is first called."""
        self.bind(build_own)

        def evaluate(at):
            self.job.model.eval()
            self.job.model(torch.ones(at, 4))
            self.job.model.train()

        self.run_steps(4, before=evaluate, after=evaluate)
        self.assertEqual(self.job.model.calls, 12)

    def test_a_count_in_forward(self):
        """Such as for a warm-up. It would begin anew in each process."""
        self.bind(build_own)
        with self.refuses("'calls' of the model counts the calls of forward()", "register_buffer"):
            self.run_steps(20)
        self.assertEqual(self.job.coming_step, 9)

    def run_parts(self, num=4, loss_of=None, before=None, after=None):
        """A loop whose losses are those of `loss_of(model, x)`; forward() of the model without."""
        loss_of = loss_of or (lambda model, x: model(x).square().mean())
        for at in self.job.steps():
            if before:
                before(at)
            loss = loss_of(self.job.model, torch.ones(at, 4, requires_grad=True))
            loss.backward()
            self.job.step(loss)
            if after:
                after(at)
            if at == num:
                return

    def test_settings_of_parts_that_the_loop_calls(self):
        """Also if forward() of the model is called to evaluate."""

        def evaluate(at):
            self.job.model.eval()
            self.job.model(torch.ones(at, 4))
            self.job.model.train()

        for name, loss_of in {
            "a method": lambda model, x: model.loss(x),
            "a module": lambda model, x: model.out(model.part(x)).square().mean(),
        }.items():
            for after in (None, evaluate):
                with self.subTest(name, evaluates=bool(after)):
                    self.setUp()
                    self.bind(build_in_parts)
                    self.run_parts(loss_of=loss_of, after=after)
                    self.assertEqual(self.job.coming_step, 4)
                    self.doCleanups()

    def test_settings_that_are_changed_in_backward(self):
        """By forward() of a part that is recomputed, and by a hook."""
        self.bind(build_in_parts)
        self.run_parts()
        self.assertEqual(self.job.model.part.calls, 8)

    def test_numbers_for_logging(self):
        self.bind(build_in_parts)

        def keep(at):
            self.job.model.part.last_loss, self.job.model.num_seen = 0.5 / at, at

        self.run_parts(before=keep, after=lambda at: self.job.model.loss(torch.ones(1, 4)))
        self.assertEqual(self.job.model.num_seen, 4)

    def test_settings_of_an_evaluation(self):
        for name, mode in {
            "eval()": contextlib.nullcontext,
            "no_grad()": torch.no_grad,
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind(build_in_parts)

                def evaluate(at):
                    self.job.model.train(name != "eval()")
                    with mode(), self.job.model.disable_adapter():
                        self.job.model(torch.ones(at, 4))
                    self.job.model.train()

                self.run_parts(before=evaluate, after=evaluate)
                with self.refuses("'adapts' of part was changed from True to False"):
                    self.run_parts(
                        8,
                        after=lambda at: (
                            evaluate(at),
                            at == 6 and setattr(self.job.model.part, "adapts", False),
                        ),
                    )
                self.assertEqual(self.job.coming_step, 6)
                self.doCleanups()

    def test_settings_that_stay_as_in_an_evaluation(self):
        self.bind(build_in_parts)

        def evaluate(at):
            self.job.model.eval()
            self.job.model.part.adapts = False
            self.job.model(torch.ones(at, 4))
            self.job.model.train()

        with self.refuses("'adapts' of part was changed from True to False"):
            self.run_parts(after=evaluate)
        self.assertEqual(self.job.coming_step, 1)

    def test_settings_that_are_switched_to_train(self):
        self.bind(build_in_parts)

        def compare(at):
            with self.job.model.disable_adapter():
                self.job.model(torch.ones(at, 4))

        with self.refuses("'adapts' of part was changed from True to False"):
            self.run_parts(before=compare)

    def test_settings_of_a_model_that_trains_in_eval(self):
        def frozen(mesh):
            model, optimizer = build_own(mesh)
            return model.eval(), optimizer

        self.bind(frozen)
        with self.refuses("'heads' of the model was changed from 2 to 4"):
            self.run_steps(before=lambda at: at == 2 and setattr(self.job.model, "heads", 4))
        self.assertEqual(self.job.coming_step, 2)

    def test_settings_of_a_call_that_fails(self):
        self.bind(build_own)

        def fail(at):
            with self.assertRaises(RuntimeError):
                self.job.model(torch.ones(2, 5))

        self.run_steps(4, before=fail)

    def test_settings_of_a_model_that_is_compiled(self):
        self.bind(build_own)
        compiled, job = torch.compile(self.job.model, backend="eager", fullgraph=True), self.job
        for at in job.steps():
            if at == 5:
                return
            loss = compiled(torch.ones(2, 4)).square().mean()
            loss.backward()
            job.step(loss)
            job.model.eval()
            job.model(torch.ones(2, 4))
            job.model.train()

    def test_a_hidden_state(self):
        """A loop may begin it anew."""
        self.bind(build_own)
        self.run_steps(before=lambda at: setattr(self.job.model, "hidden", torch.zeros(4)))

    def test_a_model_that_is_saved_as_a_whole(self):
        self.bind()
        file = io.BytesIO()
        torch.save(self.job.model, file)
        file.seek(0)
        model = torch.load(file, weights_only=False)
        self.assertEqual(model.eval()(torch.ones(2, 4)).shape, (2, 3))

    def test_modules_that_are_replaced(self):
        def add(model):
            model.more = nn.Linear(4, 4)

        def wrap(model):
            nn.utils.parametrizations.weight_norm(model.out)

        for name, change in {
            "the module 'out' of the model": lambda model: setattr(model, "out", nn.Linear(4, 3)),
            "the module 'more' of the model": add,
            "the module 'parametrizations' of out": wrap,
        }.items():
            for at_step in (0, 2):
                with self.subTest(name, at_step=at_step):
                    self.setUp()
                    self.bind()
                    if at_step == 0:
                        change(self.job.model)
                    with self.refuses(name, "in build(mesh)"):
                        self.run_steps(before=lambda at: at == at_step and change(self.job.model))
                    self.assertEqual(self.job.coming_step, max(at_step, 1))
                    self.doCleanups()


class Samples(Loop):
    data = TensorDataset(torch.arange(32))

    def test_a_distributed_sampler(self):
        self.bind()
        loader = DataLoader(self.data, batch_size=4, sampler=DistributedSampler(self.data))
        with self.refuses("DistributedSampler", "use job.sampler("):
            next(iter(loader))

    def test_a_distributed_sampler_to_evaluate(self):
        self.bind()
        self.job.sampler(32, global_batch=4)
        self.assertEqual(len(list(DistributedSampler(self.data))), 32)
        with self.refuses("deals over 2 ranks as rank 1", "make it anew"):
            list(DistributedSampler(self.data, num_replicas=2, rank=1))

    def test_a_loader_that_knows_no_ranks(self):
        weights = torch.ones(32)
        for name, options in {
            "RandomSampler": {"shuffle": True},
            "SequentialSampler": {},
            "WeightedRandomSampler": {"sampler": WeightedRandomSampler(weights, 32)},
            "SubsetRandomSampler": {"sampler": SubsetRandomSampler(range(8))},
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind()
                batches = iter(DataLoader(self.data, batch_size=4, **options))
                with self.refuses(name, "begins anew", "the ranks", "use job.sampler("):
                    self.run_steps(before=lambda at: next(batches))
                self.assertEqual(self.job.coming_step, 1)
                self.doCleanups()

    def test_a_loader_beside_a_sampler_that_is_not_called(self):
        for name, options in {
            "RandomSampler": {"shuffle": True},
            "DistributedSampler": {"sampler": DistributedSampler(self.data, 1, 0)},
        }.items():
            with self.subTest(name):
                self.setUp()
                self.bind()
                self.job.sampler(32, global_batch=4)
                batches = iter(DataLoader(self.data, batch_size=4, **options))
                with self.refuses("step 1 has not called job.sampler", name, "data[batch()]"):
                    self.run_steps(before=lambda at: next(batches))
                self.assertEqual(self.job.coming_step, 1)
                self.doCleanups()

    def test_a_loader_beside_samples(self):
        """Other data, before or after the samples of the step."""
        for reads_before in (True, False):
            self.setUp()
            self.bind()
            batch = self.job.sampler(32, global_batch=4)
            batches = iter(DataLoader(self.data, batch_size=4, shuffle=True))

            def read(at, reads_before=reads_before, batch=batch, batches=batches):
                if reads_before:
                    next(batches)
                batch()
                if not reads_before:
                    next(batches)

            self.run_steps(before=read)
            self.doCleanups()

    def test_a_loader_to_evaluate_in_a_step(self):
        self.bind()
        self.job.sampler(32, global_batch=4)

        def evaluate(at):
            with torch.no_grad():
                self.assertEqual(len(list(DataLoader(self.data, shuffle=True))), 32)

        self.run_steps(before=evaluate)

    def test_a_loader_whose_workers_have_begun_before_the_loop(self):
        self.bind()
        batches = iter(DataLoader(self.data, batch_size=4, shuffle=True, num_workers=1))
        with self.refuses("RandomSampler", "use job.sampler("):
            self.run_steps(before=lambda at: next(batches))
        self.assertEqual(self.job.coming_step, 1)

    def test_a_loader_outside_of_a_step(self):
        """Such as for a mean or weights of classes."""
        self.bind()
        read = lambda: self.assertEqual(len(list(DataLoader(self.data, shuffle=True))), 32)
        read()
        self.run_steps(after=lambda at: read())
        read()

    def test_a_loader_to_evaluate(self):
        self.bind()

        def evaluate(at):
            self.job.model.eval()
            for loader in (DataLoader(self.data), DataLoader(self.data, shuffle=True)):
                self.assertEqual(len(list(loader)), 32)
            self.job.model.train()

        self.run_steps(after=evaluate)
        with torch.no_grad():
            self.assertEqual(len(list(DataLoader(self.data))), 32)
        self.job.sampler(32, global_batch=4)
        self.assertEqual(len(list(DataLoader(self.data, shuffle=True))), 32)

    def loader(self, **options):
        batch = self.job.sampler(32, global_batch=4)

        class Forever:
            def __iter__(self):
                while True:
                    yield batch()

        return DataLoader(self.data, batch_sampler=Forever(), **options)

    def test_workers_that_read_ahead(self):
        self.bind()
        loader = self.loader(num_workers=2)
        with self.refuses("workers of a DataLoader", "num_workers=0"):
            next(iter(loader))

    def test_a_loader_without_workers(self):
        self.bind()
        batches, read = iter(self.loader()), []
        self.run_steps(before=lambda at: read.append(tuple(next(batches)[0].tolist())))
        self.assertEqual(len(set(read)), 3)

    def test_a_thread_that_reads_ahead(self):
        self.bind()
        batch, said = self.job.sampler(32, global_batch=4), []

        def read():
            try:
                batch()
            except Exception as error:
                said.append(str(error))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        self.assertEqual(len(said), 1)
        self.assertIn("in the thread of the loop", said[0])

    def test_a_loop_that_reads_ahead(self):
        self.bind()
        batch = self.job.sampler(32, global_batch=4)
        with self.refuses("at the beginning of the next step"):
            self.run_steps(after=lambda at: batch())

    def test_inputs_and_targets(self):
        """Two calls in one step give the same numbers."""
        self.bind()
        batch = self.job.sampler(32, global_batch=4)
        self.run_steps(before=lambda at: self.assertEqual(batch(), batch()))

    def test_a_second_sampler(self):
        self.bind()
        self.job.sampler(32, global_batch=4)
        with self.refuses("job.sampler was called twice", "delete one call"):
            self.job.sampler(16, global_batch=4)
        self.job.sampler(32, global_batch=4)


if __name__ == "__main__":
    unittest.main()
