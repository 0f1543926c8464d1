"""Settings of refinement: how segments follow the planes, and when they split."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class RefinementSettings(Section):
    """Segments move to fit the planes and split where one plane is not enough; not in the paper.

    Weights are relative to a squared distance of 1 in 8-bit Lab, per pixel. The symbols are those
    of docs/refinement.md, where w_vis and K are not those of the model.
    """

    rounds: int = setting(1, low=0, high=100, doc="Segments are refined this many times.")
    iterations: int = setting(1, low=0, high=1000, doc=
        "Particles are drawn this many times after each round.")
    passes: int = setting(3, low=0, high=1000, doc=
        "A round makes at most this many passes over the image.")
    position_weight: float = setting(200.0, symbol="w_pos", low=0.0, high=1e9, doc=
        "The squared distance from the segment's centre, over the mean area of a segment, has this "
        "weight.")
    disparity_weight: float = setting(3500.0, symbol="w_disp", unit="1/px²", low=0.0, high=1e9, doc=
        "The squared residual of a match has this weight.")
    truncation: float = setting(3.0, symbol="K", unit="px", low=0.0, high=1e4, doc=
        "Residuals are capped at this value.")
    visibility_weight: float = setting(10000.0, symbol="w_vis", low=0.0, high=1e9, doc=
        "A pixel without a match costs this much if the right view should show its plane and does "
        "not.")
    length_weight: float = setting(350.0, symbol="w_len", low=0.0, high=1e9, doc=
        "Two pixels of different segments that share a side or a corner cost this much.")
    split_size: int = setting(30, unit="px", low=0, high=1_000_000_000, doc=
        "A patch of at least this many matches off their plane becomes a segment; 0 splits none.")
    split_distance: float = setting(3.0, unit="px", low=0.0, doc=
        "A match farther than this from its plane is off it.")
    rim_width: int = setting(8, unit="px", low=0, high=10_000, doc=
        "In the last round, pixels up to this far to the left of a farther segment are assigned by "
        "how the planes look in the right view, not by their matches; 0 turns this off.")
    rim_difference: float = setting(3.6, low=0.0, doc=
        "A plane looks wrong there if the mean difference between the views, in grey levels and "
        "gradients, exceeds this.")
