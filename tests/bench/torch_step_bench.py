#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a step costs as a job and as an ordinary loop of the same program, and what it takes to bind the
state of a program.

Usage: torch_step_bench.py BUILD [--width W --layers L --batch B --steps N --rounds R]

The Python that runs it needs torch. One rank, one thread. One process makes both kinds of step in turn, so
that what else the machine does concerns both: the ratio of each pair counts, and their median is printed.
CPU time is that of all threads of the process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("build")
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--gpu-memory", default="4G")
arguments = parser.parse_args()
build = os.path.abspath(arguments.build)
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_step.py")
words = [f"--{key}={getattr(arguments, key)}" for key in ("width", "layers", "batch", "steps")]


def call(home, *command):
    environment = {**os.environ, "TESSERA_HOME": home, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr or run.stdout}")


def lines(log):
    if not os.path.exists(log):
        return []
    with open(log, encoding="ascii") as file:
        return [[float(word) for word in line.split()] for line in file]


pairs = []
with tempfile.TemporaryDirectory() as folder:
    home, tesseractl = folder + "/home", f"{build}/bin/tesseractl"
    call(home, tesseractl, "up", "--cluster", "b", "--nodes", "1", "--gpus", "1", "--gpu-memory",
         arguments.gpu_memory)
    try:
        for number in range(arguments.rounds):
            log = f"{folder}/job-{number}"
            call(home, tesseractl, "job", "start", SCRIPT, "--name", "job", "--python", sys.executable,
                 "--mesh", "dp=1", "--", log, *words)
            for _ in range(6000):
                if len(lines(log)) > arguments.steps:
                    break
                time.sleep(0.05)
            call(home, tesseractl, "job", "stop", "job", "--yes")
            bound, *rows = lines(log)
            if len(rows) < arguments.steps:
                sys.exit(f"the job has made {len(rows)} of {arguments.steps} steps in 300 s")
            pairs.append(rows[5:])
            if number == 0:
                print(f"{bound[2] / 2**20:.0f} MiB of state: binding {bound[0] * 1000:.0f} ms, one copy "
                      f"{bound[1] * 1000:.0f} ms: {bound[0] / bound[1]:.2f} x")
    finally:
        call(home, tesseractl, "down", "--cluster", "b", "--yes")
for title, at in (("step", 0), ("CPU time of a step", 1)):
    rounds = [statistics.median(row[at] / row[at + 2] for row in rows) for rows in pairs]
    job, plain = (statistics.median(row[i] for rows in pairs for row in rows) for i in (at, at + 2))
    every = statistics.median(row[at] / row[at + 2] for rows in pairs for row in rows)
    print(f"{title}: as a job {job * 1000:.1f} ms, as an ordinary loop {plain * 1000:.1f} ms: "
          f"{every:.3f} x (rounds from {min(rounds):.3f} to {max(rounds):.3f})")
