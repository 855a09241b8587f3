#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets of data formats: corpus/tfrecord, megatron_index, tar.

Only Python's own library is needed. Files that a fuzzer found stay as they are.
"""

import io
import struct
import tarfile

from make_corpus import write


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def field(number, data):
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def example(name, value):
    return field(1, field(1, field(1, name) + field(2, field(1, field(1, value)))))


def index(lengths, pointers, documents, code=8, modes=b""):
    return (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(lengths), len(documents))
            + struct.pack(f"<{len(lengths)}i", *lengths)
            + struct.pack(f"<{len(pointers)}q", *pointers)
            + struct.pack(f"<{len(documents)}q", *documents) + modes)


def archive(form, members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as out:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    data = stream.getvalue()
    return data.rstrip(b"\0").ljust((len(data.rstrip(b"\0")) + 511) // 512 * 512 + 1024, b"\0")


def main():
    write("tfrecord", {
        "plain": frame(b"hello") + frame(b"") + frame(b"x" * 100),
        "example": frame(example(b"text", b"some text")) + frame(example(b"image", b"\xff\xd8")),
        "bare-example": example(b"text", b"some text"),
        "bad-data": frame(b"hello")[:-1] + b"!", "bad-length": b"\x05" + frame(b"hello")[1:-1] + b"!!",
        "huge": struct.pack("<Q", 2**63) + masked(struct.pack("<Q", 2**63)) + b"x" * 20,
    })
    write("megatron_index", {
        "plain": index([3, 7], [0, 6], [0, 1, 2]), "modes": index([3, 7], [0, 6], [0, 2], 8, b"\0\1"),
        "apart": index([3, 7, 2], [100, 6, 0], [0, 3], 5), "outside": index([3], [254], [0, 1]),
        "negative": index([-1], [0], [0, 1]), "counts": index([], [], [0])[:18] + b"\xff" * 16,
        "bytes": index([256], [0], [0, 1], 1),
    })
    members = [("a/1.jpg", b"\xff\xd8"), ("a/1.txt", b"one"), ("a/2.json", b"{}"), ("README", b"x")]
    long = [("f" * 90 + "/" + "g" * 90 + ".txt", b"long"), ("\u00e4.txt", b"pax")]
    write("tar", {
        "ustar": archive(tarfile.USTAR_FORMAT, members), "gnu": archive(tarfile.GNU_FORMAT, members + long),
        "pax": archive(tarfile.PAX_FORMAT, members + long), "pax-data": b"20 path=long/2.json\n11 size=3\n\n",
        "zeros": bytes(1024),
    })


if __name__ == "__main__":
    main()
