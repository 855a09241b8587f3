# SPDX-License-Identifier: Apache-2.0
"""libtessera_job by ctypes: its structures and functions as tessera_job.h declares them."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any

JOB_VERSION = 2
MAX_RANK = 8
AXES = ("pp", "dp", "ep", "cp", "tp")
PAUSE_DONE = 1
PAUSE_DATA = 2**64 - 1
PAUSE_BEFORE_UPDATE = 1 << 62  # in the pause of a decision
CUDA = 1  # the memory of a piece
EXIT_REFUSED = 78  # TESSERA_EXIT_REFUSED


class TesseraError(Exception):
    """What the rank library or this package refuses, in one sentence."""


class TransientError(TesseraError):
    """An error that another start may not have, such as one that follows the end of other ranks."""


def exit_status(error: BaseException) -> int:
    """The status with which this error ends a rank. A refusal would return after a restart."""
    is_refusal = isinstance(error, TesseraError) and not isinstance(error, TransientError)
    return EXIT_REFUSED if is_refusal else 1


class CPiece(Structure):
    _fields_ = (
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("role", c_char_p),
        ("rank", c_int),
        ("shape", c_int64 * MAX_RANK),
        ("begin", c_int64 * MAX_RANK),
        ("end", c_int64 * MAX_RANK),
        ("num_elements", c_int64),
        ("data", c_void_p),
        ("gradient", c_void_p),
        ("memory", c_int),
        ("device", c_int),
    )


class CView(Structure):
    _fields_ = (
        ("epoch", c_int64),
        ("attempt", c_int64),
        ("rank", c_int),
        ("world", c_int),
        ("axis_size", c_int64 * len(AXES)),
        ("axis_coord", c_int64 * len(AXES)),
        ("micro_batch", c_int64),
        ("node_of_rank", POINTER(c_int32)),
        ("host_of_rank", POINTER(c_int32)),
        ("address_of_rank", POINTER(c_char_p)),
    )


class CCursor(Structure):
    _fields_ = (("seed", c_int64), ("pass_", c_int64), ("next", c_int64))


class CRecord(Structure):
    _fields_ = (
        ("loss", c_double),
        ("norm2", c_double),
        ("found_inf", c_int64),
        ("tokens", c_int64),
        ("request", c_uint64),
    )


class CDecision(Structure):
    _fields_ = (
        ("step", c_int64),
        ("loss", c_double),
        ("norm2", c_double),
        ("found_inf", c_int64),
        ("tokens", c_int64),
        ("clip", c_double),
        ("skip", c_int),
        ("pause", c_uint64),
    )


ConnectFunction = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(CView))
CheckFunction = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_int64))
GatherFunction = CFUNCTYPE(c_int, c_void_p, POINTER(CRecord), POINTER(CRecord))

# result and arguments; a job is a pointer that nobody looks into
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tessera_job_version": (c_int, []),
    "tessera_attach": (c_int, [POINTER(c_void_p)]),
    "tessera_detach": (None, [c_void_p]),
    "tessera_last_error": (c_char_p, []),
    "tessera_settings": (c_char_p, [c_void_p]),
    "tessera_current_view": (POINTER(CView), [c_void_p]),
    "tessera_must_initialise": (c_int, [c_void_p]),
    "tessera_random_normal": (None, [c_int64, c_char_p, c_int64, POINTER(c_float), c_size_t]),
    "tessera_random_uniform": (
        None,
        [c_int64, c_char_p, c_int64, c_int64, POINTER(c_float), c_size_t],
    ),
    "tessera_dropout_mask": (
        c_int,
        [c_int64, c_uint64, c_int64, c_int64, c_double, POINTER(c_float), c_size_t],
    ),
    "tessera_advance": (c_int, [POINTER(CCursor), c_int64, c_int64]),
    "tessera_samples": (
        c_int,
        [
            c_void_p,
            POINTER(CCursor),
            c_int64,
            c_int64,
            POINTER(c_int64),
            c_size_t,
            POINTER(c_size_t),
            POINTER(c_int64),
        ],
    ),
    "tessera_pieces": (c_int, [c_void_p, POINTER(POINTER(CPiece)), POINTER(c_size_t)]),
    "tessera_memory_end": (c_void_p, [c_void_p]),
    "tessera_loading": (None, [c_void_p, c_int64, c_int64]),
    "tessera_connect": (c_int, [c_void_p, ConnectFunction, c_void_p]),
    "tessera_connect_reason": (None, [c_void_p, c_char_p]),
    "tessera_on_check": (c_int, [c_void_p, CheckFunction, c_void_p]),
    "tessera_check_reason": (None, [c_void_p, c_char_p]),
    "tessera_check_abandoned": (c_int, [c_void_p]),
    "tessera_abandoned": (c_int, [c_void_p, c_int64, c_int64]),
    "tessera_store_set": (c_int, [c_void_p, c_int64, c_int64, c_char_p, c_char_p, c_size_t]),
    "tessera_store_get": (
        c_int,
        [c_void_p, c_int64, c_int64, c_char_p, POINTER(c_void_p), POINTER(c_size_t), c_int],
    ),
    "tessera_free": (None, [c_void_p]),
    "tessera_all_reduce_sum": (c_int, [c_void_p, c_char_p, POINTER(c_float), c_size_t]),
    "tessera_pause_reason": (None, [c_void_p, c_char_p]),
    "tessera_decide": (
        c_int,
        [
            c_void_p,
            c_int64,
            POINTER(CRecord),
            c_double,
            GatherFunction,
            c_void_p,
            POINTER(CDecision),
        ],
    ),
    "tessera_busy": (None, [c_void_p, c_double]),
    "tessera_log": (c_int, [c_void_p, c_char_p, c_double]),
    "tessera_checkpoint": (c_int, [c_void_p]),
    "tessera_unfinished": (c_int, [c_void_p, POINTER(CDecision)]),
    "tessera_begin_update": (c_int, [c_void_p, c_int64]),
    "tessera_end_update": (c_int, [c_void_p, c_int64]),
    "tessera_wait": (c_int, [c_void_p, c_int64, c_uint64, POINTER(c_int)]),
    "tessera_adopt": (c_int, [c_void_p, POINTER(POINTER(CView))]),
    "tessera_attached": (c_int, [c_void_p]),
}

_loaded: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """libtessera_job, loaded once: the file that TESSERA_JOB_LIBRARY names, else that of the wheel,
    else the installed one.

    Raises TransientError if it is missing, and TesseraError if it has another version.
    """
    global _loaded
    if _loaded is not None:
        return _loaded
    name = f"libtessera_job.so.{JOB_VERSION}"
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", name)
    name = os.environ.get("TESSERA_JOB_LIBRARY") or (bundled if os.path.exists(bundled) else name)
    try:
        loaded = ctypes.CDLL(name)
    except OSError as error:
        raise TransientError(
            f"cannot load the rank library '{name}': {error}; install the package tessera, "
            "or name the file in TESSERA_JOB_LIBRARY"
        ) from None
    for function, (result, arguments) in _FUNCTIONS.items():
        found = getattr(loaded, function, None)
        if found is None:
            raise TesseraError(f"'{name}' has no function {function}: it is no rank library")
        found.restype = result
        found.argtypes = arguments
    version = loaded.tessera_job_version()
    if version != JOB_VERSION:
        raise TesseraError(
            f"'{name}' has version {version} of the rank interface; this package needs "
            f"{JOB_VERSION}"
        )
    _loaded = loaded
    return loaded


def check(result: int) -> int:
    """Returns what a function of the library has returned; raises TransientError if it failed."""
    if result < 0:
        text = library().tessera_last_error()
        raise TransientError(text.decode(errors="replace") if text else "unknown error")
    return result
