"""What a run makes of dense disparity maps, such as those of networks: errors before and after.

python benchmarks/dense_input.py [--split validation] [--preset network] [--set KEY=VALUE …]

Maps of two matchers, with their holes filled, stand for weak networks. No strong one can be
shipped, so two made-up maps stand for it: ground truth where it is known, and slanted's own result
elsewhere, blurred across depth edges and with smooth noise, as networks' maps are (`clean`); and
the same with some of the patches where slanted is wrong (`oracle`, a D1 of about 2 %). Each map is
given to `slanted.estimate` as `disparity`; so are maps of other frames, which should be warned of.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import distance_transform_edt, label

from boundary_labels import precision_and_recall, steps
from common import frames_of, options, pair_of, record, told
from slanted import estimate
from slanted.boundary_label import BoundaryLabel
from slanted.errors import SlantedWarning
from slanted.evaluation.datasets import Frame
from slanted.evaluation.metrics import evaluate, mean_metrics
from slanted.images.colour import grey_pair
from slanted.matching.agreement import agreement_of
from slanted.matching.interpolation import interpolate_background
from slanted.pipeline import match_pair
from slanted.result import Result
from slanted.settings import Settings

Map = npt.NDArray[np.float32]
KINDS = ["sgbm", "census", "oracle", "clean"]
SHOWN = ("D1-all", "D1-noc", "out-1px-all", "out-2px-all")
BLUR = 1.5
"""Standard deviation, in pixels, of the Gaussian that blurs depth edges."""
REACH = 8
"""Pixels around ground truth that it speaks for."""
KEPT = 0.45
"""Share of the patches of wrong disparities that `oracle` keeps."""
WRONG = 2.0
"""Pixels from which on a disparity is one."""
OTHER = "agreement of another frame's map"
COUNTED = ("occlusion labels", "steps", "right labels")


def main() -> None:
    """Run all frames and kinds, and record the means."""
    chosen = options(
        __doc__, {"limit": 1, "split": "train"},
        split="validation", limit=0, preset="network", kinds=KINDS, set=[""],
    )  # fmt: skip
    changes = dict(each.split("=", 1) for each in chosen.set if each)
    settings = Settings.preset(chosen.preset).with_text(changes)
    rows: dict[str, list[dict[str, Any]]] = {}
    last: dict[str, Map] = {}
    for number, frame in enumerate(frames_of("kitti2015", chosen.split, chosen.limit)):
        pair, truth = pair_of(frame), frame.load_ground_truth()
        for kind, given in dense_maps(pair, truth[0], chosen.kinds, number):
            other = _cut(last.get(kind, given[::-1]), given.shape)
            row, result = scored(pair, given, truth, settings)
            row |= {OTHER: agreement(pair, other), **labelled(result, frame, settings)}
            rows.setdefault(kind, []).append(told({"frame": frame.name, "kind": kind, **row}))
            last[kind] = given
    record("dense_input", chosen, {kind: summary(found) for kind, found in rows.items()})


def scored(
    pair: tuple[Any, Any], given: Map, truth: tuple[Map, Map | None], settings: Settings
) -> tuple[dict[str, float], Result]:
    """Return the errors of a map and of the run that starts from it, and the run's result."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SlantedWarning)
        result = estimate(*pair, settings, disparity=given)
    labels = np.asarray(result.labels)
    shares = {each.name.lower(): 100 * float(np.mean(labels == each)) for each in BoundaryLabel}
    before, after = (
        evaluate(each, truth[0], ground_truth_noc=truth[1]) for each in (given, result.disparity)
    )
    row = {
        **{f"{name} before": before[name] for name in SHOWN},
        **{f"{name} after": after[name] for name in SHOWN},
        "occluded %": 100 * float(result.occluded.mean()),
        **{f"{name} %": share for name, share in shares.items()},
        "seconds": sum(result.seconds.values()),
        "agreement": agreement(pair, given),
        "warned": float(any("another pair" in str(one.message) for one in said)),
    }
    return row, result


def labelled(result: Result, frame: Frame, settings: Settings) -> dict[str, int]:
    """Return the numbers of occlusion labels, of true steps, and of those that agree."""
    counts = steps(result, frame, settings)
    return dict(zip(COUNTED, (int(count) for count in counts), strict=True))


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return means, and the extremes of what the warning rests on."""
    numbers = [{k: v for k, v in row.items() if isinstance(v, float)} for row in rows]
    least = min(row["agreement"] for row in numbers)
    most = max(row[OTHER] for row in numbers)
    means = {name: round(value, 3) for name, value in mean_metrics(numbers).items()}
    labels = precision_and_recall([np.array([row[name] for name in COUNTED]) for row in rows])
    ends = {"lowest agreement": least, "highest of others": most}
    return {"frames": len(rows), **means, **labels, **ends}


def dense_maps(
    pair: tuple[Any, Any], truth: Map, kinds: list[str], seed: int
) -> Iterator[tuple[str, Map]]:
    """Yield the dense maps of a pair."""
    own = estimate(*pair).disparity if {"oracle", "clean"} & set(kinds) else truth
    for kind in kinds:
        if kind in ("oracle", "clean"):
            yield kind, like_a_network(own, truth, KEPT if kind == "oracle" else 0.0, seed)
            continue
        settings = Settings().updated({"matching.method": kind, "matching.sgbm.grey": True})
        yield kind, interpolate_background(match_pair(*pair, settings)[0])


def like_a_network(own: Map, truth: Map, kept: float, seed: int) -> Map:
    """Return ground truth where it is near, blurred, with a share of the wrong patches of `own`."""
    rng = np.random.default_rng(seed)
    distance, nearest = distance_transform_edt(np.isnan(truth), return_indices=True)
    dense = np.where(distance <= REACH, truth[tuple(nearest)], own)
    patches, count = label(np.abs(dense - own) > WRONG)
    is_kept = rng.random(count + 1) < kept
    is_kept[0] = False
    dense = np.where(is_kept[patches], own, dense).astype(np.float32)
    dense = cv2.GaussianBlur(dense, (0, 0), BLUR)
    dense *= 1 + np.float32(0.005) * _smooth_noise(dense.shape, 12.0, rng)
    dense += np.float32(0.2) * _smooth_noise(dense.shape, 3.0, rng)
    return np.maximum(dense, 0)


def _smooth_noise(shape: tuple[int, ...], sigma: float, rng: np.random.Generator) -> Map:
    rough = rng.normal(size=shape).astype(np.float32)
    smooth = cv2.GaussianBlur(rough, (0, 0), sigma)
    return np.asarray(smooth / smooth.std(), np.float32)


def agreement(pair: tuple[Any, Any], given: Map) -> float:
    """Return the agreement of a map with a pair; NaN if it says too little."""
    found = agreement_of(grey_pair(*pair), given)
    return float("nan") if found is None else found


def _cut(given: Map, shape: tuple[int, ...]) -> Map:
    """Return a map in another size; pixels beyond it are unknown."""
    cut = np.full(shape, np.nan, np.float32)
    height, width = (min(sides) for sides in zip(given.shape, shape, strict=True))
    cut[:height, :width] = given[:height, :width]
    return cut


if __name__ == "__main__":
    main()
