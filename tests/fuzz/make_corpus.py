#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes binary seeds of the fuzz targets: corpus/zip, corpus/pickle, corpus/dcp and, of
corpus/safetensors, the element types.

Only Python's own library is needed. Files that a fuzzer found (crash-…, slow-…) stay as they are.
"""

import io
import json
import pathlib
import struct
import zipfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
DCP = "torch.distributed.checkpoint.metadata"


def text(value):
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def number(value):
    return b"K" + bytes([value]) if 0 <= value < 256 else b"\x8a\x08" + struct.pack("<q", value)


def tuple_of(*items):
    return b"(" + b"".join(items) + b"t"


def list_of(*items):
    return b"](" + b"".join(items) + b"e"


def dict_of(**items):
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def call(function, *arguments):
    return function + tuple_of(*arguments) + b"R"


def made(cls, state):
    return cls + b")\x81" + state + b"b"


def size(*dims):
    return call(name("torch", "Size"), tuple_of(*map(number, dims)))


def whole(body, protocol=2):
    return b"\x80" + bytes([protocol]) + body + b"."


def tensor(storage="FloatStorage", count=6, shape=(2, 3), stride=(3, 1)):
    key = tuple_of(text("storage"), name("torch", storage), text("0"), text("cpu"), number(count))
    return call(name("torch._utils", "_rebuild_tensor_v2"), key + b"Q", number(0),
                tuple_of(*map(number, shape)), tuple_of(*map(number, stride)), b"\x89",
                call(name("collections", "OrderedDict")))


def dcp_metadata(length=4000, **tensors):
    """Tensors as (dtype, shape), each one chunk whose archive is the first `length` bytes."""
    entries, places = {}, b""
    for tensor_name, (dtype, shape) in tensors.items():
        begin = size(*(0 for _ in shape))
        properties = made(name(DCP, "TensorProperties"), tuple_of(
            name("torch", dtype), call(name("torch.serialization", "_get_layout"),
                                       text("torch.strided")),
            b"\x89", call(name(DCP, "_MEM_FORMAT_ENCODING"), number(0)), b"\x89"))
        chunk = made(name(DCP, "ChunkStorageMetadata"), dict_of(offsets=begin, sizes=size(*shape)))
        entries[tensor_name] = made(
            name(DCP, "TensorStorageMetadata"),
            dict_of(properties=properties, size=size(*shape), chunks=list_of(chunk)))
        places += made(name(DCP, "MetadataIndex"),
                       dict_of(fqn=text(tensor_name), offset=begin, index=number(0)))
        places += made(name("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
                       dict_of(relative_path=text("__0_0.distcp"), offset=number(0),
                               length=number(length), transform_descriptors=b"N"))
    return whole(made(name(DCP, "Metadata"), dict_of(
        state_dict_metadata=dict_of(**entries, o=name(DCP, "BytesStorageMetadata") + b")\x81"),
        storage_data=b"}(" + places + b"u", version=text("1.0.0"))), 4)


def dcp_folder(blob, **tensors):
    """What dcp_fuzz reads: the length of .metadata, .metadata, and __0_0.distcp."""
    metadata = dcp_metadata(len(blob), **tensors)
    return struct.pack("<I", len(metadata)) + metadata + blob


def archive(body, payload=b"\0" * 24, compression=zipfile.ZIP_STORED, wide=False):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as out:
        for entry, data in (("data.pkl", body), ("byteorder", b"little"), ("data/0", payload),
                            ("version", b"3\n")):
            info = zipfile.ZipInfo("archive/" + entry)
            info.compress_type = compression
            with out.open(info, "w", force_zip64=wide) as file:
                file.write(data)
    return stream.getvalue()


def safetensors(data, **tensors):
    """Tensors as (dtype, shape, bytes), one behind the other."""
    entries, at = {}, 0
    for entry, (dtype, shape, length) in tensors.items():
        entries[entry] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + length]}
        at += length
    head = json.dumps(entries, separators=(",", ":")).encode()
    return struct.pack("<Q", len(head)) + head + b"\1" * data


def write(target, seeds):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    for seed, data in seeds.items():
        (folder / seed).write_bytes(data)


def main():
    namespace = made(name("argparse", "Namespace"), dict_of(
        lr=b"G" + struct.pack(">d", 1e-4), layers=number(70000), name=b"\x8c\x01a\x94", none=b"N",
        flags=b"\x8f(\x88\x89\x90", raw=b"C\x02ab", path=call(name("pathlib", "PosixPath"),
                                                             text("/"), text("a"))))
    laughs = b"]q\0" + b"".join(b"](h%ch%ce" % (i, i) + b"q%c" % (i + 1) for i in range(40))
    write("pickle", {
        "namespace": whole(namespace, 4), "metadata": dcp_metadata(w=("float32", (2, 3))),
        "tensor": whole(tensor()),
        "itself": whole(b"]q\0h\0a"), "laughs": whole(laughs),
        "system": whole(call(name("os", "system"), text("true"))),
        "on-stack": whole(b"\x8c\x05torch\x8c\x07float32\x93", 4),
        "frame": whole(b"\x95\x02\0\0\0\0\0\0\0K\x05", 4),
        "longs": whole(tuple_of(b"\x8a\0", b"\x8a\x01\xff", b"\x8b\x09\0\0\0" + b"\1" * 9, b"I12\n")),
        "stack": whole(b"N0(N1N2\x860(K\x01K\x02d0(N\x91"),
        "memo": whole(b"Kar\xff\0\0\0j\xff\0\0\0\x86"),
    })
    write("zip", {
        "tensor": archive(whole(tensor())), "wide": archive(whole(tensor()), wide=True),
        "compressed": archive(whole(tensor()), b"\0" * 400, zipfile.ZIP_DEFLATED),
        "transposed": archive(whole(tensor(shape=(3, 2), stride=(1, 3)))),
        "untyped": archive(whole(tensor("ComplexDoubleStorage", 3))),
        "complex": archive(whole(tensor("ComplexFloatStorage", 3, (3,), (1,)))),
        "empty": b"PK\5\6" + b"\0" * 18,
    })
    f32 = "float32"
    write("dcp", {
        "tensor": dcp_folder(archive(whole(tensor())), w=(f32, (2, 3))),
        "transposed": dcp_folder(archive(whole(tensor(stride=(1, 2)))), w=(f32, (2, 3))),
        "archive-twice": dcp_folder(archive(whole(tensor())), w=(f32, (2, 3)), x=(f32, (2, 1, 3))),
        "archive-twice-wider": dcp_folder(archive(whole(tensor())), w=(f32, (2, 3)),
                                          x=("int64", (2, 3))),
        "overlapping-rows": dcp_folder(
            archive(whole(tensor("ByteStorage", 40002, (2, 20000), (3, 2))), b"\1" * 40002),
            w=("uint8", (2, 20000))),
    })
    write("safetensors", {
        "types-one-byte": safetensors(6, a=("F8_E8M0", [2], 2), b=("F8_E4M3FNUZ", [2], 2),
                                      c=("F8_E5M2FNUZ", [2, 1], 2)),
        "types-packed": safetensors(12, a=("F4", [2, 3], 3), b=("F6_E2M3", [4], 3),
                                    c=("F6_E3M2", [2, 4], 6)),
        "complex": safetensors(16, a=("C64", [2], 16)),
        "packed-misaligned": safetensors(2, a=("F4", [3], 2)),
        "packed-empty": safetensors(0, a=("F6_E2M3", [0, 1152921504606846976], 0)),
        "packed-overflow": safetensors(0, a=("F4", [4611686018427387904], 0)),
    })


if __name__ == "__main__":
    main()
