"""Which pairs are refused, warned about or straightened: good ones, and pairs of no one scene.

python benchmarks/plausibility.py [--markdown]

Good pairs are all of KITTI, Middlebury, Middlebury 2001 and Motorcycle. The others are made from
them: another frame's right view, another camera's, swapped, mirrored, turned, black, constant,
negative, noise, too low. Pairs are matched, not explained. With --markdown the table of
docs/matching.md is printed, and no JSON.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt

from common import SMOKE, data_folder, options, pair_of, record, say
from slanted.errors import InputError, SlantedWarning
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.settings import Settings
from slanted.stages.matching import first_look, match
from slanted.stages.pair_run import prepare

SETS = {"kitti2015": "kitti2015", "middlebury": "middlebury", "middlebury2001": "middlebury"}
"""The format of each folder."""
GOOD = "good pairs"
STEP = 8
"""Every so many good pairs are spoilt."""

Image = npt.NDArray[np.uint8]
Pair = tuple[Image, Image]


def main() -> None:
    """Judge all pairs; record, or print the table."""
    chosen = options(__doc__, {}, markdown=False)
    rows: dict[str, list[dict[str, float]]] = {}
    for kind, (left, right) in all_pairs():
        rows.setdefault(kind, []).append(judged(left, right))
    table = {kind: summary(found) for kind, found in rows.items()}
    if not chosen.markdown:
        record("plausibility", chosen, table)
        return
    columns = list(table[GOOD])
    say(f"| | {' | '.join(columns)} |")
    say("|---" * (len(columns) + 1) + "|")
    for kind, row in table.items():
        say(f"| {kind} | {' | '.join(str(row[column]) for column in columns)} |")


def summary(found: list[dict[str, float]]) -> dict[str, float | str]:
    """Return counts of verdicts, and the ranges of what they rest on."""

    def span(name: str) -> str:
        shares = [100 * each[name] for each in found if np.isfinite(each[name])]
        return f"{min(shares):.0f} to {max(shares):.0f} %" if shares else "–"

    counts = {name: sum(int(each[name]) for each in found)
              for name in ("refused", "warned", "straightened")}  # fmt: skip
    shares = {"pixels matched": span("matched"), "features that agree": span("consistent")}
    return {"pairs": len(found), **counts, **shares}


def judged(left: Image, right: Image) -> dict[str, float]:
    """Return the verdict on a pair, and what it rests on."""
    found = {"refused": 0.0, "straightened": 0.0, "matched": np.nan, "consistent": np.nan}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SlantedWarning)
        for check in ("refuse", "warn"):
            settings = Settings().with_text({"rectification.check": check})
            try:
                with prepare(left, right, settings, None) as pair:
                    run, look = first_look(pair)
                    if look.rectification is not None:
                        found["consistent"] = look.rectification.consistent_share
                        found["straightened"] = float(look.rectification.corrected)
                    found["matched"] = float(np.isfinite(match(run, look).disparity).mean())
                break
            except InputError:
                found["refused"] = 1.0
    return {**found, "warned": float(bool(told) and not found["refused"])}


def all_pairs() -> Iterator[tuple[str, Pair]]:
    """Return the kind of each pair, and the pair."""
    folders = {data_folder() / name: kind for name, kind in SETS.items()}
    good = [
        frame
        for folder, kind in folders.items()
        if folder.is_dir()
        for frame in find_frames(kind, folder, "all")
    ]
    for frame in good:
        yield GOOD, pair_of(frame)
    if not SMOKE:
        yield GOOD, load_motorcycle()[:2]
    for number, frame in enumerate(good[::STEP]):
        left, _ = pair_of(frame)
        other = pair_of(good[(STEP * number + 2) % len(good)])[1]
        yield "the right view of another frame", (left, _sized(other, left))
        far = pair_of(good[-1 - number])[1]
        yield "the right view of another camera", (left, _sized(far, left))
    for number, frame in enumerate(good[:: 3 * STEP]):
        yield from spoilt(*pair_of(frame), np.random.default_rng(number))


def spoilt(left: Image, right: Image, rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    """Return pairs of no one scene."""
    yield "swapped", (right, left)
    yield "both mirrored", (left[:, ::-1].copy(), right[:, ::-1].copy())
    yield "right view mirrored", (left, right[:, ::-1].copy())
    yield "right view upside down", (left, right[::-1].copy())
    yield "right view turned by 90°", (left, _sized(np.rot90(right).copy(), left))
    yield "right view negative", (left, 255 - right)
    yield "right view black", (left, np.zeros_like(right))
    yield "constant", (np.full_like(left, 128), np.full_like(right, 90))
    yield "noise", tuple(_noise(left.shape, rng) for _ in "lr")  # type: ignore[misc]
    yield "smooth noise", tuple(_noise(left.shape, rng, 4.0) for _ in "lr")  # type: ignore[misc]
    yield "15 px too low", (left, np.roll(right, 15, axis=0))


def _noise(shape: tuple[int, ...], rng: np.random.Generator, smooth: float = 0.0) -> Image:
    rough = rng.normal(0, 1, shape)
    if smooth:
        rough = cv2.GaussianBlur(rough, (0, 0), smooth)
    return np.clip(128 + 50 * rough / rough.std(), 0, 255).astype(np.uint8)


def _sized(image: Image, like: Image) -> Image:
    return cv2.resize(image, like.shape[1::-1])  # type: ignore[return-value]


if __name__ == "__main__":
    main()
