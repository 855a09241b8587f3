# SPDX-License-Identifier: Apache-2.0
"""The folder of a cluster, which all its nodes see under the same path.

  cluster            name of the cluster
  registrar          HOST:PORT of node 0, once it is known
  allowed/           public keys, read by every agent
  home/              TESSERA_HOME of whoever operates the cluster: profile and key
  nodes/N/place      allocation, step and Slurm's name of node N
  nodes/N/output     what its agent has printed, nodes/N/agent.log what it has logged
  checkpoints/       what is saved when there is no node left to move to
  history.jsonl      transactions, events and samples, written at the end
  ended              there once the allocation of the registrar ends
  earlier-N/         nodes and history.jsonl of the clusters before this one (--resume)

Secret keys of nodes are not in it: each stays in a local folder of its node.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tessera_slurm.problem import Problem

_MAX_NODES = 4096  # as `tesseractl node setup` allows


@dataclass(frozen=True)
class Place:
    """Where a node of the cluster runs."""

    number: int
    allocation: str
    step: str  # "12.0"
    host: str  # Slurm's name

    @property
    def name(self) -> str:
        return f"n{self.number}"


class Folder:
    def __init__(self, path: str) -> None:
        self.path = Path(os.path.abspath(os.path.expanduser(path)))
        self.allowed = self.path / "allowed"
        self.home = self.path / "home"
        self.ended = self.path / "ended"
        self.history = self.path / "history.jsonl"

    def begin(self, cluster: str) -> None:
        """Makes the folder for a new cluster."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)  # the operator's key is in it, and the keys that are admitted
        try:
            with open(self.path / "cluster", "x") as file:
                file.write(cluster + "\n")
        except FileExistsError:
            raise Problem(
                f"{self.path} has cluster '{self.cluster()}' already: "
                "choose another --folder, or --join it"
            ) from None
        for folder in (self.allowed, self.home, self.path / "nodes"):
            folder.mkdir(mode=0o700)

    def set_aside(self) -> None:
        """Makes room for a new cluster where one has ended. Logs, history and checkpoints stay."""
        number = 1
        while (self.path / f"earlier-{number}").exists():
            number += 1
        earlier = self.path / f"earlier-{number}"
        earlier.mkdir(mode=0o700)
        for kept in (self.path / "nodes", self.history):
            if kept.exists():
                kept.rename(earlier / kept.name)
        for gone in (self.allowed, self.home):
            shutil.rmtree(gone, ignore_errors=True)
        for file in (self.path / "registrar", self.ended, self.path / "cluster"):
            file.unlink(missing_ok=True)

    def cluster(self) -> str:
        try:
            return (self.path / "cluster").read_text().strip()
        except OSError as error:
            raise Problem(f"no cluster in {self.path}: {error.strerror}") from error

    def registrar(self) -> tuple[str, str] | None:
        """The address and the public key of node 0; None: not both are known."""
        try:
            endpoint = (self.path / "registrar").read_text().strip()
            lines = (self.allowed / "n0.pub").read_text().splitlines()
        except FileNotFoundError:
            return None
        keys = [line.split()[1] for line in lines if line.startswith("public ")]
        return (endpoint, keys[0]) if endpoint and keys else None

    def publish_registrar(self, endpoint: str) -> None:
        _write(self.path / "registrar", endpoint + "\n")

    def node(self, number: int) -> Path:
        return self.path / "nodes" / str(number)

    def claim(self) -> int:
        """Takes the next free number. Numbers are not used again."""
        for number in range(_MAX_NODES):
            try:
                self.node(number).mkdir(mode=0o700)
            except FileExistsError:
                continue
            return number
        raise Problem(f"{self.path} has had {_MAX_NODES} nodes, which is the limit")

    def note_place(self, place: Place) -> None:
        text = f"{place.allocation} {place.step} {place.host}\n"
        _write(self.node(place.number) / "place", text)

    def places(self) -> list[Place]:
        """All nodes that have begun, by number."""
        out = []
        for file in (self.path / "nodes").glob("*/place"):
            allocation, step, host = file.read_text().split()
            out.append(Place(int(file.parent.name), allocation, step, host))
        return sorted(out, key=lambda place: place.number)


def _write(file: Path, text: str) -> None:
    """Nobody reads half of it."""
    new = file.with_name(file.name + ".new")
    new.write_text(text)
    new.rename(file)
