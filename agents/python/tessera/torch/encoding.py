# SPDX-License-Identifier: Apache-2.0
"""State of Python objects as bytes that are equal for equal states.

A rank reads them from its job or from a checkpoint, so decoding runs no code of theirs.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import torch

from tessera._library import TesseraError

_KIND = "$"  # the key of what JSON has no form for: {"$": kind, "of": …}
_PLAIN = (bool, int, float, str, type(None))


def encode(state: Any) -> bytes:
    """Numbers, texts, bytes, tensors, arrays of NumPy, and containers of these, as JSON.

    A dict with texts as keys loses its order; an OrderedDict keeps it. Raises TesseraError naming
    the first value of another type.
    """
    return json.dumps(_encoded(state, ""), separators=(",", ":"), sort_keys=True).encode()


def decode(data: bytes) -> Any:
    """The state again. Tensors are on the CPU. Raises TesseraError if it is none."""
    try:
        return _decoded(json.loads(data))
    except (LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise TesseraError(f"the state cannot be read: {error}") from error


def _encoded(value: Any, where: str) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [_encoded(each, f"{where}[{place}]") for place, each in enumerate(value)]
    if kind is dict and all(type(key) is str for key in value) and _KIND not in value:
        return {key: _encoded(each, f"{where}.{key}") for key, each in value.items()}
    for name, (types, take, _) in _FORMS.items():
        if isinstance(value, types):
            return {_KIND: name, "of": _encoded(take(value), where)}
    if kind.__module__ == "numpy":  # also its single numbers
        return {_KIND: "array", "of": _encoded_array(value, where)}
    raise TesseraError(
        f"its state has a {kind.__name__} at '{where.lstrip('.') or 'the top'}', and a job holds "
        "numbers, texts, bytes, tensors, and lists, tuples, sets and dicts of them"
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if _KIND not in value:
        return {key: _decoded(each) for key, each in value.items()}
    inside = _decoded(value["of"])
    if value[_KIND] == "array":
        return _decoded_array(inside)
    return _FORMS[value[_KIND]][2](inside)


def _pairs(value: Any) -> list[list[Any]]:
    return [[key, each] for key, each in value.items()]


def _tensor(value: torch.Tensor) -> list[Any]:
    plain = value.detach().cpu().contiguous()
    raw = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return [str(plain.dtype).removeprefix("torch."), list(plain.shape), raw]


def _tensor_of(parts: list[Any]) -> torch.Tensor:
    name, shape, raw = parts
    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"'{name}' is no type of a tensor")
    flat = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
    return flat.reshape(shape)


def _encoded_array(value: Any, where: str) -> Any:
    import numpy

    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise TesseraError(f"its state has an array of objects at '{where.lstrip('.')}'")
    parts = [
        array.dtype.str,
        list(array.shape),
        array.tobytes(),
        not isinstance(value, numpy.ndarray),
    ]
    return _encoded(parts, where)


def _decoded_array(parts: list[Any]) -> Any:
    import numpy

    name, shape, raw, is_number = parts
    array = numpy.frombuffer(raw, dtype=numpy.dtype(name)).reshape(shape).copy()
    return array[()] if is_number else array


# By name, what has a form of its own: its types, what is written of it, how it is made again.
_FORMS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tensor": (torch.Tensor, _tensor, _tensor_of),
    "bytes": (
        (bytes, bytearray),
        lambda value: base64.b64encode(value).decode(),
        lambda text: base64.b64decode(text, validate=True),
    ),
    "counter": (Counter, _pairs, lambda pairs: Counter(dict(map(tuple, pairs)))),
    "ordered": (OrderedDict, _pairs, lambda pairs: OrderedDict(map(tuple, pairs))),
    "dict": (dict, _pairs, lambda pairs: dict(map(tuple, pairs))),
    "tuple": (tuple, list, tuple),
    "set": ((set, frozenset), lambda value: sorted(value, key=repr), set),
    "deque": (
        deque,
        lambda value: [value.maxlen, list(value)],
        lambda parts: deque(parts[1], maxlen=parts[0]),
    ),
    "complex": (complex, lambda value: [value.real, value.imag], lambda parts: complex(*parts)),
    "int": (int, int, int),  # of an enumeration
    "float": (float, float, float),
    "text": (str, str, str),
}
