"""Every experiment by its name."""

from __future__ import annotations

from collections.abc import Callable

from slanted.research.experiments.comparisons import (
    ablation,
    comparison,
    oracle,
    particles,
    resampling,
    segmentation,
    superpixels,
)
from slanted.research.experiments.examples import examples
from slanted.research.experiments.inside import colour_statistics, convergence
from slanted.research.experiments.learned import epsilon, loss, training_size
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.plans import Context
from slanted.research.experiments.scenes import noise

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
