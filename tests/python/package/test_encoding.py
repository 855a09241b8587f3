# SPDX-License-Identifier: Apache-2.0
"""State of Python objects as bytes."""

import enum
import json
import random
import unittest
from collections import Counter, OrderedDict, deque

import numpy as np
import torch
from tessera import TesseraError

from tessera.torch.encoding import decode, encode


class Kind(enum.IntEnum):
    LARGE = 3


class Encoding(unittest.TestCase):
    def same(self, value):
        found = decode(encode(value))
        self.assertEqual(found, value)
        self.assertIs(type(found), type(value))
        return found

    def test_what_comes_back(self):
        self.same({"a": [1, 2.5, float("inf"), None, True, "ü"], "b": {"c": (1, (2,))}})
        self.same({1: "one", (2, 3): b"\x00\xff", "$": "no kind"})
        self.same(Counter({3: 2, 7: 1}))
        self.same(OrderedDict([("b", 1), ("a", 2)]))
        self.same({1, 2, 3})
        self.same(complex(1, -2))
        self.same(random.Random(5).getstate())
        kept = self.same(deque([1, 2], maxlen=4))
        self.assertEqual(kept.maxlen, 4)

    def test_tensors(self):
        for value in (
            torch.tensor([[1.5, -2]], dtype=torch.bfloat16),
            torch.empty(0, 3),
            torch.tensor(7),
            torch.randn(4, 6).t()[1:],
            torch.nn.Parameter(torch.ones(2)),
        ):
            found = decode(encode({"of": value}))["of"]
            self.assertTrue(torch.equal(found, value.detach()))
            self.assertEqual((found.dtype, found.shape), (value.dtype, value.shape))
            found.add_(1)  # its memory is its own

    def test_numpy(self):
        array = np.arange(6, dtype=">i4").reshape(2, 3)
        found = decode(encode([array, np.float32(0.1)]))
        self.assertTrue(np.array_equal(found[0], array))
        self.assertEqual(found[0].dtype, array.dtype)
        self.assertEqual(found[1], np.float32(0.1))
        self.assertIsInstance(found[1], np.float32)

    def test_equal_states_have_equal_bytes(self):
        self.assertEqual(encode({"a": 1, "b": {2, 1}}), encode({"b": {1, 2}, "a": 1}))
        self.assertEqual(decode(encode(Kind.LARGE)), 3)

    def test_what_cannot_be_held(self):
        for value, words in (
            ({"of": {"call": print}}, ("builtin_function", "of.call")),
            ([object()], ("object", "[0]")),
            (np.array([print]), ("array of objects",)),
        ):
            with self.assertRaises(TesseraError) as caught:
                encode(value)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_damaged_bytes(self):
        """They raise, and run nothing."""
        good = encode({"a": torch.ones(2), "b": np.ones(2), "c": b"abc", "d": (1, 2)})
        bad = [b"", b"{", b"[" * 100_000, b'{"$":"none","of":1}', b'{"$":"tensor","of":[1,2]}']
        bad += [b'{"$":"tensor","of":["load",[1],{"$":"bytes","of":"AAAA"}]}']
        bad += [b'{"$":"array","of":["O",[1],{"$":"bytes","of":"AAAAAAAAAAA="},false]}']
        bad += [good[:-3], b"\xff\xfe"]
        for data in bad:
            with self.assertRaises(TesseraError, msg=data[:40]):
                decode(data)
        generator = random.Random(1)
        for _ in range(300):
            data = bytearray(good)
            data[generator.randrange(len(data))] = generator.randrange(32, 127)
            try:
                decode(bytes(data))
            except TesseraError:
                pass
        self.assertEqual(json.loads(good)["c"]["of"], "YWJj")
