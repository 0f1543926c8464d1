"""Random scenes built so that their boundary labels are exact.

A body is the upper or lower envelope of its planes, so a crease lies exactly where two planes are
equal. Body 0 is the background and covers everything; every later body is nearer than all earlier
ones by at least `SEPARATION` wherever they overlap or nearly touch. The labels follow from these
two facts.

Only sums, products, quotients and square roots are used, no trigonometry: they round alike on every
platform, so a seed draws the same scene everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slanted.errors import InputError
from slanted.synthetic.geometry import REACH, Floats, Ints, Surface, clip, pixel_grid
from slanted.synthetic.partition import SMALLEST_PIECE, components

SEPARATION = 3.0
"""Least disparity gap, in pixels, between bodies where they meet in the left image."""
STEEPEST = 0.4
"""Bound on |a| and |b|. The right view needs 1 − a > 0, and foreshortening should stay mild."""
FAINTEST_CREASE = 0.03
"""Least change of gradient at a crease, in px/px; below it a hinge would look coplanar."""
TRIES = 300
"""Proposals for one body before giving up."""


@dataclass(frozen=True)
class Stage:
    """The space that a scene fills: width × height pixels and a range of disparities."""

    width: int
    height: int
    min_disparity: float
    max_disparity: float

    @property
    def span(self) -> float:
        """Return the length of the range of disparities."""
        return self.max_disparity - self.min_disparity


def sample_surfaces(
    rng: np.random.Generator, stage: Stage, *, objects: int, background: int | None
) -> list[Surface]:
    """Draw a background of 1 to 3 surfaces and `objects` bodies of 1 or 2 surfaces in front of it.

    Bodies are proposed until one fits: within the range of disparities, not too steep, and leaving
    every surface in view.
    """
    count = int(rng.integers(1, 4)) if background is None else background
    scene: list[Surface] = []
    seen = np.zeros((stage.height, stage.width), dtype=np.int32)
    for body in range(objects + 1):
        for _ in range(TRIES):
            if body == 0:
                proposal = _background(rng, stage, count)
            else:
                proposal = _object(rng, stage, body, scene)
            if not proposal:
                continue
            covered = _cover(seen, proposal, first=len(scene))
            if _all_in_view(covered, len(scene) + len(proposal)):
                scene, seen = scene + proposal, covered
                break
        else:
            raise InputError(_no_place(stage, body, objects))
    return scene


def _no_place(stage: Stage, body: int, objects: int) -> str:
    what = "the background" if body == 0 else f"object {body} of {objects}"
    return (
        f"objects, min_disparity and max_disparity: expected a scene that fits, got no place for"
        f" {what} at disparities {stage.min_disparity:g} to {stage.max_disparity:g} in"
        f" {stage.width}×{stage.height} pixels; ask for fewer objects or a wider range."
    )


def _background(rng: np.random.Generator, stage: Stage, count: int) -> list[Surface]:
    """Propose planes that fold along random lines and fill the far part of the range."""
    size = np.array([stage.width, stage.height], dtype=np.float64)
    first = np.array([*(rng.uniform(-1.0, 1.0, 2) / size), 0.0])
    folds = [
        _line(rng, size * rng.uniform(0.2, 0.8, 2)) * rng.uniform(0.5, 2.0) / size.mean()
        for _ in range(count - 1)
    ]
    planes = np.array([first, *(first + fold for fold in folds)])
    surfaces = _envelope(planes, np.empty((0, 3)), _sign(rng), body=0)
    # The right view sees beyond the left image's right border, by up to the largest disparity.
    frame = _box((-REACH, -REACH), size + np.array([stage.max_disparity + REACH, REACH]))
    low, high = _disparity_range(surfaces, frame)
    bottom = stage.min_disparity + stage.span * rng.uniform(0.0, 0.1)
    scale = stage.span * rng.uniform(0.25, 0.4) / (high - low)
    # Scaling and shifting all planes by the same amount moves no crease.
    surfaces = [
        Surface(s.plane * scale + np.array([0.0, 0.0, bottom - low * scale]), s.support, s.body)
        for s in surfaces
    ]
    return surfaces if _well_shaped(surfaces) else []


def _object(
    rng: np.random.Generator, stage: Stage, body: int, behind: Sequence[Surface]
) -> list[Surface]:
    """Propose a convex polygon of one plane or two, in front of all that it covers."""
    radius = rng.uniform(0.13, 0.28) * min(stage.width, stage.height)
    centre = np.array([stage.width, stage.height]) * rng.uniform(0.05, 0.95, 2)
    slope = min(0.25, 0.25 * stage.span / (2.0 * radius))
    first = np.array([*rng.uniform(-slope, slope, 2), 0.0])
    planes = [first]
    if rng.random() < 0.5:
        nearby = centre + radius * rng.uniform(-0.3, 0.3, 2)
        planes.append(first + _line(rng, nearby) * slope * rng.uniform(1.0, 1.5))
    outline = _outline(rng, centre, radius)
    surfaces = _envelope(np.array(planes), outline, _sign(rng), body)

    reach = 4.0 * (radius + REACH)
    box = _box(centre - reach, centre + reach)
    low, high = _disparity_range(surfaces, box)
    lift = max(_clearance(surfaces, behind, box) + SEPARATION, stage.min_disparity - low)
    room = stage.max_disparity - high - lift
    if room < 0 or not _well_shaped(surfaces):
        return []
    raised = np.array([0.0, 0.0, lift + rng.uniform(0.0, 1.0) * min(room, 0.4 * stage.span)])
    return [Surface(s.plane + raised, s.support, s.body) for s in surfaces]


def _envelope(planes: Floats, outline: Floats, sign: float, body: int) -> list[Surface]:
    """Split a region among planes: the nearest (sign > 0) or the farthest is visible."""
    surfaces = []
    for index, plane in enumerate(planes):
        folds = sign * (plane - np.delete(planes, index, axis=0))
        folds /= np.sqrt(folds[:, :1] ** 2 + folds[:, 1:2] ** 2)
        surfaces.append(Surface(plane, np.concatenate([outline, folds]), body))
    return surfaces


def _clearance(front: Sequence[Surface], behind: Sequence[Surface], box: Floats) -> float:
    """Return the most by which `behind` protrudes through `front` where they meet (−inf: nowhere).

    An affine difference on a convex polygon is largest at a vertex, so the answer is exact.
    """
    worst = -np.inf
    for near in front:
        region = clip(box, near.grown())
        for far in behind:
            corners = clip(region, far.grown())
            gap = far.disparity(*corners.T) - near.disparity(*corners.T)
            worst = max(worst, float(gap.max(initial=-np.inf)))
    return worst


def _disparity_range(surfaces: Sequence[Surface], frame: Floats) -> tuple[float, float]:
    """Return the smallest and largest disparity inside a convex polygon."""
    values = [s.disparity(*clip(frame, s.support).T) for s in surfaces]
    together = np.concatenate(values)
    return float(together.min()), float(together.max())


def _well_shaped(surfaces: Sequence[Surface]) -> bool:
    """Return whether no plane is too steep and every crease is strong enough to see."""
    gradients = np.array([s.plane[:2] for s in surfaces])
    change = gradients[:, None] - gradients[None]
    bends = np.sqrt((change**2).sum(axis=-1))[np.triu_indices(len(surfaces), 1)]
    return bool((np.abs(gradients) < STEEPEST).all() and (bends >= FAINTEST_CREASE).all())


def _cover(seen: Ints, body: Sequence[Surface], first: int) -> Ints:
    """Draw a body, whose surfaces are numbered from `first`, over what the left view sees."""
    height, width = seen.shape
    u, v = pixel_grid(width, height)
    covered = seen.copy()
    for index, surface in enumerate(body, start=first):
        covered[surface.covers(u, v)] = index
    return covered


def _all_in_view(seen: Ints, count: int) -> bool:
    """Return whether the left view shows enough of every surface, and no part too small to segment.

    Without slivers, a small piece of the partition always has a neighbour on its own surface to
    join, so that each segment gets at least `SMALLEST_PIECE` pixels.
    """
    fair = max(2 * SMALLEST_PIECE, seen.size // 400)
    if np.bincount(seen.ravel(), minlength=count).min() < fair:
        return False
    return bool(np.bincount(components(seen).ravel()).min() >= SMALLEST_PIECE)


def _outline(rng: np.random.Generator, centre: Floats, radius: float) -> Floats:
    """Return the half-planes of a convex polygon of 4 to 7 sides around a centre."""
    sides = int(rng.integers(4, 8))
    turns = (np.arange(sides) + rng.uniform(-0.15, 0.15, sides)) / sides + rng.random()
    inward = np.array([_direction(turn) for turn in turns])
    distance = radius * rng.uniform(0.7, 1.0, sides)
    offset = distance - inward[:, 0] * centre[0] - inward[:, 1] * centre[1]
    return np.concatenate([inward, offset[:, None]], axis=1)


def _line(rng: np.random.Generator, through: Floats) -> Floats:
    """Return the signed distance (p, q, r) from a random line through a point."""
    p, q = _direction(rng.random())
    return np.array([p, q, -(p * through[0] + q * through[1])])


def _direction(turn: float) -> Floats:
    """Return the unit vector towards the point after `turn` rounds along the border of a square."""
    side, along = divmod(4.0 * turn, 1.0)
    t = 2.0 * along - 1.0
    corner = np.array([(1.0, t), (-t, 1.0), (-1.0, -t), (t, -1.0)][int(side) % 4])
    return np.asarray(corner / np.sqrt(1.0 + t * t))


def _sign(rng: np.random.Generator) -> float:
    return 1.0 if rng.random() < 0.5 else -1.0


def _box(low: Sequence[float] | Floats, high: Sequence[float] | Floats) -> Floats:
    """Return the corners of an axis-parallel rectangle."""
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])], dtype=np.float64)
