"""Settings of learning: the objective, its examples and its optimiser."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting
from slanted.settings.inference import PROPOSALS


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class LearningSettings(Section):
    """`slanted learn` finds the weights by these settings (paper §3.3); nothing else reads them."""

    epsilon: float = setting(1.0, symbol="ε", low=0.0, high=1.0, doc=
        "The objective is that of a conditional random field at 1, of a structural support vector "
        "machine at 0.")
    C: float | None = setting(None, symbol="C", kind=float, low=0.0, doc=
        "The regulariser is C/2 |w|² beside a sum over images, with weights in units that the data "
        "give; auto is the number of images.")
    loss: str = setting("l2", choices=("l2", "out-2px", "out-3px", "out-4px", "out-5px"), doc=
        "With `l2` the task loss of a pixel is its squared error, at most K²; with `out-3px` it is "
        "K² if the error exceeds 3 px and 0 if not.")
    loss_scale: float = setting(1.0, low=0.0, doc=
        "The task loss, whose sum is at most that of φ_seg, is multiplied by this; 0 is maximum "
        "likelihood.")
    rounds: int = setting(4, low=1, high=100, doc=
        "Weights are learned at most this many times, each time with the planes that inference "
        "found with the last weights among the particles.")
    particles: int = setting(30, low=2, high=200, doc=
        "Each segment has this many planes, including its ground truth, its local fit and the "
        "solutions of the last rounds.")
    proposals: str = setting("mixture", choices=PROPOSALS, doc=
        "The other planes are drawn as with `inference.proposals`. They must include wrong planes "
        "that agree with their neighbours; otherwise nothing counts against smoothing.")
    boundary_labels: str = setting("joint", choices=("planes", "joint"), doc=
        "With `planes` the ground-truth label of a boundary depends on its two planes alone, with "
        "`joint` on its junctions as well.")
    optimiser: str = setting("lbfgs", choices=("lbfgs", "interleaved"), doc=
        "`lbfgs` solves for the messages of all weights it tries; `interleaved` changes the "
        "weights after every few sweeps.")
    max_steps: int = setting(60, low=1, high=100_000, doc=
        "The objective is evaluated at most this many times a round.")
    max_sweeps: int = setting(25, low=1, high=100_000, doc=
        "An evaluation makes at most this many sweeps.")
    inner_tolerance: float = setting(1e-7, low=0.0, doc=
        "Sweeps stop when the dual rises by less than this share of itself.")
    interleaved_sweeps: int = setting(2, low=1, high=1000, doc=
        "`interleaved` makes this many sweeps between two steps.")
    tolerance: float = setting(1e-5, low=0.0, doc=
        "Steps stop when the objective falls by less than this share of itself.")
    workers: int | None = setting(None, low=1, high=1024, doc=
        "This many processes share the images; auto is `threads`. Results do not depend on it.")
