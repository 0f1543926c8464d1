"""The settings of learning."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


@dataclass(frozen=True)
class LearningSettings(Section):
    """Learning the weights from ground truth (paper §3.3); no other command reads these."""

    epsilon: float = setting(
        1.0,
        "From a conditional random field (1) to a structural support vector machine (0).",
        symbol="ε",
        low=0.0,
        high=1.0,
    )
    C: float | None = setting(
        None,
        "Weight of the regulariser C/2 |w|² beside the sum over images; auto = their number.",
        symbol="C",
        kind=float,
        low=0.0,
    )
    loss: str = setting(
        "l2",
        "Task loss of a pixel: `l2` is its squared error, truncated at K; `out-3px` is K² if it is "
        "wrong by more than 3 px, else 0.",
        choices=("l2", "out-2px", "out-3px", "out-4px", "out-5px"),
    )
    loss_scale: float = setting(1.0, "Factor of the task loss; 0 = maximum likelihood.", low=0.0)
    particles: int = setting(
        30, "Planes a segment, the ground truth's and the local fit's among them.", low=2, high=200
    )
    proposals: str = setting(
        "mixture",
        "Where the other planes come from, as `inference.proposals`. Wrong planes that suit their "
        "neighbours must be among them: without, nothing speaks against smoothing.",
        choices=("paper", "paper+incumbent", "mixture"),
    )
    labels: str = setting(
        "joint",
        "Ground-truth boundary labels: `planes` looks at two planes each, `joint` at junctions "
        "too.",
        choices=("planes", "joint"),
    )
    optimiser: str = setting(
        "lbfgs",
        "`lbfgs` solves for the messages of all weights it tries, `interleaved` takes a step "
        "after every few sweeps.",
        choices=("lbfgs", "interleaved"),
    )
    max_steps: int = setting(60, "Most evaluations of the objective.", low=1, high=100_000)
    max_sweeps: int = setting(25, "Most message-passing sweeps an evaluation.", low=1, high=100_000)
    inner_tolerance: float = setting(
        1e-7, "Sweeps stop when the dual rises by less than this share of itself.", low=0.0
    )
    interleaved_sweeps: int = setting(
        2, "Sweeps between two steps of `interleaved`.", low=1, high=1000
    )
    tolerance: float = setting(
        1e-5,
        "Steps stop when the objective falls by less than this share of itself.",
        low=0.0,
    )
    workers: int | None = setting(
        None,
        "Processes that share the images; auto = `threads`. Results do not depend on it.",
        low=1,
        high=1024,
    )
