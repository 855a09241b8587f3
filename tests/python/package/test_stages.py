# SPDX-License-Identifier: Apache-2.0
"""Layers and stages from what a program has on 2, 3 and 4 stages."""

import unittest

from tessera import TesseraError
from tessera.torch.layout import Layout, stages_of_layers
from tessera.torch.stages import infer


def names_of(layers):
    return ["words", *(f"blocks.{i}.w" for i in range(layers)), "head", "scale"]


def probe(layers, stage_of, counts=(2, 3, 4)):
    """What stages have if `stage_of(layer, count)` deals the layers."""
    out = {}
    for count in counts:
        stages = [{"scale"} for _ in range(count)]
        stages[0].add("words")
        stages[-1].add("head")
        for layer in range(layers):
            stages[stage_of(layer, count)].add(f"blocks.{layer}.w")
        out[count] = stages
    return out


class Stages(unittest.TestCase):
    def test_equal_parts(self):
        dealt = lambda layer, count: stages_of_layers("uniform", 5, count)[layer]
        found = infer(names_of(5), probe(5, dealt))
        self.assertEqual((found.rule, found.num_layers), ("uniform", 5))
        self.assertEqual(found.layer["blocks.3.w"], 3)
        self.assertEqual(found.place, {"words": "first", "head": "last", "scale": "all"})

    def test_virtual_stages(self):
        dealt = lambda layer, count: stages_of_layers("uniform*2", 8, count)[layer]
        self.assertEqual(infer(names_of(8), probe(8, dealt)).rule, "uniform*2")

    def test_parts_of_its_own(self):
        own = lambda layer, count: min(layer, 1) if count == 2 else layer * count // 4
        self.assertEqual(infer(names_of(4), probe(4, own)).rule, "0,1,1,1")

    def test_no_stages(self):
        names = names_of(3)
        found = infer(names, {count: [set(names)] * count for count in (2, 3)})
        self.assertEqual((found.num_layers, set(found.place.values())), (0, {"all"}))

    def test_a_tensor_on_no_stage(self):
        probes = probe(4, lambda layer, count: layer * count // 4)
        probes[3][0].discard("words")
        with self.assertRaisesRegex(TesseraError, "with pp=3 the program has 'words' on no stage"):
            infer(names_of(4), probes)

    def test_a_tensor_where_no_rule_puts_it(self):
        probes = probe(4, lambda layer, count: layer * count // 4)
        probes[3][0].discard("words")
        probes[3][1].add("words")
        with self.assertRaisesRegex(TesseraError, r"'words' on stages \[1\]"):
            infer(names_of(4), probes)


class Layouts(unittest.TestCase):
    def test_who_holds_a_tensor(self):
        layout = Layout(
            {
                "num_layers": 4,
                "tensors": [
                    {"name": "a", "place": "layer", "layer": 3},
                    {"name": "b", "place": "first_and_last"},
                    {"name": "c", "place": "all"},
                ],
            }
        )
        self.assertTrue(layout.is_pipelined)
        self.assertEqual(layout.stages_holding("a", 2), (1,))
        self.assertEqual(layout.stages_holding("b", 3), (0, 2))
        self.assertEqual(layout.stages_holding("b", 1), (0,))
        self.assertEqual(layout.stages_holding("c", 2), (0, 1))

    def test_rules_that_need_more_than_a_number(self):
        self.assertIsNone(stages_of_layers("0,0,1,1", 4, 3))
        self.assertEqual(stages_of_layers("0,0,1,1", 4, 1), [0, 0, 0, 0])


if __name__ == "__main__":
    unittest.main()
