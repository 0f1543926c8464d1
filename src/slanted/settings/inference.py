"""Settings of inference: how planes are proposed, and how long the solver runs."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting

PROPOSALS = ("paper", "paper+incumbent", "mixture")
"""Sources of the planes that a segment chooses from."""


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class InferenceSettings(Section):
    """Particle convex belief propagation minimises the energy (paper §3.2)."""

    pooled_fit: float = setting(0.0, low=0.0, high=1.0, doc=
        "Segments with fewer matches per pixel than this share of the mean start from a plane "
        "fitted to their neighbours' matches as well; 0 fits all segments to their own.")
    particles: int = setting(7, symbol="N", low=1, high=1000, doc=
        "Each segment chooses among this many planes.")
    iterations: int = setting(1, low=0, high=1000, doc=
        "Particles are drawn this many times before segments are refined. Segments of your own are "
        "not refined; for them the iterations of refinement are added.")
    proposals: str = setting("mixture", choices=PROPOSALS, doc=
        "`paper` draws particles from Gaussians, `paper+incumbent` also keeps the current plane, "
        "and `mixture` also takes a joint refit and planes of neighbours.")
    sigma_slope: float = setting(0.5, symbol="σ_α, σ_β", unit="px/px", low=0.0, doc=
        "The paper's Gaussians have this standard deviation in slope, before it falls.")
    sigma_disparity: float = setting(5.0, symbol="σ_γ", unit="px", low=0.0, doc=
        "The paper's Gaussians have this standard deviation in disparity, before it falls.")
    sigma_decay: float = setting(10.0, low=1e-3, doc=
        "The standard deviations of the paper's Gaussians are multiplied by e^(−t / this) in "
        "iteration t of 1, 2 and so on.")
    mixture_sigma: float = setting(1.0, unit="px", low=0.0, doc=
        "The mixture's Gaussians have this standard deviation in disparity, at first.")
    mixture_decay: float = setting(0.6, low=0.0, high=1.0, doc=
        "Each iteration multiplies the standard deviation of the mixture's Gaussians by this.")
    mixture_neighbours: float = setting(1.0, low=0.0, high=1.0, doc=
        "Neighbours' planes are this share of the mixture's draws.")
    sweeps: int = setting(6, low=0, high=1_000_000, doc=
        "An iteration makes at most this many message-passing sweeps.")
    last_sweeps: int | None = setting(14, low=0, high=1_000_000, optional=True, doc=
        "The last run of the solver makes at least this many sweeps, which brings its bound closer "
        "to its energy; auto is `sweeps`. Images in tiles and all but the first frame of a stream "
        "make no more than `sweeps`.")
    check_every: int = setting(6, low=1, high=1_000_000, doc=
        "This many sweeps pass between two checks of the bound. If it is at least `sweeps`, a run "
        "is checked at its end only.")
    gap_tolerance: float = setting(1e-6, low=0.0, doc=
        "The solver stops when the energy is this close to the bound.")
    progress_tolerance: float = setting(1e-5, low=0.0, doc=
        "The solver stops when the bound rises by less than this share of itself between checks.")
    gap: float = setting(0.0, low=0.0, high=1.0, doc=
        "The last run of the solver goes on until the energy is at most this share above its "
        "bound, no longer gets closer, or has made 1000 sweeps; 0 stops after `last_sweeps`.")
    epsilon: float = setting(0.0, symbol="ε", low=0.0, doc=
        "Messages have this temperature; 0 is max-product.")
