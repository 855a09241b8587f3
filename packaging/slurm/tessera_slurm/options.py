# SPDX-License-Identifier: Apache-2.0
"""The options of `tessera-slurm allocation`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

_EPILOG = """\
Without --join a new cluster begins: the node of the batch script is its registrar, and when this
allocation ends, the cluster does. With --join the nodes of this allocation are added to the cluster
of a folder. The allocation ends when its job is stopped or has made its --steps.
"""


def parse(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the words after `--`."""
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="tessera-slurm allocation",
        usage="%(prog)s --folder DIR|--join DIR [options] [-- WORDS of `tesseractl job start`]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--folder", metavar="DIR", help="begins a cluster; all nodes see DIR")
    place.add_argument("--join", metavar="DIR", help="adds the nodes to the cluster of DIR")
    parser.add_argument(
        "--grow", metavar="JOB", help="with --join: then moves JOB to its GPUs and all idle ones"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="with --folder: begins with the job's newest checkpoint, if there is one, "
        "also where an earlier cluster has ended",
    )
    parser.add_argument("--gpus", type=int, default=4, metavar="N", help="emulated GPUs per node")
    parser.add_argument("--gpu-memory", default="512M", metavar="SIZE", help="memory of each")
    parser.add_argument(
        "--interface", metavar="NAME", help="network of the agents (default: NodeAddr of Slurm)"
    )
    parser.add_argument(
        "--port", type=int, default=7400, metavar="N", help="first of six ports of each agent"
    )
    parser.add_argument(
        "--checkpoints", metavar="DIR", help="where jobs are saved (default: checkpoints in DIR)"
    )
    parser.add_argument(
        "--data", action="append", default=[], metavar="DIR", help="as of `node setup`; repeats"
    )
    parser.add_argument("--exec", action="store_true", help="jobs may be programs of your own")
    options = parser.parse_args(words[:at])
    if options.grow and not options.join:
        parser.error("--grow needs --join")
    if options.resume and options.join:
        parser.error("--resume needs --folder")
    if not options.join and at >= len(words) - 1:
        parser.error("a cluster begins with a job: its words follow after --")
    return options, list(words[at + 1 :])


def of_agent(options: argparse.Namespace, checkpoints: str) -> list[str]:
    """The words of `tessera-slurm agent` on each node."""
    words = [
        f"--port={options.port}",
        f"--gpus={options.gpus}",
        f"--gpu-memory={options.gpu_memory}",
        f"--checkpoints={checkpoints}",
    ]
    words += [f"--interface={options.interface}"] if options.interface else []
    words += [f"--data={folder}" for folder in options.data]
    return words + (["--exec"] if options.exec else [])
