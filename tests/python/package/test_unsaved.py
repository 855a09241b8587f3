# SPDX-License-Identifier: Apache-2.0
"""Buffers with persistent=False: statistics are refused, caches are not."""

import itertools
import unittest

import torch
from programs import Loop
from torch import nn


class Net(nn.Module):
    """`change` is called in forward() with the model, the buffer and the inputs."""

    def __init__(self, change):
        super().__init__()
        self.out = nn.Linear(4, 3)
        self.change = change
        self.register_buffer("kept", torch.zeros(4), persistent=False)
        self.register_buffer("fixed", torch.arange(4.0), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            self.change(self, self.kept, x.detach().mean(0) + 1)
        return self.out(x + self.fixed)


def in_place(model, kept, x):
    kept.mul_(0.9).add_(x)


def replaced(model, kept, x):
    model.kept = 0.9 * kept + x


def through_data(model, kept, x):
    kept.data.mul_(0.9).add_(x)


class Unsaved(Loop):
    def bind_with(self, change):
        def build(mesh):
            torch.manual_seed(1)
            model = Net(change)
            return model, torch.optim.SGD(model.parameters(), lr=0.01)

        self.bind(build)

    def test_statistics(self):
        for change in (in_place, replaced, through_data):
            with self.subTest(change.__name__):
                self.setUp()
                self.bind_with(change)
                with self.refuses("the buffer 'kept'", "persistent=True"):
                    self.run_steps(12)
                self.assertEqual(self.job.coming_step, 8)
                self.doCleanups()

    def test_caches(self):
        def grows(model, kept, x):
            model.kept = torch.zeros(len(kept) + 1)

        def switches(model, kept, x):
            model.kept = 1 - kept

        def fills(model, kept, x):
            kept.copy_(x.sign())

        def writes_the_same(model, kept, x):
            kept.data.copy_(kept.clone())

        def of_an_evaluation(model, kept, x):
            with torch.inference_mode():
                model.kept = torch.ones(4)

        for change in (grows, switches, fills, writes_the_same, of_an_evaluation):
            with self.subTest(change.__name__):
                self.setUp()
                self.bind_with(change)
                self.run_steps(12)
                self.doCleanups()

    def test_values_that_are_replaced_now_and_then(self):
        steps = itertools.count()

        def replaced(model, kept, x):
            if (at := next(steps)) % 3 == 0:
                model.kept = torch.full((4,), float(at))

        self.bind_with(replaced)
        self.run_steps(40)

    def test_tensors_of_other_kinds(self):
        def build(mesh):
            model = Net(lambda model, kept, x: None)
            for name, value in {
                "sparse": torch.eye(4).to_sparse(),
                "complex": torch.ones(3, dtype=torch.complex128),
                "flag": torch.tensor(True),
                "empty": torch.zeros(0),
            }.items():
                model.register_buffer(name, value, persistent=False)
            return model, torch.optim.SGD(model.parameters(), lr=0.01)

        self.bind(build)
        self.run_steps(10)

    def test_counts_that_the_update_takes_back(self):
        def build(mesh):
            model = Net(in_place)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            optimizer.register_step_post_hook(lambda *_: model.kept.zero_())
            return model, optimizer

        self.bind(build)
        self.run_steps(12)
        self.job._unsaved.check_change()

    def test_a_change_of_the_mesh(self):
        """One that was changed in place only once, and one that was replaced."""

        def once(model, kept, x):
            if not hasattr(model, "is_filled"):
                kept.add_(x)
            model.is_filled = True

        self.bind_with(once)
        self.job._unsaved.check_change()
        self.run_steps(2)
        with self.refuses("the buffer 'kept'", "a change of the mesh", "persistent=True"):
            self.job._unsaved.check_change()
        self.job._unsaved.begin(self.job.model)  # as after a pause
        with self.refuses("the buffer 'kept'"):
            self.job._unsaved.check_change()

    def test_a_change_of_the_mesh_with_a_cache(self):
        def grows(model, kept, x):
            model.kept = torch.zeros(len(kept) + 1)

        self.bind_with(grows)
        self.run_steps(2)
        self.job._unsaved.begin(self.job.model)
        self.job._unsaved.check_change()


if __name__ == "__main__":
    unittest.main()
