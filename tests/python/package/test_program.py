# SPDX-License-Identifier: Apache-2.0
"""What a program has, and which optimizers a job can hold."""

import unittest

import torch
from programs import SIZES, build
from torch import nn
from torch.distributed.fsdp import fully_shard

from tessera import TesseraError
from tessera.torch.beginnings import Beginning, beginnings_of, check_optimizer
from tessera.torch.groups import pretended
from tessera.torch.program import call, make_state, state_of


class Own(torch.optim.Optimizer):
    """Plain descent with a part of state that `begin` makes and `go` changes."""

    def __init__(self, own, lr=0.1):
        super().__init__(own, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                if one.grad is None:
                    continue
                state = self.state[one]
                if "step" not in state:
                    state["step"] = torch.zeros(())
                    self.begin(one, state)
                state["step"] += 1
                one.sub_(one.grad, alpha=group["lr"])
                self.go(one, state)

    def begin(self, one, state):
        pass

    def go(self, one, state):
        pass


class Lookahead(Own):
    """The weights return half of the way in each tenth step."""

    def begin(self, one, state):
        state["slow"] = one.detach().clone()

    def go(self, one, state):
        if int(state["step"]) % 10 == 0:
            state["slow"].lerp_(one, 0.5)
            one.copy_(state["slow"])


class Average(Own):
    """The update does not use its state."""

    def begin(self, one, state):
        state["average"] = one.detach().clone()

    def go(self, one, state):
        state["average"].lerp_(one, 0.1)


class First(Own):
    """Its state begins with the first gradient."""

    def begin(self, one, state):
        state["first"] = one.grad.clone()


class Late(Own):
    def go(self, one, state):
        if int(state["step"]) == 20:
            state["late"] = torch.zeros_like(one)


class Counts(Own):
    """A process that joins begins with 0."""

    def begin(self, one, state):
        self.made = 0

    def go(self, one, state):
        self.made += 1


class Optimizers(unittest.TestCase):
    def says(self, kind, *words, **options):
        optimizer = kind([nn.Parameter(torch.zeros(2, 2))], **options)
        with self.assertRaises(TesseraError) as caught:
            check_optimizer(optimizer)
        for word in (f"{kind.__name__} cannot be bound: ", *words):
            self.assertIn(word, str(caught.exception))

    def begins(self, kind, **options):
        optimizer = kind([nn.Parameter(torch.zeros(2, 2))], **options)
        return beginnings_of(optimizer, optimizer.param_groups[0])

    def test_copies_of_the_weights(self):
        self.assertEqual(self.begins(Lookahead), {"slow": Beginning(is_copy=True)})
        self.assertEqual(self.begins(Average), {"average": Beginning(is_copy=True)})

    def test_numbers_and_options(self):
        self.assertEqual(self.begins(torch.optim.NAdam), {"mu_product": Beginning(number=1.0)})
        self.assertEqual(self.begins(torch.optim.Rprop), {"step_size": Beginning(option="lr")})
        # An option that happens to be 1 is still an option.
        self.assertEqual(self.begins(torch.optim.Rprop, lr=1.0), self.begins(torch.optim.Rprop))
        self.assertEqual(
            self.begins(torch.optim.ASGD),
            {"eta": Beginning(option="lr"), "mu": Beginning(number=1.0)},
        )

    def test_made_with_the_optimizer(self):
        """Such state has its values when build(mesh) returns."""
        self.assertEqual(self.begins(torch.optim.Adagrad, initial_accumulator_value=0.1), {})

    def test_what_cannot_be_seen(self):
        self.says(First, "it cannot be seen what its state begins with ('first', seen in step 1)")

    def test_state_that_comes_later(self):
        self.says(Late, "it makes its state 'late' in step 20")

    def test_counts_outside_of_the_state(self):
        self.says(Counts, "it counts in its attribute 'made'")

    def test_those_of_torch(self):
        sgd = {"momentum": 0.9, "dampening": 0.1}
        self.says(torch.optim.SGD, "cannot be seen", "SGD with dampening=0 can be bound", **sgd)
        for name, options in {
            "AdamW": {},
            "Adam": {"amsgrad": True},
            "SGD": {"momentum": 0.9, "nesterov": True},
            "RMSprop": {"momentum": 0.9, "centered": True},
            "RAdam": {},
            "Adamax": {},
            "Adadelta": {},
            "Adafactor": {},
            "Adagrad": {"lr_decay": 0.1, "initial_accumulator_value": 0.1},
            "ASGD": {},
            "Muon": {},
            "NAdam": {"decoupled_weight_decay": True, "weight_decay": 0.1},
            "Rprop": {"step_sizes": (1e-6, 2.0)},
        }.items():
            with self.subTest(name):
                kind = getattr(torch.optim, name)
                check_optimizer(kind([nn.Parameter(torch.zeros(2, 2))], **options))
        check_optimizer(Own([nn.Parameter(torch.zeros(2, 2))]))

    def test_options_of_each_group(self):
        groups = [
            {"params": [nn.Parameter(torch.zeros(2, 2))]},
            {"params": [nn.Parameter(torch.zeros(2, 2))], "momentum": 0.9, "dampening": 0.1},
        ]
        with self.assertRaisesRegex(TesseraError, "cannot be seen what its state begins with"):
            check_optimizer(torch.optim.SGD(groups, lr=0.1))


class State(unittest.TestCase):
    def test_names_and_roles(self):
        with pretended(SIZES) as mesh, torch.device("meta"):
            model, optimizer, pipeline = call(build, mesh)
            make_state(optimizer)
            roles = {tensor.name: tensor.role for tensor, _, _ in state_of(model, optimizer)}
        self.assertIsNone(pipeline)
        self.assertEqual(roles["out.weight"], "param")
        self.assertEqual(roles["out.weight.exp_avg"], "exp_avg")
        self.assertEqual(roles["out.weight.step"], "scalar")
        self.assertEqual(roles["average"], "buffer")

    def test_parts_of_one_rank(self):
        def sharded(mesh):
            model, optimizer = build(mesh)
            fully_shard(model, mesh=mesh["dp"])
            return model, type(optimizer)(model.parameters())

        with pretended({**SIZES, "dp": 2}, 1) as mesh:
            with torch.device("meta"):
                model, optimizer, _ = call(sharded, mesh)
            make_state(optimizer)
            of = {tensor.name: tensor for tensor, _, _ in state_of(model, optimizer)}
            self.assertEqual(of["out.weight"].cuts(), [["dp"], []])
            self.assertEqual(of["out.weight"].box(), ((2, 0), (3, 4)))
            self.assertEqual(of["out.weight.exp_avg"].box(), ((2, 0), (3, 4)))
            self.assertEqual(of["average"].box(), ((0,), (3,)))

    def test_what_is_no_program(self):
        with self.assertRaisesRegex(TesseraError, "has to return model and optimizer"):
            call(lambda mesh: nn.Linear(1, 1), None)


if __name__ == "__main__":
    unittest.main()
