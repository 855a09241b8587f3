# SPDX-License-Identifier: Apache-2.0
"""Checks what the package `tessera` accepts as a metric.

metrics_judge.py FOLDER: FOLDER has the package. Exits with 1 and a line for each difference.
"""

import math
import sys

sys.path.insert(0, sys.argv[1])

from tessera import TesseraError
from tessera.metrics import MAX_NAMES, Metrics

wrong = []


class Scalar:
    """A tensor of one element, as torch, NumPy and JAX have it."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value


def accepts(name, value, expected):
    got = Metrics().checked({name: value})
    if got != {name: expected} and not math.isnan(expected):
        wrong.append(f"{name}={value!r}: {got}")
    if math.isnan(expected) and not math.isnan(got[name]):
        wrong.append(f"{name}={value!r}: {got}")


def refuses(sentence, metrics, values):
    try:
        metrics.checked(values)
        wrong.append(f"{values} was accepted")
    except TesseraError as error:
        if str(error) != sentence:
            wrong.append(f"{values}: {error}")


accepts("accuracy", 0.5, 0.5)
accepts("_", 3, 3.0)
accepts("eval/top-5.mean_1", True, 1.0)
accepts("a" * 40, Scalar(2), 2.0)
accepts("a", Scalar(2.5, (1,)), 2.5)
accepts("loss", float("nan"), float("nan"))
accepts("loss", float("-inf"), float("-inf"))
for name in ("", "1a", "/a", "a b", "a=b", "ä", "a\n", "a" * 41):
    refuses(f"'{name}' is no name of a metric: a letter or _, then letters, digits and _ . / -, at "
            "most 40 characters", Metrics(), {name: 1})
refuses("metric 'a': '0.5' is no number", Metrics(), {"a": "0.5"})
refuses("metric 'b': None is no number", Metrics(), {"a": 1, "b": None})
refuses("metric 'a': 1j is no number", Metrics(), {"a": 1j})
refuses("metric 'a': [1] is no number", Metrics(), {"a": [1]})
refuses("metric 'a': 'x' is no number", Metrics(), {"a": Scalar("x")})
refuses("metric 'a': the number is above those of a float", Metrics(), {"a": 10**400})

full = Metrics()
full.checked({f"m{i}": i for i in range(MAX_NAMES - 1)})
refuses("metric 'm16': a job has at most 16 metrics", full, {"m0": 1, "m15": 1, "m16": 1})
full.checked({"m15": 1})  # what was refused does not count
full.checked({"m0": 1, "m15": 1})
refuses("metric 'm16': a job has at most 16 metrics", full, {"m16": 1})

print("\n".join(wrong))
sys.exit(bool(wrong))
