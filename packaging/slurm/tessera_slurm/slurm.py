# SPDX-License-Identifier: Apache-2.0
"""What is asked of Slurm, with its own commands."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Sequence

from tessera_slurm.problem import Problem
from tessera_slurm.program import output_of, run


def variable(name: str) -> str:
    """A variable that Slurm sets in an allocation."""
    value = os.environ.get(name)
    if not value:
        raise Problem(f"{name} is not set: this runs in an allocation of Slurm")
    return value


def names_of(nodes: str) -> list[str]:
    """`a[1-3]` as single names."""
    return output_of(["scontrol", "show", "hostnames", nodes]).split()


def address_of(node: str) -> str:
    """The address by which Slurm reaches a node: a name or a number."""
    shown = output_of(["scontrol", "show", "node", "--oneliner", node])
    found = re.search(r"\bNodeAddr=(\S+)", shown)
    if not found:
        raise Problem(f"scontrol show node {node}: no NodeAddr in its output")
    return found.group(1)


def has_ended(job: str) -> bool:
    """Whether an allocation neither waits nor runs. False if Slurm does not answer."""
    done = run(["squeue", "--noheader", "--format=%i", f"--jobs={job}"])
    return not done.output.split() and (done.code == 0 or "Invalid job id" in done.reason)


def steps_of(job: str) -> set[str]:
    """The steps of an allocation that run: `12.0`."""
    shown = output_of(["squeue", "--steps", "--noheader", "--format=%i", f"--jobs={job}"])
    return set(shown.split())


def nodes_of(job: str) -> list[str]:
    """The nodes of a running allocation, the one with the batch script first."""
    form = "--format=%N %B"
    done = run(["squeue", "--noheader", "--states=running", form, f"--jobs={job}"])
    words = done.output.split()
    if len(words) != 2:
        why = f": {done.reason}" if done.code != 0 else ""
        raise Problem(f"allocation {job} is not running{why}")
    names = names_of(words[0])
    return sorted(names, key=lambda name: name != words[1])


@functools.cache
def without_binding() -> tuple[str, ...]:
    """What gives a step's only task all cores of its node, where Slurm would bind it to some."""
    plugin = re.search(r"^TaskPlugin\s*=\s*(\S*)", output_of(["scontrol", "show", "config"]), re.M)
    return () if plugin is None or plugin.group(1) == "task/none" else ("--cpu-bind=none",)


def terminate(step: str) -> None:
    """Sends SIGTERM to a step, and does not wait for its end.

    The exit code is not used: scancel 22.05 reports an invalid job for steps that get the signal.
    """
    run(["scancel", "--signal=TERM", step])


def keep_nodes(job: str, nodes: Sequence[str]) -> None:
    """Gives the other nodes of an allocation back."""
    with tempfile.TemporaryDirectory() as folder:  # scontrol leaves two scripts where it runs
        change = [f"JobId={job}", f"NodeList={','.join(nodes)}"]
        done = run(["scontrol", "update", *change], cwd=folder)
    if done.code != 0:
        raise Problem(f"Slurm does not shrink allocation {job}: {done.reason}")
