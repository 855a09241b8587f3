#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch job that gets more ranks and then fewer: live under Tessera, and as programs do it today, by
torchrun with torch.distributed.checkpoint. Also what job.step costs and what a rank holds.

  BUILD/venv/bin/python3 tests/bench/torch_job_bench.py BUILD [--rounds N] [--width W] [--layers L]

The Python that runs it needs torch. A change is measured from the end of the last step on the old
ranks to the end of the first step on the new ones, by the same clock in both cases.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "torch_job.py")

parser = argparse.ArgumentParser()
parser.add_argument("build", help="a build folder")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
arguments = parser.parse_args()
build = os.path.abspath(arguments.build)
model = ["--width", str(arguments.width), "--layers", str(arguments.layers)]


def rows(log):
    """The steps that a log has: number, end, seconds of job.step, of the optimizer, ranks, own memory, shared."""
    if not os.path.exists(log):
        return []
    with open(log, encoding="ascii") as file:
        return [[float(word) for word in line.split()] for line in file]


def wait_for(log, more):
    least = len(rows(log)) + more
    for _ in range(3000):
        if len(rows(log)) >= least:
            return
        time.sleep(0.05)
    sys.exit(f"no step within 150 s in {log}")


def gap(all_rows):
    """Between the last two steps with different numbers of ranks."""
    for before, after in zip(reversed(all_rows[:-1]), reversed(all_rows[1:])):
        if before[4] != after[4]:
            return after[1] - before[1]
    sys.exit("the number of ranks has not changed")


def tesseractl(home, *words):
    run = subprocess.run([f"{build}/bin/tesseractl", *words], capture_output=True, text=True,
                         env={**os.environ, "TESSERA_HOME": home}, check=False)
    if run.returncode != 0:
        sys.exit(f"tesseractl {' '.join(words)}: {run.stderr or run.stdout}")
    return run.stdout


def torchrun(ranks, log, *words):
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
             str(ranks), SCRIPT, log, *model, *words]
    run = subprocess.run(words, capture_output=True, text=True, check=False,
                         env={**os.environ, "PYTHONPATH": f"{build}/python", "OMP_NUM_THREADS": "1"})
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)}: {run.stderr[-4000:]}")


live, pauses, restart, durations, steps = {}, {}, {}, {}, []
with tempfile.TemporaryDirectory() as folder:
    home, log = folder + "/home", folder + "/live"
    parameters = arguments.layers * arguments.width * (arguments.width + 1)
    print(f"{os.cpu_count()} cores; {parameters * 12 / 2**20:.0f} MiB of parameters and moments")
    tesseractl(home, "up", "--cluster", "b", "--nodes", "1", "--gpus", "4", "--gpu-memory", "4G")
    try:
        tesseractl(home, "job", "start", SCRIPT, "--name", "live", "--python", sys.executable, "--mesh",
                   "dp=1", "--devices", "n0g0", "--", log, *model)
        wait_for(log, 20)
        steps = rows(log)[5:]
        held = statistics.median(row[5] + row[6] for row in steps)
        tesseractl(home, "apply", "live", "--mesh", "dp=2", "--devices", "n0g0,n0g1", "--yes")
        for _ in range(arguments.rounds):
            for ranks in (4, 2):
                wait_for(log, 5)
                devices = ",".join(f"n0g{i}" for i in range(ranks))
                out = tesseractl(home, "apply", "live", "--mesh", f"dp={ranks}", "--devices", devices,
                                 "--yes", "--json")
                pauses.setdefault(ranks, []).append(json.loads(out.splitlines()[-1])["pause_seconds"])
                wait_for(log, 3)
                live.setdefault(ranks, []).append(gap(rows(log)))
        every = rows(log)
        for before, after in zip(every[:-1], every[1:]):
            if before[4] == after[4]:
                durations.setdefault(after[4], []).append(after[1] - before[1])
    finally:
        tesseractl(home, "down", "--cluster", "b", "--yes")

    alone = folder + "/alone"
    torchrun(1, alone, "--until", "20")
    own = statistics.median(row[5] + row[6] for row in rows(alone)[5:])
    for number in range(arguments.rounds):
        for before, after in ((2, 4), (4, 2)):
            peer = f"{folder}/peer-{number}-{after}"
            torchrun(before, peer, "--until", "3", "--checkpoint", peer + ".dcp")
            torchrun(after, peer, "--until", "1", "--checkpoint", peer + ".dcp")
            restart.setdefault(after, []).append(gap(rows(peer)))

for ranks in (4, 2):
    a, b = statistics.median(live[ranks]), statistics.median(restart[ranks])
    usual = statistics.median(durations[ranks])
    print(f"{6 - ranks} -> {ranks} ranks: {a:.3f} s (later steps {usual:.3f} s, pause {statistics.median(pauses[ranks]):.3f} s) live, "
          f"{b:.2f} s by torchrun and checkpoint: {b / a:.0f} x")
extra = statistics.median(row[2] - row[3] for row in steps)
print(f"job.step without the optimizer: {extra * 1000:.2f} ms")
print(f"memory of a rank: {held / 2**20:.0f} MiB, without Tessera {own / 2**20:.0f} MiB: {held / own:.2f} x")
