# SPDX-License-Identifier: Apache-2.0
"""Programs that are run and waited for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tessera_slurm.problem import Problem


@dataclass(frozen=True)
class Outcome:
    code: int
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """The last line of what the program printed about its failure; with --json, its message."""
        lines = (self.errors.strip() or self.output.strip()).splitlines()
        last = lines[-1] if lines else f"exit code {self.code}"
        if not last.startswith("{"):
            return last
        try:
            return str(json.loads(last)["error"]["message"])
        except (ValueError, KeyError):
            return last


def run(
    words: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> Outcome:
    try:
        done = subprocess.run(
            list(words), env=env, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise Problem(f"cannot run {words[0]}: {error.strerror}") from error
    return Outcome(done.returncode, done.stdout, done.stderr)


def output_of(words: Sequence[str]) -> str:
    """What a program prints that has to succeed."""
    done = run(words)
    if done.code != 0:
        raise Problem(f"{' '.join(words)}: {done.reason}")
    return done.output
