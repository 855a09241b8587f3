# SPDX-License-Identifier: Apache-2.0
"""Programs that load weights of others in build(mesh), which runs on the meta device, too."""

import importlib.util
import tempfile
import unittest
import warnings

import torch
from programs import Loop, Net
from torch import nn

from tessera.torch.describe import describe


@unittest.skipUnless(importlib.util.find_spec("transformers"), "no module 'transformers'")
class FromPretrained(Loop):
    @classmethod
    def setUpClass(cls):
        from transformers import GPT2Config, GPT2LMHeadModel

        torch.manual_seed(3)
        config = GPT2Config(vocab_size=32, n_positions=8, n_embd=8, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None)
        cls.saved = GPT2LMHeadModel(config).to(torch.bfloat16)
        cls.folder = tempfile.TemporaryDirectory()
        cls.saved.save_pretrained(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build(self, **options):
        def build(mesh):
            from transformers import AutoModelForCausalLM

            model = AutoModelForCausalLM.from_pretrained(self.folder.name, **options)
            return model.train(), torch.optim.SGD(model.parameters(), lr=0.1)

        return build

    def test_it_is_described_as_it_is_saved(self):
        whole, _ = describe(self.build())
        found = {one.name: (one.dtype, one.shape) for one in whole.tensors if one.role == "param"}
        saved = {name: tuple(one.shape) for name, one in self.saved.named_parameters()}
        tied = {alias: one.name for one in whole.tensors for alias in one.aliases}
        self.assertEqual(
            found, {tied.get(name, name): ("bf16", shape) for name, shape in saved.items()}
        )
        self.assertEqual(tied, {"transformer.wte.weight": "lm_head.weight"})

    def test_types_and_settings_of_the_call_count(self):
        whole, _ = describe(self.build(dtype=torch.float32, resid_pdrop=0.5))
        self.assertEqual({one.dtype for one in whole.tensors if one.role == "param"}, {"f32"})

    def test_a_loop_begins_with_the_saved_values(self):
        job = self.bind(self.build(dtype=torch.float32))
        for name, one in job.model.named_parameters():
            want = self.saved.get_parameter(name).to(torch.float32)
            self.assertTrue(torch.equal(one.detach(), want), name)

    def test_other_programs_than_the_one_described_are_refused(self):
        for option, value in (("tp_plan", "auto"), ("quantization_config", {"bits": 4})):
            with self.refuses(option, "cut it there"):
                describe(self.build(**{option: value}))


class LoadStateDict(Loop):
    def test_no_warning_for_what_has_no_values(self):
        saved = Net().state_dict()

        def build(mesh):
            model = Net()
            model.load_state_dict(saved)
            return model, torch.optim.SGD(model.parameters(), lr=0.1)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            whole, _ = describe(build)
        self.assertIn("out.weight", {one.name for one in whole.tensors})
        job = self.bind(build)
        self.assertTrue(torch.equal(job.model.out.weight.detach(), saved["out.weight"]))


class OwnFromPretrained(Loop):
    """A class method of that name of other libraries is not touched."""

    def test_it_runs(self):
        class Own(nn.Linear):
            @classmethod
            def from_pretrained(cls, path):
                return cls(2, 2)

        def build(mesh):
            model = Own.from_pretrained("none")
            return model, torch.optim.SGD(model.parameters(), lr=0.1)

        self.assertEqual(len(describe(build)[0].tensors), 3)
