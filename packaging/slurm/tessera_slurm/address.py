# SPDX-License-Identifier: Apache-2.0
"""The address of this node for the other nodes."""

from __future__ import annotations

import json
import socket

from tessera_slurm import slurm
from tessera_slurm.problem import Problem
from tessera_slurm.program import output_of


def own_address(node: str, interface: str | None) -> str:
    """An IPv4 address: of a network interface, or that by which Slurm reaches the node."""
    return _of_interface(interface) if interface else _of_slurm(node)


def _of_interface(name: str) -> str:
    shown = json.loads(output_of(["ip", "-json", "-4", "address", "show", "dev", name]) or "[]")
    for entry in shown:
        for address in entry.get("addr_info", []):
            return str(address["local"])
    raise Problem(f"interface {name} has no IPv4 address")


def _of_slurm(node: str) -> str:
    given = slurm.address_of(node)
    try:
        address = socket.getaddrinfo(given, None, socket.AF_INET)[0][4][0]
    except OSError as error:
        raise Problem(f"node {node}: address '{given}' is not known here: {error}") from error
    # On Debian a machine's own name is often that of 127.0.1.1.
    if str(address).startswith("127.") and given != address:
        raise Problem(
            f"node {node}: address '{given}' is {address} here, where nobody else reaches it; "
            "name the network with --interface"
        )
    return str(address)
