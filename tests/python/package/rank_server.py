# SPDX-License-Identifier: Apache-2.0
"""Starts processes that have torch already: a process that imports it takes seconds.

Reads lines {"source": …, "environments": […]}, runs the source in one process for each environment,
and answers each line with one of [status, output, errors] of these processes.
"""

import atexit
import json
import os
import random
import signal
import sys
import tempfile

import numpy
import torch
import torch._dynamo  # optimizers import it
import torch.distributed.fsdp
import torch.distributed.tensor

torch.set_num_threads(1)


def run(source, environment, files):
    """In the new process, which begins with random numbers of its own, as any does. It ends when
    it waits too long for another that has ended."""
    signal.alarm(100)
    for stream, file in zip((sys.stdout, sys.stderr), files):
        os.dup2(file.fileno(), stream.fileno())
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    for seed in (random.seed, numpy.random.seed, torch.seed):
        seed()
    status = 0
    try:
        exec(compile(source, "<rank>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def start(source, environment):
    files = [tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")]
    if (process := os.fork()) == 0:
        run(source, environment, files)
    return process, files


def end(process, files):
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    texts = []
    for file in files:
        with file:
            file.seek(0)
            texts.append(file.read())
    return [status, *texts]


for line in iter(sys.stdin.readline, ""):
    request = json.loads(line)
    ranks = [start(request["source"], each) for each in request["environments"]]
    print(json.dumps([end(*rank) for rank in ranks]), flush=True)
