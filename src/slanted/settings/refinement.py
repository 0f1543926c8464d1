"""The settings of refinement."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


@dataclass(frozen=True)
class RefinementSettings(Section):
    """Segments that move to where the planes want them, and split where one plane is not enough.

    Not in the paper. Weights are beside a squared distance of 1 in 8-bit Lab, a pixel.
    """

    rounds: int = setting(1, "Times that segments are refined; 0 = never.", low=0, high=100)
    iterations: int = setting(
        1, "Times that particles are drawn anew after each round.", low=0, high=1000
    )
    passes: int = setting(3, "Most passes over the image a round.", low=0, high=1000)
    position: float = setting(
        200.0,
        "Weight of the squared distance from the segment's centre, by the mean segment's size.",
        symbol="w_pos",
        low=0.0,
        high=1e9,
    )
    disparity: float = setting(
        3500.0,
        "Weight of the squared residual of a match.",
        symbol="w_disp",
        unit="1/px²",
        low=0.0,
        high=1e9,
    )
    truncation: float = setting(
        3.0, "Cap on the residual.", symbol="K", unit="px", low=0.0, high=1e4
    )
    visibility: float = setting(
        10000.0,
        "Cost of a pixel without a match whose plane the right view ought to show and does not.",
        symbol="w_vis",
        low=0.0,
        high=1e9,
    )
    length: float = setting(
        350.0,
        "Cost of two pixels of different segments that share a side or a corner.",
        symbol="w_len",
        low=0.0,
        high=1e9,
    )
    split_size: int = setting(
        30,
        "Smallest patch of matches off its plane that becomes a segment of its own; 0 = never.",
        unit="px",
        low=0,
        high=1_000_000_000,
    )
    split_distance: float = setting(
        3.0, "Distance from its plane from which on a match is off it.", unit="px", low=0.0
    )
    rim: int = setting(
        8,
        "Columns left of a farther segment whose pixels, in the last round, go by how the planes "
        "look in the right view rather than by their matches; 0 = none.",
        unit="px",
        low=0,
        high=10_000,
    )
    rim_difference: float = setting(
        3.6,
        "Mean difference of the views, in grey levels and their slopes, from which on a plane "
        "looks wrong there.",
        low=0.0,
    )
