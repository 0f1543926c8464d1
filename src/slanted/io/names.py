"""Names of files by which folders are known: some packages write them, others look for them."""

from __future__ import annotations

RECORD = "run.json"
"""What makes a folder a result."""
SEGMENTS = "segments.npy"
"""The label image of a result, or of segments alone."""
BATCH_MARKER = "batch.lock"
"""What makes a folder that of a batch."""
SUMMARY_TABLE, SUMMARY_LINES = "summary.csv", "summary.jsonl"
"""What a batch tells of its pairs, twice."""
