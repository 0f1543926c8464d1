"""Write the kernels that runs call, with types: ``src/slanted/runtime/kernel_signatures.json``.

python benchmarks/kernel_signatures.py

Run it when a kernel that Python calls changes its name or arguments; a test says when. Kernels that
only other kernels call are compiled with those, so they are left out: a first process fills the
cache, and a second, which compiles nothing, loads just what Python calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import ROOT, SMOKE, parse

FILE = ROOT / "src" / "slanted" / "runtime" / "kernel_signatures.json"


def called() -> dict[str, list[list[str]]]:
    """Return the specialisations that small runs called."""
    from numba.core.dispatcher import Dispatcher

    import slanted.settings
    from slanted.cli.warmup import small_runs
    from slanted.runtime.kernel_list import type_text

    if SMOKE:
        slanted.settings.preset_names = lambda: ["fast"]
    small_runs()
    found: dict[str, Any] = {}
    for module in sorted(name for name in sys.modules if name.startswith("slanted.")):
        for name, value in sorted(vars(sys.modules[module]).items()):
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module:
                if sum(value.stats.cache_misses.values()):
                    sys.exit(f"{module}.{name} was compiled, not loaded; run this once more")
                if value.signatures:
                    types = [[type_text(each) for each in sig] for sig in value.signatures]
                    found[f"{module}.{name}"] = sorted(types, key=json.dumps)
    return found


def main() -> None:
    """Fill the cache, then write what a second process loads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--second", type=Path, help=argparse.SUPPRESS)
    arguments = parse(parser, {})
    if arguments.second:
        arguments.second.write_text(json.dumps(called(), indent=1) + "\n")
        return
    fill = ["-c", "from slanted.cli.warmup import small_runs; small_runs()"]
    second = [__file__, "--second", os.devnull if SMOKE else str(FILE)]
    for command in [[*second, "--smoke"]] if SMOKE else [fill, second]:
        subprocess.run([sys.executable, *command], check=True)


if __name__ == "__main__":
    main()
