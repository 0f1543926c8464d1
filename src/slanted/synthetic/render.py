"""Views of textured surfaces, and which left pixels the right view does not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slanted.synthetic.geometry import Floats, Hits, Surface, cast

Image = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

# Cell size in pixels and weight of each octave. The finest is coarse enough for linear
# interpolation, and the coarsest keeps large windows from looking alike.
_OCTAVES = ((4.0, 0.5), (9.0, 0.3), (21.0, 0.2))
_TABLE = 64  # lattice points per period of the texture: 256 px at the finest octave


@dataclass(frozen=True)
class Texture:
    """Colour as a smooth function of left-image coordinates: value noise of several octaves."""

    colour: Floats
    """(3,) mean colour, grey levels."""
    lattices: Floats
    """(octaves, N, N, 3) values at the lattice points, grey levels."""

    def at(self, u: Floats, v: Floats) -> Floats:
        """Return the colours (n, 3) at the points (u, v), each (n,)."""
        total = np.tile(self.colour, (len(u), 1))
        for (period, share), lattice in zip(_OCTAVES, self.lattices, strict=True):
            total += share * _interpolate(lattice, u / period, v / period)
        return total


def _interpolate(lattice: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate a periodic lattice smoothly: bilinear, with cubic easing of the fractions."""
    size = len(lattice)
    left, top = np.floor(x), np.floor(y)
    fx, fy = x - left, y - top
    fx, fy = (fx * fx * (3.0 - 2.0 * fx))[:, None], (fy * fy * (3.0 - 2.0 * fy))[:, None]
    column, row = left.astype(np.int64) % size, top.astype(np.int64) % size
    column1, row1 = (column + 1) % size, (row + 1) % size
    upper = lattice[row, column] * (1.0 - fx) + lattice[row, column1] * fx
    lower = lattice[row1, column] * (1.0 - fx) + lattice[row1, column1] * fx
    return np.asarray(upper * (1.0 - fy) + lower * fy)


def sample_textures(
    rng: np.random.Generator, count: int, *, amplitude: float, colour_contrast: float
) -> list[Texture]:
    """Draw textures whose mean colours are far from each other."""
    textures: list[Texture] = []
    for _ in range(count):
        candidates = 128.0 + colour_contrast * rng.uniform(-75.0, 75.0, (8, 3))
        taken = np.array([t.colour for t in textures]).reshape(-1, 3)
        distance = ((candidates[:, None] - taken[None]) ** 2).sum(axis=-1)
        farthest = int(distance.min(axis=1, initial=np.inf).argmax())
        # Texture is mostly grey, so that hue distinguishes surfaces.
        shape = (len(_OCTAVES), _TABLE, _TABLE)
        lattices = 0.8 * rng.uniform(-1.0, 1.0, (*shape, 1)) + 0.2 * rng.uniform(
            -1.0, 1.0, (*shape, 3)
        )
        textures.append(Texture(candidates[farthest], amplitude * lattices))
    return textures


def render(hits: Hits, v: Floats, textures: Sequence[Texture], noise: Floats) -> Image:
    """Paint a view: each pixel shows the texture of its surface at its left-image column."""
    rows = np.broadcast_to(v, hits.surface.shape)
    colours = np.zeros((*hits.surface.shape, 3))
    for index, texture in enumerate(textures):
        here = hits.surface == index
        colours[here] = texture.at(hits.column[here], rows[here])
    return np.rint(np.clip(colours + noise, 0.0, 255.0)).astype(np.uint8)


def hidden_in_right(left: Hits, v: Floats, surfaces: Sequence[Surface], width: int) -> Mask:
    """Return the left pixels outside the right image or behind a nearer surface there."""
    x = left.column - left.disparity
    nearest = cast(surfaces, x, np.broadcast_to(v, x.shape), right=True).disparity
    return np.asarray((x < 0) | (x > width - 1) | (nearest > left.disparity + 1e-6))
