"""What a batch left on disk."""

import csv
import os
from pathlib import Path

from slanted.io.names import PAIR_RECORD


def result_files(output):
    """The bytes of all result files, by name; records tell times and summaries repeat them."""
    own = {PAIR_RECORD, "summary.csv", "summary.jsonl", "batch.lock"}
    files = [p for p in output.rglob("*") if p.is_file() and p.name not in own]
    return {str(p.relative_to(output)): p.read_bytes() for p in files if "failures" not in p.parts}


def published(output):
    """When each record was written; those in hidden folders, which come and go, are not there yet."""
    found = {}
    for place, folders, files in os.walk(output):  # unlike rglob, it bears folders that vanish
        folders[:] = [name for name in folders if not name.startswith(".")]
        if PAIR_RECORD in files:
            found[Path(place, PAIR_RECORD)] = Path(place, PAIR_RECORD).stat().st_mtime_ns
    return found


def leftovers(output):
    """Hidden files and folders: whatever is half-written is one."""
    return [p for p in output.rglob("*") if p.name.startswith(".")]


def summary(output):
    """The rows of summary.csv."""
    return list(csv.DictReader((output / "summary.csv").read_text().splitlines()))
