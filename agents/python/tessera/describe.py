# SPDX-License-Identifier: Apache-2.0
"""Asks a program what it has.

`python -m tessera.describe FOLDER SCRIPT ARGS…` runs a script up to its `job.bind(build)`, with a
mesh of which only one rank exists and models on the meta device, writes tensors.json and rules.json
into FOLDER, and ends. `tesseractl job start SCRIPT` does this before there are ranks.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback

from tessera._library import TesseraError

MESH = "TESSERA_DESCRIBE_MESH"  # sizes by axis: what it has there is compared with a job instead
CHECKED = "checked"  # a file that says that this was done
FOLDER = "TESSERA_DESCRIBE"  # the variable that tells attach() where the files go


def main() -> int:
    folder, script = sys.argv[1], sys.argv[2]
    os.environ[FOLDER] = folder
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    except TesseraError as error:
        print(f"{script}: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        print(
            f"{script}: no Python module '{error.name}' for {sys.executable}: install it there, or "
            "choose another interpreter with --python",
            file=sys.stderr,
        )
        return 1
    except Exception as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != script:
            frames = frames.tb_next  # of this module and runpy
        traceback.print_exception(type(error), error, frames or error.__traceback__)
        return 1
    if any(os.path.exists(os.path.join(folder, name)) for name in ("rules.json", CHECKED)):
        return 0
    print(f"{script}: it ended without job.bind(build)", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
