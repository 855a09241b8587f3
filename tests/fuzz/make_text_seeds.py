#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds of the targets scenario and lesson: files of resources/, and each with one of its
values replaced by another kind of value.

Only Python's own library is needed. Files that a fuzzer found (crash-…, slow-…) stay as they are.
"""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
RESOURCES = FOLDER.parents[1] / "resources"
OTHERS = {
    "null": None,
    "negative": -1,
    "huge": 1e300,
    "line-feed": "a\nb",
    "list": [[]],
    "deep": {"a": {"a": {}}},
}
SEEDS = {
    "scenario": ["scenarios/node-lost.json", "scenarios/slow-port.json", "scenarios/snapshots.json"],
    "lesson": ["lessons/04-replicas.json", "lessons/12-own-cluster.json"],
}
EXPRESSIONS = {
    "expression": "2 * moved_bytes + received_bytes(n0g3) / 1.5 GiB - 3 %",
    "condition": "received_bytes(n0g3) <= 2 GiB",
    "nested": "(" * 200 + "1" + ")" * 200,
    "quoted": "'n0 out' = busiest_port('n0', a, b)",
}


def places(value, path=()):
    """The paths of all values within a value."""
    items = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def replaced(value, path, other):
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = other
    return copy


def main():
    for target, files in SEEDS.items():
        folder = FOLDER / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            path = RESOURCES / name
            text = path.read_text()
            (folder / path.stem).write_text(text)
            value = json.loads(text)
            found = list(places(value))
            for i, (kind, other) in enumerate(OTHERS.items()):
                # Spread over the file, so that no two replace the same value.
                where = found[(2 * i + 1) * len(found) // (2 * len(OTHERS))]
                damaged = json.dumps(replaced(value, where, other))
                (folder / f"{path.stem}-{kind}").write_text(damaged)
    for name, text in EXPRESSIONS.items():
        (FOLDER / "corpus" / "lesson" / name).write_text(text)


if __name__ == "__main__":
    main()
