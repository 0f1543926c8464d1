"""Startup times that a user waits for: imports, help, the first run, a cached run.

python benchmarks/startup.py [--repeats 5] [--no-first]

Wall and CPU seconds of fresh processes and their children, as medians. The first run is made only
once, with an empty cache of kernels (NUMBA_CACHE_DIR): it compiles all of them. Source files are
compiled to bytecode first, as by an install with pip.
"""

from __future__ import annotations

import compileall
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import slanted
from common import medians, options, record, write_pair
from slanted.synthetic import make_scene

PYTHON = [sys.executable, "-P"]
COMMAND = [*PYTHON, "-m", "slanted"]


def main() -> None:
    """Measure each in turn."""
    smoke = {"repeats": 1, "no_first": True}
    arguments = options(__doc__, smoke, repeats=5, no_first=False)
    results: dict[str, Any] = {}
    compileall.compile_dir(Path(slanted.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pair(folder, make_scene(320, 240, seed=1))
        run = [*COMMAND, "run", "left.png", "right.png", "-o"]
        environment = dict(os.environ)
        if not arguments.no_first:
            environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
            results["first run, 320×240"] = seconds_of([*run, "first"], folder, environment)
        else:
            seconds_of([*run, "first"], folder, environment)
        commands = {
            "python -c pass": [*PYTHON, "-c", "pass"],
            "import slanted": [*PYTHON, "-c", "import slanted"],
            "import slanted.pipeline": [*PYTHON, "-c", "import slanted.pipeline"],
            "import numba, cv2": [*PYTHON, "-c", "import numba, cv2"],
            "slanted --help": [*COMMAND, "--help"],
            "slanted run --help": [*COMMAND, "run", "--help"],
        }
        for label, command in commands.items():
            runs = [seconds_of(command, folder, environment) for _ in range(arguments.repeats)]
            results[label] = medians(runs)
        runs = [
            seconds_of([*run, f"cached{k}"], folder, environment) for k in range(arguments.repeats)
        ]
        results["cached run, 320×240"] = medians(runs)
    record("startup", arguments, results)


def seconds_of(command: list[str], folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return the wall and CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu}


if __name__ == "__main__":
    main()
