"""Scores of disparity maps, and the public stereo benchmarks."""

from slanted.evaluation.confidence import ConfidenceScores, evaluate_confidence
from slanted.evaluation.datasets import DATASETS, Frame, find_frames
from slanted.evaluation.metrics import METRIC_NAMES, evaluate, mean_metrics
from slanted.evaluation.region import Region

__all__ = [
    "DATASETS",
    "METRIC_NAMES",
    "ConfidenceScores",
    "Frame",
    "Region",
    "evaluate",
    "evaluate_confidence",
    "find_frames",
    "mean_metrics",
]
