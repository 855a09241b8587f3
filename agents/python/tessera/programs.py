# SPDX-License-Identifier: Apache-2.0
"""The programs that a wheel has beside the package: entry points of `pip install`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _run(name: str) -> NoReturn:
    if sys.prefix != sys.base_prefix:  # scripts of jobs run in this environment
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    path = os.path.join(_FOLDER, name)
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: cannot run {path}: {error.strerror}")


def tesseractl() -> NoReturn:
    _run("tesseractl")


def agent() -> NoReturn:
    _run("tessera-agent")
