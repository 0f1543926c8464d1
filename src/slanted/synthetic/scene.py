"""A stereo pair with everything known: disparity, occlusion, segments, planes, boundary labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.synthetic.geometry import Floats, Ints, Surface, cast, pixel_grid
from slanted.synthetic.partition import adjacent_pairs, partition
from slanted.synthetic.render import Image, Mask, hidden_in_right, render, sample_textures
from slanted.synthetic.sampling import SEPARATION, Stage, sample_surfaces

SMALLEST_SIDE = 32
PIXELS_PER_SEGMENT = 64


@dataclass(frozen=True)
class Scene:
    """An exact stereo pair and its slanted-plane description (paper, Section 3)."""

    left: Image
    right: Image
    """(H, W, 3) uint8, point-sampled: borders are not smoothed."""
    disparity: npt.NDArray[np.float32]
    """(H, W) float32: left pixel (u, v) shows the point that right pixel (u − d, v) shows."""
    occluded: Mask
    """(H, W) bool: left pixels that lie outside the right image or behind a nearer surface there.
    """
    surface: Ints
    """(H, W) int32: index of the surface seen at each left pixel."""
    surface_planes: Floats
    """(M, 3): (a, b, c) of d = a u + b v + c."""
    surface_bodies: Ints
    """(M,) int32: the body of each surface, 0 for the background, rising from back to front."""
    segments: Ints
    """(H, W) int32, 0 to n − 1: each 4-connected and inside one surface."""
    planes: Floats
    """(n, 3): (α, β, γ) of d = α (u − c_x) + β (v − c_y) + γ."""
    centres: Floats
    """(n, 2): (c_x, c_y), the mean pixel of each segment."""
    edges: Ints
    """(E, 2) int32: pairs i < j that share a side of a pixel, in lexicographic order."""
    labels: npt.NDArray[np.int8]
    """(E,) int8: `BoundaryLabel` of each edge."""


@dataclass(frozen=True, kw_only=True)
class SceneOptions:
    """Options of a random scene."""

    segments: int = 108
    """Approximate number of segments of the left image."""
    objects: int = 5
    """Number of bodies in front of the background: convex polygons of one plane, or of two planes
    with a crease."""
    background: int | None = None
    """Number of planes of the background, 1 to 3, joined by hinges; None draws it at random."""
    min_disparity: float = 4.0
    max_disparity: float = 60.0
    """Range of the disparities seen in the left image, pixels."""
    texture: float = 110.0
    """Largest deviation from a surface's mean colour, grey levels."""
    colour_contrast: float = 1.0
    """0 gives all surfaces one mean colour, 1 spreads the colours over the whole range."""
    noise: float = 0.0
    """Standard deviation of Gaussian noise, independent in both images, grey levels."""

    def check(self, width: int, height: int) -> None:
        """Raise InputError unless a scene of this size can be drawn."""
        check_count("width", width, SMALLEST_SIDE, None)
        check_count("height", height, SMALLEST_SIDE, None)
        check_count("segments", self.segments, 1, width * height // PIXELS_PER_SEGMENT)
        check_count("objects", self.objects, 0, None)
        if self.background is not None:
            check_count("background", self.background, 1, 3)
        # Room for a slanted background and a few bodies, each SEPARATION in front of the last.
        room = 4.0 * SEPARATION
        check_number("min_disparity", self.min_disparity, 0.0, width - room)
        check_number("max_disparity", self.max_disparity, self.min_disparity + room, float(width))
        check_number("texture", self.texture, 0.0, 255.0)
        check_number("colour_contrast", self.colour_contrast, 0.0, 1.0)
        check_number("noise", self.noise, 0.0, math.inf)


def make_scene(
    width: int, height: int, *, seed: int | np.random.SeedSequence, **options: Any
) -> Scene:
    """Draw a scene of slanted planes and render both views.

    Parameters
    ----------
    width, height
        Size of the images, pixels.
    seed
        The same seed gives the same scene on every platform.
    options
        Fields of `SceneOptions`.

    Raises
    ------
    InputError
        If an argument is out of range, or the objects do not all fit.

    Notes
    -----
    Labels follow from how the scene is built, not from thresholds. Segments of one surface are
    coplanar, those of two surfaces of one body form a hinge, and between two bodies there is an
    occlusion with the later body in front (see `slanted.synthetic.sampling`).

    Examples
    --------
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> scene.left.shape, scene.disparity.shape
    ((64, 96, 3), (64, 96))
    >>> len(scene.planes), len(scene.labels) == len(scene.edges)
    (40, True)
    """
    like = SceneOptions(**options)
    like.check(width, height)
    rng = _generator(seed)
    stage = Stage(width, height, float(like.min_disparity), float(like.max_disparity))
    surfaces = sample_surfaces(rng, stage, objects=like.objects, background=like.background)
    textures = sample_textures(
        rng, len(surfaces), amplitude=like.texture, colour_contrast=like.colour_contrast
    )
    u, v = pixel_grid(width, height)
    seen = cast(surfaces, u, v, right=False)
    seen_right = cast(surfaces, u, v, right=True)
    grain = like.noise * rng.standard_normal((2, height, width, 3))
    labelled = partition(seen.surface, like.segments, rng)
    centres = _centres(labelled)
    planes, surface_of = _segment_planes(labelled, seen.surface, surfaces, centres)
    edges = adjacent_pairs(labelled)
    return Scene(
        left=render(seen, v, textures, grain[0]),
        right=render(seen_right, v, textures, grain[1]),
        disparity=seen.disparity.astype(np.float32),
        occluded=hidden_in_right(seen, v, surfaces, width),
        surface=seen.surface,
        surface_planes=np.array([s.plane for s in surfaces]),
        surface_bodies=np.array([s.body for s in surfaces], dtype=np.int32),
        segments=labelled,
        planes=planes,
        centres=centres,
        edges=edges,
        labels=_labels(edges, surface_of, surfaces),
    )


def _centres(segments: Ints) -> Floats:
    """Return the mean pixel (u, v) of each segment."""
    flat = segments.ravel()
    rows, columns = np.indices(segments.shape)
    size = np.bincount(flat)
    return np.stack([np.bincount(flat, p.ravel()) / size for p in (columns, rows)], axis=1)


def _segment_planes(
    segments: Ints, surface: Ints, surfaces: Sequence[Surface], centres: Floats
) -> tuple[Floats, Ints]:
    """Return the planes about the segments' centres, and the surface that each segment lies on."""
    surface_of = np.zeros(len(centres), dtype=np.int32)
    surface_of[segments.ravel()] = surface.ravel()
    planes = np.array([s.plane for s in surfaces])[surface_of]
    planes[:, 2] += planes[:, 0] * centres[:, 0] + planes[:, 1] * centres[:, 1]
    return planes, surface_of


def _labels(edges: Ints, surface_of: Ints, surfaces: Sequence[Surface]) -> npt.NDArray[np.int8]:
    """Return the label of each edge; the later of two bodies is in front wherever they meet."""
    body_of = np.array([s.body for s in surfaces])[surface_of]
    i, j = edges.T
    labels = np.where(
        body_of[i] > body_of[j], BoundaryLabel.LEFT_OCCLUSION, BoundaryLabel.RIGHT_OCCLUSION
    )
    labels[body_of[i] == body_of[j]] = BoundaryLabel.HINGE
    labels[surface_of[i] == surface_of[j]] = BoundaryLabel.COPLANAR
    return labels.astype(np.int8)


def _generator(seed: int | np.random.SeedSequence) -> np.random.Generator:
    if isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    check_count("seed", seed, 0, None)
    return np.random.default_rng(seed)


def check_count(name: str, value: int, least: int, most: int | None) -> None:
    """Raise InputError unless `value` is an integer from `least` to `most`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        bound = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{name}: expected an integer {bound}, got {value!r}.")


def check_number(name: str, value: float, least: float, most: float) -> None:
    """Raise InputError unless `value` is a finite number from `least` to `most`."""
    number = isinstance(value, int | float | np.number) and math.isfinite(value)
    if not (number and least <= value <= most):
        bound = f"of at least {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
        raise InputError(f"{name}: expected a finite number {bound}, got {value!r}.")
