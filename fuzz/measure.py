"""Run ``slanted`` on small files that claim to be large, and measure the memory and time they take.

``python -m fuzz.measure`` tries all of `fuzz.bombs` with ``slanted info``, or as settings of
``slanted run``; ``python -m fuzz.measure NAME …`` only some. It fails if one takes too much.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from fuzz.measured import measure_file, measure_here


def main() -> int:
    """Measure the bombs whose file names are given, or all."""
    from fuzz.bombs import BOMBS

    wanted, failed = sys.argv[1:], 0
    if wanted[:1] == ["--one"]:
        sys.stdout.write(json.dumps(asdict(measure_here(wanted[1:]))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or BOMBS:
            file = Path(folder) / name
            file.write_bytes(BOMBS[name](1.0))
            found = measure_file(file)
            failed += not found.is_modest
            last = found.text.strip().rpartition("\n")[2].replace(folder, "")
            sys.stdout.write(
                f"{name:18}{file.stat().st_size / 1e6:6.2f} MB takes{found.megabytes:6.0f} MB"
                f" {found.seconds:6.2f} s, exit {found.code}: {last[:100]}\n"
            )
            sys.stdout.flush()
            file.unlink()
    sys.stdout.write(f"{failed} took too much\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
