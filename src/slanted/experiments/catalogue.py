"""Every experiment by its name."""

from __future__ import annotations

from collections.abc import Callable

from slanted.experiments.comparisons import (
    ablation,
    comparison,
    oracle,
    particles,
    resampling,
    segmentation,
    superpixels,
)
from slanted.experiments.examples import examples
from slanted.experiments.inside import colour_statistics, convergence
from slanted.experiments.learned import epsilon, loss, training_size
from slanted.experiments.outcome import Outcome
from slanted.experiments.plans import Context
from slanted.experiments.scenes import noise

EXPERIMENTS: dict[str, Callable[[Context], Outcome]] = {
    "comparison": comparison,
    "segmentation": segmentation,
    "superpixels": superpixels,
    "resampling": resampling,
    "training-size": training_size,
    "oracle": oracle,
    "noise": noise,
    "epsilon": epsilon,
    "loss": loss,
    "colour-statistics": colour_statistics,
    "examples": examples,
    "particles": particles,
    "ablation": ablation,
    "convergence": convergence,
}
"""In the paper's order, then ours."""
