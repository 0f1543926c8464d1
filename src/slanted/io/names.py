"""Names of the files in the folders that slanted writes."""

from __future__ import annotations

RECORD = "run.json"
"""A folder that holds this file is a result."""
PAIR_RECORD = "record.json"
"""The record of a batch in each pair's folder: what it was made from, when and where."""
ARRAYS, SETTINGS, SEGMENTS = "result.npz", "settings.toml", "segments.npy"
LEFT, RIGHT = "left.png", "right.png"
TRUTH, TRUTH_PICTURE = "ground_truth.pfm", "ground_truth_colour.png"
EXPORTS = {
    "cloud.ply": ("cloud.ply",),
    "mesh.ply": ("mesh.ply",),
    "mesh.glb": ("mesh.glb",),
    "mesh.obj": ("mesh.obj", "mesh.mtl", "mesh_texture.png"),
    "depth.png": ("depth.png",),
}
"""The exports of a result, and the files of each."""
BATCH_MARKER = "batch.lock"
"""A folder that holds this file is a batch."""
SUMMARY_TABLE, SUMMARY_LINES = "summary.csv", "summary.jsonl"
"""The summary of a batch, as a table and as JSON lines."""
