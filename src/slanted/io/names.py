"""Names of files that some packages write and others look for."""

from __future__ import annotations

RECORD = "run.json"
"""What makes a folder a result: its settings, inputs and numbers."""
PAIR_RECORD = "record.json"
"""What a batch adds to the result of each pair: what it was made from, when and where."""
SEGMENTS = "segments.npy"
"""The label image of a result, or of `slanted segment`."""
BATCH_MARKER = "batch.lock"
"""A folder that has this file belongs to a batch."""
SUMMARY_TABLE, SUMMARY_LINES = "summary.csv", "summary.jsonl"
"""The summary of a batch, as a table and as JSON lines."""
