# SPDX-License-Identifier: Apache-2.0
"""Tensors files: from a safetensors file, or from the initial state of a program."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from tessera._library import AXES, TesseraError
from tessera.files import protocol, safetensors
from tessera.files.folder import make_folder
from tessera.files.layout import RankLayout
from tessera.files.program import Exited, Program
from tessera.files.rank import environment_of, free_port
from tessera.job import View

_MOMENTS = (".exp_avg", ".exp_avg_sq")
_TRAINED = ("f16", "bf16", "f32")


def tensors_file(header: safetensors.Header) -> str:
    """The text of a tensors file with the tensors of a safetensors file."""
    rows = []
    for name, entry in sorted(header.entries.items()):
        row: dict[str, Any] = {"name": name, "dtype": entry.dtype, "shape": list(entry.shape)}
        role = _role(name, entry, header)
        if role != "param":
            row["role"] = role
        rows.append("    " + json.dumps(row))
    return '{\n  "layers": 0,\n  "tensors": [\n' + ",\n".join(rows) + "\n  ]\n}\n"


def _role(name: str, entry: safetensors.Entry, header: safetensors.Header) -> str:
    for suffix in _MOMENTS:
        if name.endswith(suffix) and name[: -len(suffix)] in header.entries:
            return suffix[1:]
    return "param" if entry.dtype in _TRAINED else "buffer"


def initial_state(command: list[str]) -> safetensors.Header:
    """Runs a program alone, as one rank without state, until it has saved its initial one."""
    folder = make_folder(tempfile.gettempdir(), "list")
    ones, zeros = dict.fromkeys(AXES, 1), dict.fromkeys(AXES, 0)
    saved = os.path.join(folder, protocol.SAVED)
    layout = RankLayout(0, 1, ones, zeros, 0, None, saved, None)
    view = View(0, 0, 0, 1, ones, zeros, 0, (0,), (0,), ("127.0.0.1",))
    with open(os.path.join(folder, protocol.LAYOUT), "w", encoding="utf-8") as file:
        file.write(layout.to_json())
    program = Program(["/bin/sh", "-c", 'exec "$@" >&2', "sh", *command], folder)
    environment = environment_of(view, layout, folder)
    master = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    program.start({**environment, **master})
    try:
        message = program.next()
        is_end = isinstance(message, Exited)
        if isinstance(message, Exited) and message.status != 0:
            raise TesseraError(f"the program ended with status {message.status}")
        if not (is_end or isinstance(message, protocol.Saved)) or not os.path.exists(saved):
            raise TesseraError(f"the program has saved no initial state in '{saved}'")
        header = safetensors.read_header(saved)
        program.end()
        return header
    finally:
        program.kill()


def print_list(words: list[str]) -> None:
    if words[:1] == ["--"] and len(words) > 1:
        header = initial_state(words[1:])
    elif len(words) == 1 and words[0] != "--":
        header = safetensors.read_header(words[0])
    else:
        raise TesseraError("list needs FILE, or `--` and a command")
    sys.stdout.write(tensors_file(header))
