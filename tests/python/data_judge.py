# SPDX-License-Identifier: Apache-2.0
"""Writes data sets with the libraries that define their formats, and reads what we give of them.

data_judge.py write FOLDER [package]   data sets, and FOLDER/expected.json: a list of {"path",
                                       "format", "tokens", "record"}; tokens and records in hex or
                                       numbers, a row a sample
data_judge.py check FOLDER [package]   FOLDER/ours-I of data set I: our records one after the other;
                                       ours-I-share.*: those of the samples in ours-I.json, as files

With `package`, TFRecords are written and read by the package tfrecord; else by the few lines here.
"""
import io
import json
import pathlib
import random
import struct
import sys
import tarfile

import numpy

SEQUENCE = 16


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


def as_tokens(data):
    cut = data[:SEQUENCE + 1]
    return list(cut) + [0] * (SEQUENCE + 1 - len(cut))


def some_bytes(limit):
    return bytes(random.randrange(256) for _ in range(random.randrange(limit)))


def write_tfrecords(path, use_package):
    texts = [some_bytes(40) for _ in range(20)]
    if use_package:
        from tfrecord.writer import TFRecordWriter
        writer = TFRecordWriter(str(path))
        for text in texts:
            writer.write({"id": (7, "int"), "text": (text, "byte"), "x": (0.5, "float")})
        writer.close()
    else:
        with open(path, "wb") as out:
            for text in texts:
                length = struct.pack("<Q", len(text))
                out.write(length + masked(length) + text + masked(text))
    return {"path": path.name, "format": "tfrecord", "tokens": [as_tokens(t) for t in texts],
            "samples": [t.hex() for t in texts]}


def write_tar(path, form):
    samples = []
    with tarfile.open(path, "w", format=form) as out:
        for i in range(12):
            folder = "" if i % 3 else "d" * (90 if form == tarfile.USTAR_FORMAT else 200) + "/"
            extensions = random.sample(["txt", "json", "jpg", "seg.png"], random.randrange(1, 5))
            members = [(f"{folder}{i:04}.{extension}", some_bytes(1500)) for extension in extensions]
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                out.addfile(info, io.BytesIO(data))
            samples.append(members)
    tokens = []
    for members in samples:
        by_extension = {name.rsplit("/", 1)[-1].split(".", 1)[1]: data for name, data in members}
        data = by_extension.get("txt", by_extension.get("json", members[0][1]))
        tokens.append(as_tokens(data))
    return {"path": path.name, "format": "tar", "tokens": tokens,
            "samples": [[(name, data.hex()) for name, data in members] for members in samples]}


CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}


def write_megatron(path, dtype):
    """As IndexedDatasetBuilder and _IndexWriter of megatron/core/datasets do."""
    top = min(numpy.iinfo(dtype).max, 2**31 - 1)
    documents = [numpy.random.default_rng(i).integers(0, top, random.randrange(1, 60), dtype=dtype)
                 for i in range(9)]
    lengths = numpy.array([len(d) for d in documents], dtype=numpy.int32)
    pointers = numpy.zeros(len(documents), dtype=numpy.int64)
    pointers[1:] = numpy.cumsum(lengths[:-1].astype(numpy.int64)) * numpy.dtype(dtype).itemsize
    with open(f"{path}.bin", "wb") as out:
        for document in documents:
            out.write(document.tobytes(order="C"))
    with open(f"{path}.idx", "wb") as out:
        out.write(b"MMIDIDX\x00\x00" + struct.pack("<Q", 1) + struct.pack("<B", CODES[dtype]))
        out.write(struct.pack("<Q", len(lengths)) + struct.pack("<Q", len(documents) + 1))
        out.write(lengths.tobytes() + pointers.tobytes())
        out.write(numpy.arange(len(documents) + 1, dtype=numpy.int64).tobytes())
    whole = numpy.concatenate(documents)
    count = (len(whole) - 1) // SEQUENCE
    windows = [whole[i * SEQUENCE:i * SEQUENCE + SEQUENCE + 1] for i in range(count)]
    return {"path": path.name, "format": "megatron", "dtype": dtype,
            "tokens": [[int(t) for t in w] for w in windows],
            "samples": [w.tobytes().hex() for w in windows]}


def write(folder, use_package):
    folder.mkdir(parents=True)
    random.seed(5)
    sets = [write_tfrecords(folder / "a.tfrecord", use_package)]
    for name, form in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT),
                       ("pax", tarfile.PAX_FORMAT)):
        sets.append(write_tar(folder / f"{name}.tar", form))
    for dtype in CODES:
        sets.append(write_megatron(folder / f"m-{dtype}", dtype))
    (folder / "expected.json").write_text(json.dumps(sets))


def read_tfrecords(path, use_package):
    if use_package:
        from tfrecord.reader import tfrecord_loader
        return [bytes(row["text"]) for row in tfrecord_loader(str(path), None, {"text": "byte"})]
    data, texts, at = path.read_bytes(), [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        assert data[at + 8:at + 12] == masked(data[at:at + 8])
        texts.append(data[at + 12:at + 12 + size])
        assert data[at + 12 + size:at + 16 + size] == masked(texts[-1])
        at += 16 + size
    return texts


def read_tar_samples(path):
    """As webdataset's group_by_keys: members that follow each other with one name to the first dot."""
    samples, last = [], None
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            folder, _, name = member.name.rpartition("/")
            key, extension = name.split(".", 1)
            if (folder, key) != last:
                samples.append([])
            last = (folder, key)
            samples[-1].append([extension, archive.extractfile(member).read().hex()])
    assert all(len({extension for extension, _ in sample}) == len(sample) for sample in samples)
    return samples


def read_megatron(stem):
    """As IndexedDataset of megatron/core/datasets: sequence by sequence, by the index alone."""
    index = pathlib.Path(f"{stem}.idx").read_bytes()
    magic, version, code, count, ends = struct.unpack_from("<9sQBQQ", index)
    assert (magic, version, ends) == (b"MMIDIDX\x00\x00", 1, count + 1)
    dtype = {code: name for name, code in CODES.items()}[code]
    lengths = numpy.frombuffer(index, numpy.int32, count, 34)
    pointers = numpy.frombuffer(index, numpy.int64, count, 34 + 4 * count)
    documents = numpy.frombuffer(index, numpy.int64, ends, 34 + 12 * count)
    assert len(index) == 34 + 12 * count + 8 * ends and list(documents) == list(range(ends))
    tokens = pathlib.Path(f"{stem}.bin").read_bytes()
    return dtype, [numpy.frombuffer(tokens, dtype, length, pointer)
                   for length, pointer in zip(lengths, pointers)]


def check_share(stem, wanted, use_package):
    order = json.loads(pathlib.Path(f"{stem}.json").read_text())
    samples = [wanted["samples"][i] for i in order]
    if wanted["format"] == "tfrecord":
        path = pathlib.Path(f"{stem}-share.tfrecord")
        got = [text.hex() for text in read_tfrecords(path, use_package)]
    elif wanted["format"] == "tar":
        got = read_tar_samples(f"{stem}-share.tar")
        samples = [[[name.rsplit("/", 1)[-1].split(".", 1)[1], data] for name, data in sample]
                   for sample in samples]
    else:
        dtype, windows = read_megatron(f"{stem}-share")
        assert dtype == wanted["dtype"]
        got = [w.tobytes().hex() for w in windows]
    assert got == samples, f"{wanted['path']}: the files of {len(got)} samples differ"


def check(folder, use_package):
    for i, wanted in enumerate(json.loads((folder / "expected.json").read_text())):
        path = folder / f"ours-{i}"
        check_share(path, wanted, use_package)
        if wanted["format"] == "tfrecord":
            got = [text.hex() for text in read_tfrecords(path, use_package)]
        elif wanted["format"] == "tar":
            with tarfile.open(path) as archive:
                got = [[m.name, archive.extractfile(m).read().hex()] for m in archive.getmembers()]
            wanted["samples"] = [member for sample in wanted["samples"] for member in sample]
        else:
            windows = numpy.fromfile(path, dtype=wanted["dtype"]).reshape(-1, SEQUENCE + 1)
            got = [w.tobytes().hex() for w in windows]
        assert got == wanted["samples"], f"{wanted['path']}: {len(got)} samples differ"
    print("all read")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]), "package" in sys.argv[3:])
