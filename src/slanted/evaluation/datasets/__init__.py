"""Stereo benchmarks on disk: their frames, splits and ground truth."""

from slanted.evaluation.datasets.find import DATASETS, find_frames
from slanted.evaluation.datasets.frame import Frame, read_visible, visible_in_both

__all__ = ["DATASETS", "Frame", "find_frames", "read_visible", "visible_in_both"]
