"""Names of the files that make a folder a result or a batch; writers and readers share them."""

from __future__ import annotations

RECORD = "run.json"
"""The record of a run; a folder that has one is a result."""
SEGMENTS = "segments.npy"
"""The label image of a result, or of `slanted segment`."""
BATCH_MARKER = "batch.lock"
"""A folder that has this file belongs to a batch."""
SUMMARY_TABLE, SUMMARY_LINES = "summary.csv", "summary.jsonl"
"""The summary of a batch, one row for each pair, as CSV and as JSON lines."""
