# SPDX-License-Identifier: Apache-2.0
"""What of a state is read to find writes, and when."""

import unittest

import torch

from tessera.torch.contents import Turns, first_difference, sums_of


class Sums(unittest.TestCase):
    def test_each_element_of_any_memory(self):
        for dtype in (torch.bool, torch.uint8, torch.bfloat16, torch.float32, torch.int64):
            for begin in (0, 1, 3):
                for size in (0, 1, 2, 5, 9):
                    value = torch.zeros(begin + size, dtype=dtype)[begin:]
                    with self.subTest(dtype, begin=begin, size=size):
                        before = sums_of(value)
                        for place in range(size):
                            value[place] = 1
                            self.assertEqual(first_difference([before], [sums_of(value)]), 0)
                            value[place] = 0
                        self.assertIsNone(first_difference([before], [sums_of(value)]))

    def test_shapes(self):
        for value in (
            torch.ones(()),
            torch.ones(4, 6).t(),
            torch.ones(8, 2)[:, 1],
            torch.ones(3),
            torch.ones(2, dtype=torch.complex128),
        ):
            before = sums_of(value)
            value[(-1,) * value.dim()] = 2
            self.assertEqual(first_difference([before], [sums_of(value)]), 0)

    def test_signs(self):
        """Of all elements, of which as many are positive as negative."""
        for dtype in (torch.bfloat16, torch.float32, torch.float64):
            for size in (2, 4, 8, 256, 1024, 4096, 6000, 65536):
                for begin in (0, 1):
                    with self.subTest(dtype, size=size, begin=begin):
                        whole = torch.ones(begin + size, dtype=dtype)
                        whole[begin + size // 2 :] = -1
                        value = whole[begin:]
                        before = sums_of(value)
                        value.data.neg_()
                        self.assertEqual(first_difference([before], [sums_of(value)]), 0)

    def test_places(self):
        for shape in ((4,), (2, 2), (64, 64), (3, 5000), (1000, 16)):
            with self.subTest(shape):
                value = torch.rand(shape, dtype=torch.float64)
                for change in (
                    lambda: value.copy_(value.flip(0)),
                    lambda: value.copy_(value.roll(1, 0)),
                    lambda: value[:2].copy_(value[:2].flip(0)),
                ):
                    before = sums_of(value)
                    change()
                    self.assertEqual(first_difference([before], [sums_of(value)]), 0)

    def test_other_sizes(self):
        sums = [sums_of(torch.zeros(size)) for size in (0, 8, 3000)]
        self.assertIsNone(first_difference(sums, sums))
        self.assertIsNone(first_difference(sums[:1], sums[:1]))
        self.assertEqual(first_difference(sums, [*sums[:2], sums[1]]), 2)
        changed = sums[1].clone()
        changed[-1] += 1
        self.assertEqual(first_difference(sums, [sums[0], changed, sums[2]]), 1)

    def test_numbers_that_no_comparison_sees(self):
        value = torch.tensor([float("nan"), 0.0])
        before = sums_of(value)
        self.assertIsNone(first_difference([before], [sums_of(value)]))
        value[1] = -0.0
        self.assertEqual(first_difference([before, before], [before, sums_of(value)]), 1)

    def test_the_first_elements(self):
        value = torch.zeros(2000)
        before = sums_of(value, 1024)
        value[1024] = 1
        self.assertIsNone(first_difference([before], [sums_of(value, 1024)]))
        value[1023] = 1
        self.assertEqual(first_difference([before], [sums_of(value, 1024)]), 0)


class InTurns(unittest.TestCase):
    def read(self, sizes, num_steps=200):
        turns = Turns([torch.empty(size, dtype=torch.uint8, device="meta") for size in sizes])
        out = []
        for _ in range(num_steps):
            out.append(turns.now())
            turns.go_on()
        return out

    def test_all_at_first(self):
        self.assertEqual(self.read([1 << 30] * 40, 3), [range(40)] * 3)

    def test_a_small_program_is_always_read(self):
        self.assertEqual(set(self.read([1 << 10] * 32)), {range(32)})

    def test_all_in_turns(self):
        sizes = [(place % 7) << 20 for place in range(500)] + [1 << 30]
        later = self.read(sizes)[3:]
        num_turns = len(set(later))
        self.assertLess(num_turns, 50)
        found = sorted(place for turn in later[:num_turns] for place in turn)
        self.assertEqual(found, list(range(len(sizes))))
        share = max(sum(sizes) // 16, max(sizes))
        self.assertTrue(all(sum(sizes[place] for place in turn) <= share for turn in later))

    def test_a_program_without_tensors(self):
        self.assertEqual(set(self.read([])), {range(0)})


if __name__ == "__main__":
    unittest.main()
