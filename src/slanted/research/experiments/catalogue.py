"""Every experiment by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slanted.research.experiments.data import Context
    from slanted.research.experiments.outcome import Outcome

MODULES = {
    **{"comparison": "comparisons", "segmentation": "comparisons", "superpixels": "timing"},
    "resampling": "comparisons",
    **{"training-size": "learning", "oracle": "comparisons", "noise": "noise"},
    **{"epsilon": "learning", "loss": "learning", "colour-statistics": "model"},
    **{"examples": "examples", "particles": "timing", "ablation": "comparisons"},
    "convergence": "model",
}
"""The module of each experiment, imported when it runs: the paper's in its order, then ours."""


def run_experiment(name: str, context: Context) -> Outcome:
    """Run an experiment by its name."""
    module = import_module(f"slanted.research.experiments.{MODULES[name]}")
    outcome: Outcome = getattr(module, name.replace("-", "_"))(context)
    return outcome
