"""Density and errors of the matchers on synthetic pairs that are hard or impossible to match.

python benchmarks/hard_pairs.py [--seeds 5] [--first-seed 0] [--methods census sgbm] [--markdown]

The scene is a slanted ground and a fronto-parallel box, or one wall, painted in ways that are hard
to match. What cannot be known should come out unknown, not as garbage. With --markdown the table
for the docs is printed, and no JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from common import options, record, say
from slanted.matching import DisparityRange, match
from slanted.settings import MatchingSettings
from slanted.synthetic.geometry import Surface, cast, pixel_grid
from slanted.synthetic.render import hidden_in_right, sample_textures

WIDTH, HEIGHT, DISPARITIES = 320, 240, 64
PERIOD = 12.0
"""Period of stripes or squares in pixels: well inside the disparity range."""
REACH = 6
"""Pixels that a matching cost sees in each direction: census window and averaging box."""
WRONG = 3.0
"""Errors above this many pixels count."""
COLUMNS = {
    "density": "known",
    "blank density": "known where nothing shows",
    "wrong": "wrong, of known and seen twice",
    "garbage": "wrong, of all known",
    "garbage of all": "wrong, of all pixels",
}

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class View:
    """What one camera sees: (H, W) surface index, coordinates on it, and its texture in grey."""

    surface: npt.NDArray[np.int32]
    u: Floats
    v: Floats
    texture: Floats

    def panel(self) -> Mask:
        """Return the mask of a rectangle on the box and of one on the ground."""
        u, v, box = self.u, self.v, self.surface == 1
        face = box & (np.abs(u - 180) < 38) & (np.abs(v - 110) < 38)
        return face | (~box & (np.abs(u - 100) < 40) & (np.abs(v - 190) < 40))


@dataclass(frozen=True)
class Pair:
    """Two grey images, the truth (NaN: there is none), and what is hidden from the right view."""

    left: npt.NDArray[np.uint8]
    right: npt.NDArray[np.uint8]
    truth: Floats
    occluded: Mask
    blank: Mask


Paint = Callable[[View, np.random.Generator], tuple[Floats, Mask]]
"""Grey values of a view, and where they show nothing that could be matched."""


def plain(view: View, _: np.random.Generator) -> tuple[Floats, Mask]:
    """Texture everywhere."""
    return view.texture, np.zeros(view.u.shape, np.bool_)


def noisy(paint: Paint, sigma: float) -> Paint:
    """Add Gaussian noise to another way of painting."""

    def painted(view: View, rng: np.random.Generator) -> tuple[Floats, Mask]:
        grey, blank = paint(view, rng)
        return grey + rng.normal(0.0, sigma, grey.shape), blank

    return painted


def everywhere(values: Callable[[View], Floats]) -> Paint:
    """Paint the whole scene with a pattern that leaves the disparity ambiguous."""
    return lambda view, _: (values(view), np.ones(view.u.shape, np.bool_))


def on_panels(values: Callable[[View], Floats]) -> Paint:
    """Paint two rectangles with such a pattern, and keep the texture around them."""
    return lambda view, _: (np.where(view.panel(), values(view), view.texture), view.panel())


def shading(view: View, _: np.random.Generator) -> tuple[Floats, Mask]:
    """Paint waves of 6 grey levels and about 90 pixels, and nothing finer."""
    waves = np.sin(view.u / 15.0 + 2.0 * view.surface) + np.sin((view.u + view.v) / 22.0)
    return 128.0 + 3.0 * waves, np.zeros(view.u.shape, np.bool_)


def over_exposed(view: View, _: np.random.Generator) -> tuple[Floats, Mask]:
    """Add a wide glare, white in its middle."""
    far = np.hypot((view.u - 190.0) / 130.0, (view.v - 110.0) / 100.0)
    grey = view.texture + 420.0 * np.exp(-((far / 0.9) ** 4))
    return grey, grey >= 255.0


def near_black(view: View, _: np.random.Generator) -> tuple[Floats, Mask]:
    """Paint with grey levels 0 to 4 only."""
    return view.texture / 64.0, np.zeros(view.u.shape, np.bool_)


def unrelated(values: Callable[[np.random.Generator, tuple[int, ...]], Floats]) -> Paint:
    """Paint each view with unrelated values."""
    return lambda view, rng: (values(rng, view.u.shape), np.ones(view.u.shape, np.bool_))


def flat(view: View) -> Floats:
    """One grey."""
    return np.full(view.u.shape, 128.0)


def stripes(view: View) -> Floats:
    """Return soft vertical stripes."""
    return 128.0 + 90.0 * np.sin(view.u * (2.0 * np.pi / PERIOD))


def checkerboard(view: View) -> Floats:
    """Squares."""
    odd = np.floor(2.0 * view.u / PERIOD) + np.floor(2.0 * view.v / PERIOD)
    return np.where(odd % 2.0 == 0.0, 60.0, 190.0)


def white_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return independent pixels."""
    return rng.uniform(0.0, 255.0, shape)


def clouds(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return smooth noise, like a texture."""
    smooth = cv2.GaussianBlur(rng.standard_normal(shape), (0, 0), 2.5)
    return np.asarray(128.0 + 50.0 * smooth / smooth.std())


def ground_and_box(rng: np.random.Generator) -> list[Surface]:
    """Return a ground that comes nearer downwards and a box in front of it."""
    ground = np.array([rng.uniform(-0.02, 0.02), rng.uniform(0.10, 0.14), rng.uniform(5.0, 8.0)])
    box = np.array([0.0, 0.0, rng.uniform(44.0, 52.0)])
    left, top = rng.uniform(110.0, 130.0), rng.uniform(45.0, 60.0)
    sides = [[1, 0, -left], [-1, 0, left + 110], [0, 1, -top], [0, -1, top + 110]]
    return [Surface(ground, np.empty((0, 3)), 0), Surface(box, np.array(sides), 1)]


def wall(rng: np.random.Generator) -> list[Surface]:
    """Return one fronto-parallel plane."""
    return [Surface(np.array([0.0, 0.0, rng.uniform(17.0, 31.0)]), np.empty((0, 3)), 0)]


@dataclass(frozen=True)
class Kind:
    """A kind of hard pair: its painting, its surfaces, and how the right view differs."""

    paint: Paint
    surfaces: Callable[[np.random.Generator], list[Surface]] = ground_and_box
    gain: float = 1.0
    offset: float = 0.0
    related: bool = True


KINDS = {
    "well textured": Kind(plain),
    "low texture: waves of 6 levels, noise 1": Kind(noisy(shading, 1.0)),
    "flat, noise 1": Kind(noisy(everywhere(flat), 1.0)),
    "flat panels": Kind(on_panels(flat)),
    "flat panels, noise 1": Kind(noisy(on_panels(flat), 1.0)),
    "striped panels": Kind(on_panels(stripes)),
    "stripes everywhere": Kind(everywhere(stripes)),
    "stripes everywhere, noise 3": Kind(noisy(everywhere(stripes), 3.0)),
    "stripes on one wall": Kind(everywhere(stripes), wall),
    "stripes on one wall, noise 3": Kind(noisy(everywhere(stripes), 3.0), wall),
    "checkerboard panels": Kind(on_panels(checkerboard)),
    "checkerboard everywhere": Kind(everywhere(checkerboard)),
    "over-exposed": Kind(noisy(over_exposed, 1.0)),
    "near black: levels 0 to 4": Kind(near_black),
    "near black, noise 1": Kind(noisy(near_black, 1.0)),
    "noise 10": Kind(noisy(plain, 10.0)),
    "noise 25": Kind(noisy(plain, 25.0)),
    "right view 0.7 × left + 15": Kind(plain, gain=0.7, offset=15.0),
    "unrelated white noise": Kind(unrelated(white_noise), related=False),
    "unrelated clouds": Kind(unrelated(clouds), related=False),
}


def make_pair(kind: Kind, seed: int) -> Pair:
    """Draw a scene and paint it; one seed gives the same surfaces and textures for all kinds."""
    rng = np.random.default_rng(seed)
    surfaces = kind.surfaces(rng)
    textures = sample_textures(rng, len(surfaces), amplitude=110.0, colour_contrast=0.5)
    columns, rows = pixel_grid(WIDTH, HEIGHT)
    grey, blank = [], np.zeros((HEIGHT, WIDTH), np.bool_)
    for right in (False, True):
        hits = cast(surfaces, columns, rows, right=right)
        v = np.broadcast_to(rows, hits.column.shape)
        texture = np.zeros(hits.column.shape)
        for index, painted in enumerate(textures):
            here = hits.surface == index
            texture[here] = painted.at(hits.column[here], v[here]).mean(axis=-1)
        values, nothing = kind.paint(View(hits.surface, hits.column, v, texture), rng)
        if right:
            values = kind.gain * values + kind.offset
        else:
            seen, blank = hits, nothing
        grey.append(np.rint(np.clip(values, 0.0, 255.0)).astype(np.uint8))
    truth = seen.disparity if kind.related else np.full(blank.shape, np.nan)
    window = np.ones((2 * REACH + 1,) * 2, np.uint8)
    inner = cv2.erode(blank.astype(np.uint8), window, borderValue=1) > 0
    return Pair(*grey, truth, hidden_in_right(seen, rows, surfaces, WIDTH), inner)


def score(pair: Pair, disparity: npt.NDArray[np.float32]) -> dict[str, float]:
    """Return the percentages of `COLUMNS`; NaN where there is nothing to count."""
    known = np.isfinite(disparity)
    # Where there is no truth, whatever is known is wrong.
    wrong = known & ~(np.abs(disparity - pair.truth) <= WRONG)
    return {
        "density": percent(known),
        "blank density": percent(known[pair.blank]),
        "wrong": percent(wrong[known & ~pair.occluded]),
        "garbage": percent(wrong[known]),
        "garbage of all": percent(wrong),
    }


def percent(selected: Mask) -> float:
    """Return the percentage of True; NaN for an empty mask."""
    return 100.0 * float(selected.mean()) if selected.size else float("nan")


def measure(kind: Kind, method: str, seeds: Sequence[int]) -> dict[str, float | None]:
    """Return the mean over seeds of each score, None where no seed has one."""
    settings = MatchingSettings(method=method)
    rows = []
    for seed in seeds:
        pair = make_pair(kind, seed)
        found = match(pair.left, pair.right, settings, DisparityRange(0, DISPARITIES))
        rows.append(score(pair, found))
    means: dict[str, float | None] = {}
    for name in COLUMNS:
        values = [row[name] for row in rows if not np.isnan(row[name])]
        means[name] = round(float(np.mean(values)), 2) if values else None
    return means


def table(results: dict[str, dict[str, dict[str, float | None]]]) -> str:
    """Return a Markdown table with the methods' figures side by side."""
    methods = list(next(iter(results.values())))
    lines = [
        f"| {' / '.join(methods)}, % | {' | '.join(COLUMNS.values())} |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for kind, scores in results.items():
        cells = [
            " / ".join("–" if (x := scores[m][name]) is None else f"{x:.1f}" for m in methods)
            for name in COLUMNS
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure every kind with every method; record, and print the table."""
    methods, smoke = ["census", "sgbm"], {"seeds": 1, "methods": ["sgbm"]}
    arguments = options(__doc__, smoke, seeds=5, first_seed=0, methods=methods, markdown=False)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    results = {
        name: {method: measure(kind, method, seeds) for method in arguments.methods}
        for name, kind in KINDS.items()
    }
    if not arguments.markdown:
        record("hard_pairs", arguments, results)
    say(table(results))


if __name__ == "__main__":
    main()
