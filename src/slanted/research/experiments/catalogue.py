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
from slanted.research.experiments.data import Context
from slanted.research.experiments.examples import examples
from slanted.research.experiments.learning import epsilon, loss, training_size
from slanted.research.experiments.model import colour_statistics, convergence
from slanted.research.experiments.noise import noise
from slanted.research.experiments.outcome import Outcome

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
"""The paper's experiments in its order, then ours."""
