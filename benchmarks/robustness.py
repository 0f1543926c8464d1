"""Errors on pairs as real cameras deliver them: badly aligned, noisy, compressed, dark, small.

python benchmarks/robustness.py [--only clean dark] [--methods slanted census]
    [--datasets kitti2015 middlebury] [--set PATH=VALUE ...] [--markdown]

Frames of KITTI and of Middlebury are spoilt in the ways of CASES, and every method is scored on
them, by the percentage of all ground-truth pixels with an error above 3 px; pairs of half the size
are scored with disparities times two, so that 3 px are those of the full size. Holes of matchers
are filled. With --markdown the table of docs/robustness.md is printed, and no JSON.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from common import SMOKE, frames_of, options, pair_of, record, say, told
from slanted.errors import InputError
from slanted.evaluation.metrics import evaluate
from slanted.pipeline import estimate
from slanted.research.methods import FULL_MODEL, compute_disparity
from slanted.settings import Settings

KITTI = ("000027_10", "000070_10", "000083_10", "000143_10", "000151_10", "000197_10")
MIDDLEBURY = ("Cones", "Teddy", "Art")
FRAMES = {"kitti2015": ("validation", KITTI), "middlebury": ("test", MIDDLEBURY)}
"""Split and frames of each dataset; those of KITTI are the ones of issue 25."""
METHODS = {
    FULL_MODEL: (FULL_MODEL, {}),
    "census": ("census", {}),
    "SGBM colour": ("sgbm", {}),
    "SGBM grey": ("sgbm", {"matching.sgbm.grey": "true"}),
}
"""For each column, the method and the settings that differ from the defaults."""

Image = npt.NDArray[np.uint8]
Truth = npt.NDArray[np.float32]
Pair = tuple[Image, Image, Truth]
"""Left and right image, and the true disparity, in pixels of the full size."""
Spoil = Callable[[Pair, np.random.Generator], Pair]


def both(change: Callable[[Image, np.random.Generator], npt.ArrayLike]) -> Spoil:
    """Change both views, each by a draw of its own."""

    def spoil(pair: Pair, rng: np.random.Generator) -> Pair:
        left, right, truth = pair
        return as_bytes(change(left, rng)), as_bytes(change(right, rng)), truth

    return spoil


def right_only(change: Callable[[Image], npt.ArrayLike]) -> Spoil:
    """Change the right view."""
    return lambda pair, _: (pair[0], as_bytes(change(pair[1])), pair[2])


def as_bytes(values: npt.ArrayLike) -> Image:
    """Round and clip to 8 bit."""
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def moved(rows: float = 0.0, degrees: float = 0.0) -> Spoil:
    """Shift the right view down, or turn it about its middle; the border is repeated."""

    def change(image: Image) -> Image:
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
        matrix[1, 2] += rows
        return np.asarray(
            cv2.warpAffine(
                image,
                matrix,
                (width, height),
                flags=cv2.INTER_CUBIC,
                borderMode=cv2.BORDER_REPLICATE,
            )
        )

    return right_only(change)


def smaller(factor: int) -> Spoil:
    """Shrink the pair; the truth is that of the pixel in the middle."""

    def shrunk(image: Image) -> Image:
        height, width = (side // factor for side in image.shape[:2])
        part = image[: height * factor, : width * factor]
        return np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA))

    def spoil(pair: Pair, _: np.random.Generator) -> Pair:
        left, right = shrunk(pair[0]), shrunk(pair[1])
        middle = pair[2][factor // 2 :: factor, factor // 2 :: factor]
        return left, right, middle[: left.shape[0], : left.shape[1]]

    return spoil


def compressed(image: Image, quality: int) -> Image:
    """Write and read a JPEG."""
    _, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))[..., ::-1]


def defocused(image: Image, radius: int = 2) -> Image:
    """Blur by a disc."""
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1,) * 2).astype(np.float32)
    return np.asarray(cv2.filter2D(image, -1, disc / disc.sum()))


def dusty(image: Image, rng: np.random.Generator, specks: int = 40) -> npt.ArrayLike:
    """Darken by soft specks, which stay where they are on the sensor."""
    light = np.ones(image.shape[:2], np.float32)
    for x, y in rng.uniform(size=(specks, 2)) * light.shape[::-1]:
        cv2.circle(light, (int(x), int(y)), int(rng.integers(3, 11)), 0.4, -1)
    return image * cv2.GaussianBlur(light, (0, 0), 2)[..., None]


def with_dead_columns(image: Image, rng: np.random.Generator, count: int = 8) -> Image:
    """Make some columns black or white."""
    columns = rng.integers(0, image.shape[1], count)
    found = image.copy()
    found[:, columns] = rng.choice([0, 255], count)[:, None]
    return found


CASES: dict[str, Spoil] = {
    "clean": lambda pair, _: pair,
    "right view 1 px too low": moved(rows=1),
    "right view 2 px too low": moved(rows=2),
    "right view rotated by 0.2°": moved(degrees=0.2),
    "noise σ 8": both(lambda image, rng: image + rng.normal(0, 8, image.shape)),
    "JPEG quality 30": both(lambda image, _: compressed(image, 30)),
    "dark: both × 0.25": both(lambda image, _: image * 0.25),
    "half size": smaller(2),
    "quarter size": smaller(4),
    "exposure: right × 0.5": right_only(lambda image: image * 0.5),
    "right γ 1.5": right_only(lambda image: 255 * (image / 255) ** 1.5),
    "right out of focus": right_only(defocused),
    "dust": both(dusty),
    "dead columns": both(with_dead_columns),
    "row noise σ 4": both(lambda image, rng: image + rng.normal(0, 4, (len(image), 1, 1))),
}
"""Ways to spoil a pair; `--only` takes names that begin as these do."""


SCALES = {"half size": 2, "quarter size": 4}
"""Pixels of the full size that a pixel of a case is wide."""


def main() -> None:
    """Measure every case with every method; record, or print the table."""
    arguments = options(
        __doc__, {"only": ["half", "dead"], "methods": ["slanted", "SGBM grey"]},
        only=[""], methods=list(METHODS), datasets=list(FRAMES), set=[""], markdown=False,
    )  # fmt: skip
    results: dict[str, dict[str, Any]] = {}
    changes = dict(text.split("=", 1) for text in arguments.set if text)
    for name, spoil in CASES.items():
        if name.startswith(tuple(arguments.only)):
            row = {}
            scale = SCALES.get(name, 1)
            for dataset in arguments.datasets:
                pairs = spoilt_pairs(dataset, spoil)
                row[dataset] = {m: mean_scores(m, pairs, scale, changes) for m in arguments.methods}
            results[name] = row
            told({name: row})
    if arguments.markdown:
        say(table(results))
    else:
        record("robustness", arguments, results)


def spoilt_pairs(dataset: str, spoil: Spoil) -> list[Pair]:
    """Return the chosen frames of a dataset, spoilt; each frame always draws the same noise."""
    split, names = FRAMES[dataset]
    frames = frames_of(dataset, split)
    chosen = [frame for frame in frames if SMOKE or frame.name in names]
    pairs = [(*pair_of(frame), frame.load_ground_truth()[0]) for frame in chosen]
    return [spoil(pair, np.random.default_rng(k)) for k, pair in enumerate(pairs)]


def mean_scores(
    column: str, pairs: list[Pair], scale: int, changes: dict[str, str]
) -> dict[str, float]:
    """Return the mean error of a method, its mean confidence, and how often it complained."""
    method, own = METHODS[column]
    settings = Settings().with_text(changes | own)
    errors, trust, refused, warned = [], [], 0, 0
    for left, right, truth in pairs:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            try:
                if method == FULL_MODEL:
                    result = estimate(left, right, settings)
                    disparity = result.disparity
                    if result.confidence is not None:
                        trust.append(float(result.confidence[np.isfinite(truth)].mean()))
                else:
                    disparity = compute_disparity(method, left, right, settings)
                errors.append(evaluate(disparity * scale, truth)["out-3px-all"])
            except InputError:
                refused += 1
        warned += bool(raised)
    scores = {"out-3px-all": mean(errors)} | ({"confidence": mean(trust)} if trust else {})
    return (
        scores | ({"refused": refused} if refused else {}) | ({"warned": warned} if warned else {})
    )


def mean(values: list[float]) -> float:
    """Return the rounded mean; NaN of nothing."""
    return round(float(np.mean(values)), 3) if values else float("nan")


def table(results: dict[str, dict[str, Any]]) -> str:
    """Return a Markdown table: the methods' errors, and in brackets slanted's confidence."""
    first = next(iter(results.values()))
    methods = " / ".join(next(iter(first.values())))
    lines = [f"| {methods} | {' | '.join(first)} |", "|---" * (len(first) + 1) + "|"]
    for name, row in results.items():
        cells = [" / ".join(map(cell, scores.values())) for scores in row.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(scores: dict[str, float]) -> str:
    """Return an error, and the confidence if there is one."""
    trust = f" ({scores['confidence']:.2f})" if "confidence" in scores else ""
    return f"{scores['out-3px-all']:.2f}{trust}"


if __name__ == "__main__":
    main()
