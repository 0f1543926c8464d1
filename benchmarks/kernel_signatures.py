"""Write which kernels runs call, with which types: ``src/slanted/runtime/kernel_signatures.json``.

python benchmarks/kernel_signatures.py

To be run when a kernel's name or arguments change; a test tells. Kernels that only others call are
compiled with these, so they are left out: a first process fills the cache, and a second, which
compiles nothing, loads just what Python calls.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from common import ROOT

FILE = ROOT / "src" / "slanted" / "runtime" / "kernel_signatures.json"


def called() -> dict[str, list[list[str]]]:
    """Return the specialisations that small runs called."""
    from numba.core.dispatcher import Dispatcher

    from slanted.cli.warmup import small_runs
    from slanted.runtime.kernel_list import type_text

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
    """Fill the cache, ask a second process what it loads, and write it down."""
    if "--second" in sys.argv:
        FILE.write_text(json.dumps(called(), indent=1) + "\n")
        return
    for arguments in (["-c", "from slanted.cli.warmup import small_runs; small_runs()"],
                      [__file__, "--second"]):  # fmt: skip
        subprocess.run([sys.executable, *arguments], check=True)


if __name__ == "__main__":
    main()
