#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds of the targets wire, lane, rank, keeper and journal, always the same ones.

Messages have the fields of the .proto files, with random contents. Only Python's own library is
needed. Files that a fuzzer found (crash-…, slow-…) stay as they are.
"""

import json
import pathlib
import random
import re
import struct

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PROTOS = ROOT / "agents/wire/tessera/wire"
WORDS = [b"nano", b"n0g0", b"dp=2,tp=2,pp=1", b"0123456789abcdef", b"a\nb", b""]
MOST_DEPTH = 3
SEEDS_OF_MESSAGE = 2


def write(target, name, data):
    path = FOLDER / "corpus" / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Schema:
    """Messages and enums by name, of all .proto files: fields are (name, type, number, repeated)."""

    def __init__(self):
        self.messages, self.enums = {}, {}
        for path in sorted(PROTOS.glob("*.proto")):
            text = re.sub(r"//[^\n]*", "", path.read_text())
            self.tokens = re.findall(r'"[^"]*"|[\w.]+|[{}=;<>,\[\]]', text)
            self.at = 0
            while self.at < len(self.tokens):
                self.declaration(None)

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def skip_to(self, end):
        while self.next() != end:
            pass

    def declaration(self, fields):
        word = self.next()
        if word == "message":
            name = self.next()
            own = self.messages[name] = []
            self.next()
            while self.tokens[self.at] != "}":
                self.declaration(own)
            self.next()
        elif word == "enum":
            name, values = self.next(), []
            self.next()
            while self.tokens[self.at] != "}":
                self.next(), self.next()
                values.append(int(self.next()))
                self.next()
            self.next()
            self.enums[name] = values
        elif word == "oneof":
            self.next(), self.next()
            while self.tokens[self.at] != "}":
                self.declaration(fields)
            self.next()
        elif fields is None or word == "reserved":  # syntax, package, import, reserved
            self.skip_to(";")
        else:
            self.field(word, fields)

    def field(self, word, fields):
        repeated = word == "repeated"
        if word in ("repeated", "optional"):
            word = self.next()
        if word == "map":
            self.next()
            key, value = self.next(), (self.next(), self.next())[1]
            self.next()
            word, repeated = f"map {key} {value}", True
            self.messages[word] = [("key", key, 1, False), ("value", value, 2, False)]
        name = self.next()
        self.next()
        fields.append((name, word.split(".")[-1], int(self.next()), repeated))
        self.skip_to(";")


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def block(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


class Messages:
    """Random messages, most of whose values are in their ranges."""

    def __init__(self, schema, seed):
        self.schema, self.random = schema, random.Random(seed)

    def number(self):
        return self.random.choice([0, 1, 2, 3, 4, 8, 1, 2, 40, -1, (1 << 63) - 1])

    def value(self, kind, number, depth):
        if kind in self.schema.messages:
            return block(number, self.message(kind, depth + 1))
        if kind in self.schema.enums:
            return varint(number << 3) + varint(self.random.choice(self.schema.enums[kind]))
        if kind in ("string", "bytes"):
            return block(number, self.random.choice(WORDS[:4] * 3 + WORDS))
        if kind in ("double", "fixed64", "sfixed64"):
            return varint(number << 3 | 1) + struct.pack("<d", self.random.choice([0, 0.5, 1e9, -1, float("nan")]))
        if kind in ("float", "fixed32", "sfixed32"):
            return varint(number << 3 | 5) + struct.pack("<f", 0.5)
        value = self.random.randint(0, 1) if kind == "bool" else self.number()
        return varint(number << 3) + varint(value)

    def message(self, name, depth=0):
        out = b""
        for _, kind, number, repeated in self.schema.messages[name]:
            if kind in self.schema.messages and depth >= MOST_DEPTH:
                continue
            for _ in range(self.random.randint(0, 2) if repeated else self.random.randint(0, 1)):
                out += self.value(kind, number, depth)
        return out

    def of_kind(self, name, field):
        """A message with that field of its oneof only."""
        (kind, number), = [(kind, number) for own, kind, number, _ in self.schema.messages[name] if own == field]
        return self.value(kind, number, 0)


def wire(messages):
    text = (FOLDER / "wire_messages.h").read_text()
    names = re.findall(r"wire::(\w+)", text)
    for index, name in enumerate(names):
        write("wire", name + "-empty", bytes([index]))
        for i in range(SEEDS_OF_MESSAGE):
            write("wire", f"{name}-{i}", bytes([index]) + messages.message(name)[:2000])


def lane():
    def head(kind):
        return struct.pack("<III", 0x324E4C54, kind, 4) + b"nano" + struct.pack("<qqQ", 2, 1, 5)

    segments = bytes([1, 1]) + varint(300) + bytes([2, 2, 4, 0]) + varint(128) + bytes([0, 64])
    segments += bytes([0]) + varint(96) + bytes([32])
    request = head(1) + bytes(16) + struct.pack("<IBI", 4, 3, 2) + segments
    # The target appends the checksum.
    write("lane", "request", request)
    write("lane", "request-overlong", request.replace(varint(300), b"\xac\x82\x80\x00"))
    write("lane", "request-huge", request.replace(varint(128), b"\xff" * 8 + b"\x7f"))
    write("lane", "frame", head(2) + struct.pack("<IqB", 4, 96, 3) + struct.pack("<Q", 7) +
          struct.pack("<IQQ", 2, 8, 9))
    write("lane", "frame-bare", head(2) + struct.pack("<IqB", 4, 96, 0))
    text = b"tensor 5 [0:4] is not here"
    write("lane", "refusal", head(3) + struct.pack("<II", 1, len(text)) + text)
    write("lane", "refusal-lines", head(3) + struct.pack("<II", 900, 3) + b"a\nb")


def packet(data, has_descriptor=False):
    return bytes([has_descriptor]) + struct.pack("<H", len(data)) + data


def rank(messages):
    attach = packet(block(1, varint(1 << 3) + varint(1) + block(2, b"nano")))
    for name, kind, number, _ in messages.schema.messages["RankToAgent"]:
        data = messages.of_kind("RankToAgent", name)
        write("rank", name, attach + 2 * packet(data, name == "shared_memory_held"))
    write("rank", "not-attached", packet(messages.of_kind("RankToAgent", "decided")))
    view = block(5, bytes([1, 2, 1, 1, 1])) + block(6, bytes([0, 1, 0, 0, 0]))
    view = bytes([1 << 3, 3, 3 << 3, 1, 4 << 3, 2]) + view + 2 * block(11, b"\x08\x01") + block(12, bytes([0, 1]))
    write("rank", "view", view)
    places = [{"node": 0, "address": "127.0.0.1"}, {"node": 1, "host": 1}]
    write("rank", "view.json", json.dumps(
        {"epoch": "3", "rank": 1, "world": 2, "axisSize": ["1", "2", "1", "1", "1"],
         "axisCoord": ["0", "1", "0", "0", "0"], "places": places, "placeOfRank": [0, 1]}).encode())


def keeper(messages):
    arena = packet(block(2, bytes([2 << 3]) + varint(1 << 20)), True)
    kept = packet(block(8, block(1, b"memory of device 0")), True)
    child = packet(block(3, bytes([1 << 3, 7]) + block(2, b"nano")), True)
    ready, exited = packet(block(4, b"")), packet(block(5, bytes([1 << 3, 7, 2 << 3, 9])))
    found = arena + kept + child
    write("keeper", "list", found + ready + exited)
    write("keeper", "twice", found + found + ready + ready + exited + exited)
    write("keeper", "without-descriptors", found.replace(b"\x01", b"\x00", 1) + ready)
    for name, *_ in messages.schema.messages["KeeperToAgent"][1:]:
        write("keeper", name, packet(messages.of_kind("KeeperToAgent", name), name == "arena") + ready)


def journal():
    layout = json.loads((FOLDER / "corpus/layout/gpt").read_text())
    text = json.dumps(layout)
    job = {"settings": '{"model":"gpt-nano"}', "layout": text, "epoch": 3, "timeline": 1, "zero": True,
           "micro_batch": 4, "slot": 7, "state": "paused", "reason": 'data: "a" at byte 96', "step": 120,
           "on_failure": "ask", "snapshots": "20", "given_up": [{"transaction": 4, "rounds": 1}]}
    txn = {"id": 9, "job": "nano", "slot": 2, "epoch": 4, "to": text, "zero": True, "micro_batch": 0,
           "was_paused": True, "timeline": 1, "started": 1.5}
    recovery = {"lost": ["n1g0"], "reason": "n1 was lost", "step": 40, "steps_lost": 3, "begins": False,
                "checkpoint": "a"}
    snapshot = {"id": 7, "job": "nano", "epoch": 3, "timeline": 2, "step": 40, "layout": text,
                "digest": "0123456789abcdef", "digest_algorithm": "linear32-1", "of_timeline": 1, "guest": 2}
    checkpoint = {"path": "/a/b", "job": "nano", "step": 40, "timeline": 1, "bytes": 1000, "model": "gpt-nano",
                  "mesh": "dp=2", "digest": "0123456789abcdef", "created": 1.5, "problem": "", "scheduled": True}
    rows = {"job": job, "transaction": txn, "recovery": {**txn, "recovery": recovery}, "snapshot": snapshot,
            "rounds-without-before": {**txn, "round_tensors": [[0], [1]]}, "checkpoint": checkpoint,
            "schedule": {"steps": 20, "seconds": 0, "folder": "/a/b", "keep": 3},
            "lineage": [[0, 0], [1, 40]], "lines": {**job, "state": "a\nb"},
            "negative": {**job, "micro_batch": -1, "epoch": -5}}
    for name, row in rows.items():
        write("journal", name, json.dumps(row).encode())
    write("journal", "round", b"9 2 n1 was lost")
    write("journal", "round-lines", b"9 x\nn1 was lost")
    write("journal", "part", b"7 3 1\n7 \x0a\x04nano")
    write("journal", "part-of-another", b"7 3\n8 x")
    write("journal", "part-unknown-state", b"7 99\n7 x")
    write("journal", "part-large", b"9223372036854775808 1\n1 a")


def main():
    messages = Messages(Schema(), 1)
    wire(messages)
    lane()
    rank(messages)
    keeper(messages)
    journal()


if __name__ == "__main__":
    main()
