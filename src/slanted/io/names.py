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
ALWAYS = ("disparity.pfm", "disparity.npy", "disparity_colour.png", SETTINGS)
"""Files that every run writes, beside its record."""
OPTIONAL = (
    *("disparity.png", "depth.npy", "segments_colour.png", "boundaries.png"),
    *("disparity_filled.pfm", "disparity_filled.npy", "disparity_filled.png"),
    *("disparity_filled_colour.png", SEGMENTS, ARRAYS, "planes_colour.png"),
    *("matched.pfm", "valid.png", "occluded.png"),
    *("confidence.npy", "confidence.png", "deviation.npy"),
    *("confidence_colour.png", "margins_colour.png", "energy.png", "error.png"),
    *("matched_error.png", "overview.png"),
    *(LEFT, RIGHT, TRUTH, TRUTH_PICTURE),
    *("evaluation.json", "sparsification.png"),
    *(file for files in EXPORTS.values() for file in files),
)
"""Files that only some runs write; one left by an earlier run would not match the new result."""
UCM = "ucm.png"
FOLDER_FILES = {RECORD, PAIR_RECORD, *ALWAYS, *OPTIONAL, "segments_mean.png", UCM}
"""All files that `slanted run`, `demo`, `batch` and `segment` write to the folder of one pair."""
BATCH_MARKER = "batch.lock"
"""A folder that holds this file is a batch."""
SUMMARY_TABLE, SUMMARY_LINES = "summary.csv", "summary.jsonl"
"""The summary of a batch, as a table and as JSON lines."""
