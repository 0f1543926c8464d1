"""The data of a result on disk: ``result.npz``, ``run.json`` and ``settings.toml``."""

from __future__ import annotations

import dataclasses
import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted import __version__
from slanted.boundary_label import BoundaryLabel
from slanted.errors import FileError
from slanted.io.arrays import StoredArrays
from slanted.io.confidence import unpack_confidence
from slanted.io.files import atomic_path
from slanted.io.image_header import MAX_PIXELS
from slanted.io.names import ARRAYS, LEFT, RECORD, RIGHT, SETTINGS
from slanted.io.texts import read_json_object
from slanted.output.pixel_maps import pack_confidence, pack_deviation
from slanted.output.strangers import FEW_SEGMENTS, SMALL_RESULT, check_claims, only_inside
from slanted.output.summary_text import label_counts

if TYPE_CHECKING:
    from slanted.inference.outcome import Iteration
    from slanted.model.energy import Features
    from slanted.output.result_fields import ResultData
    from slanted.regions import Regions

EXPECTED = "the arrays of a result"
BYTES_A_PIXEL = 40
"""Memory per pixel that reading a result takes, the graph of its segments included."""
DRAWN_SINCE = {"finer": "model.strip_step", "relief": "model.relief"}
"""Entries of ``run.json``, and the settings that results of versions without them do not have."""


def json_text(data: Any) -> str:
    """Return data as JSON, with null for NaN and infinity, which JSON does not have."""
    return json.dumps(_only_finite(data), indent=1, allow_nan=False)


def _only_finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _only_finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_only_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def summarise(result: ResultData) -> dict[str, Any]:
    """Return the numbers of a result, for ``run.json`` and ``--json``."""
    height, width = result.disparity.shape
    weights = result.model.weights
    iterations = result.inference.iterations
    return {
        "version": __version__,
        "width": width,
        "height": height,
        "searched": None if result.searched is None else dataclasses.asdict(result.searched),
        "disparity_min": float(result.disparity.min()),
        "disparity_max": float(result.disparity.max()),
        "matched_percent": 100 * float(np.isfinite(result.matched).mean()),
        "occluded_percent": 100 * float(result.occluded.mean()),
        **_summarise_confidence(result),
        "segments": result.regions.count,
        "boundaries": label_counts(result.labels),
        "junctions": len(result.regions.junctions3) + len(result.regions.junctions4),
        "energy": result.energy,
        "bound": result.bound,
        "gap_percent": 100 * result.gap,
        "floor": result.inference.floor,
        "gap_above_floor_percent": 100 * result.gap_above_floor,
        "features": dataclasses.asdict(result.inference.features),
        "energies": result.inference.features.weighted(weights),
        "initial_energy": result.inference.initial_energy,
        "noise": result.inference.noise,
        "iterations": [dataclasses.asdict(iteration) for iteration in iterations],
        "rectification": (
            None if result.rectification is None else dataclasses.asdict(result.rectification)
        ),
        "doubts": list(result.doubts),
        "finer": result.finer,
        "coarser": result.coarser,
        "relief": 0.0 if result.confidence is None else result.settings.model.relief,
        "seconds": {**result.seconds, "total": sum(result.seconds.values())},
    }


def _summarise_confidence(result: ResultData) -> dict[str, Any]:
    confidence, rules = result.confidence, result.settings.confidence
    if confidence is None:
        return {}
    return {
        "confidence_median": float(np.median(confidence)),
        "low_confidence_percent": 100 * float((confidence < rules.low).mean()),
        "dropped_percent": 100 * float((confidence < rules.min).mean()),
    }


def write_arrays(path: Path, result: ResultData) -> None:
    """Write as NPZ the arrays that everything else can be computed from."""
    inference = result.inference
    is_small = result.disparity.size <= SMALL_RESULT and result.regions.count <= FEW_SEGMENTS
    save = np.savez_compressed if is_small else np.savez
    optional = {
        "weights": result.pixel_weights,
        "confidence": None if result.confidence is None else pack_confidence(result.confidence),
        "deviation": None if result.deviation is None else pack_deviation(result.deviation),
        "sky": result.sky,
    }
    arrays: dict[str, Any] = {
        **{name: array for name, array in optional.items() if array is not None},
        "matched": result.matched,
        "segments": result.regions.label_image,
        "planes": inference.planes,
        "labels": inference.labels,
        "initial_planes": inference.initial_planes,
        "margins": inference.margins,
        "disparity": result.disparity,
        # These follow from the others and are written for users; only the last two are read back.
        "occluded": result.occluded,
        "edges": result.regions.edges,
        "centres": result.regions.centre,
        "histograms": np.asarray(result.regions.histograms),
        "chi_squared": np.asarray(result.regions.chi_squared),
    }
    with atomic_path(path) as temporary:
        save(temporary, **arrays)


def read_result(folder: Path) -> dict[str, Any]:
    """Read a folder that `Result.save` wrote, and return the arguments of `Result`."""
    from slanted.output.result_inputs import check_size, read_view, recorded_calibration

    only_inside(folder, ARRAYS, RECORD, SETTINGS, LEFT, RIGHT)
    record = read_record(folder / RECORD)
    # Decoding large images takes as long as reading the arrays; both leave the interpreter free.
    with ThreadPoolExecutor(2) as pool:
        views = {name: pool.submit(read_view, folder / name) for name in (LEFT, RIGHT)}
        arguments = _read_arguments(folder, record)
    size = arguments["disparity"].shape
    left, right = (check_size(folder / name, view.result(), size) for name, view in views.items())
    calibration = recorded_calibration(folder, record)
    return {**arguments, "left": left, "right": right, "calibration": calibration}


def _read_arguments(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments of a `Result` but the pair and its calibration."""
    from slanted.inference.outcome import Inference
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.model.drawing import draw_result, hidden_pixels
    from slanted.regions import build_regions
    from slanted.settings import Settings
    from slanted.settings.tree import FORMERLY

    settings = Settings.load(folder / SETTINGS, Settings().updated(FORMERLY))
    settings = settings.with_text({v: "0" for k, v in DRAWN_SINCE.items() if k not in record})
    try:
        finer, coarser = float(record.get("finer", 1)), int(record.get("coarser", 1))
        if not (0 < finer < math.inf and coarser > 0):
            raise ValueError(f"its grid is {finer} and {coarser} times another")
        with StoredArrays(folder / ARRAYS, EXPECTED) as stored:
            check_claims(folder, math.prod(stored.header("segments").shape))
            labels = read_segments(stored)
            check_claims(folder, labels.size, int(labels.max(initial=0)))
            regions = build_regions(labels)
            arrays = _read_arrays(stored, regions)
        regions = dataclasses.replace(
            regions, histograms=arrays["histograms"], chi_squared=arrays["chi_squared"]
        )
        planes = arrays["planes"]
        inference = Inference(
            planes,
            arrays["labels"],
            arrays["initial_planes"],
            _features(folder, record),
            float(record["initial_energy"]),
            float(record["bound"]),
            tuple(_iteration(step) for step in record["iterations"]),
            arrays["margins"],
            float(record["noise"]),
            _floor(record.get("floor")),
        )
        found, check = record["searched"], record["rectification"]
        searched = None if found is None else DisparityRange(int(found["low"]), int(found["high"]))
        drawn = draw_result(regions, planes, settings, searched, arrays["matched"])
        return {
            # Results of older versions are their planes; today's may have relief.
            "disparity": arrays["disparity"] if "relief" in record else drawn,
            "matched": arrays["matched"],
            "occluded": hidden_pixels(drawn),
            "regions": regions,
            "inference": inference,
            "settings": settings,
            "seconds": {k: float(v) for k, v in record["seconds"].items() if k != "total"},
            "searched": searched,
            "rectification": None if check is None else RectificationCheck.from_record(check),
            "pixel_weights": arrays.get("weights"),
            "finer": finer,
            "coarser": coarser,
            "doubts": tuple(str(doubt) for doubt in record.get("doubts", ())),
            **_pixel_maps(arrays),
        }
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise FileError(
            folder, f"expected a result of slanted, but its parts do not fit ({error})"
        ) from error


def _pixel_maps(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the maps that only some results have, in the types of a result."""
    confidence, deviation = arrays.get("confidence"), arrays.get("deviation")
    return {
        "confidence": None if confidence is None else unpack_confidence(confidence),
        "deviation": None if deviation is None else deviation.astype(np.float32),
        "sky": arrays.get("sky"),
    }


def _features(folder: Path, record: dict[str, Any]) -> Features:
    from slanted.model.energy import Features
    from slanted.settings.renames import RENAMED

    # A potential's weight and feature share a name, even where both were renamed; the warning about
    # old names comes once, when the settings are read.
    prefix, stored = "model.weights.", record.get("features", {})
    features = {RENAMED.get(prefix + k, k).removeprefix(prefix): v for k, v in stored.items()}
    names = [field.name for field in dataclasses.fields(Features)]
    if set(names) != set(features):
        raise FileError(folder, "was written by another version of slanted; run it again")
    return Features(**{name: float(features[name]) for name in names})


def _iteration(step: dict[str, Any]) -> Iteration:
    from slanted.inference.outcome import Iteration

    kinds = {"energy": float, "bound": float, "sweeps": int, "rule": str, "segments": int}
    return Iteration(*(kind(step[name]) for name, kind in kinds.items()))


def read_segments(stored: StoredArrays) -> Any:
    """Return the label image of a result, if there is memory for a result of its size.

    Zeros compress a thousandfold: an honest file of a megabyte can hold an image of a gigabyte.
    """
    from slanted.runtime.memory import available_bytes

    most = min(MAX_PIXELS, available_bytes() // BYTES_A_PIXEL)
    return stored.read("segments", "i", (None, None), most)


def _read_arrays(stored: StoredArrays, regions: Regions) -> dict[str, Any]:
    """Return the other arrays; a ValueError names the first that does not fit."""
    n, edges, size = regions.count, regions.number_of_edges, regions.label_image.shape
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "disparity": ("f", size),
        "matched": ("f", size),
        "planes": ("f", (n, 3)),
        "initial_planes": ("f", (n, 3)),
        "margins": ("f", (n,)),
        "labels": ("i", (edges,)),
        "histograms": ("f", (n, 64)),
        "chi_squared": ("f", (edges,)),
    }
    optional = {"weights": "f", "confidence": "u", "deviation": "f", "sky": "b"}
    is_old = "margins" not in stored  # early versions called the margins confidence
    if is_old:
        del optional["confidence"]
    expected |= {name: (kind, size) for name, kind in optional.items() if name in stored}
    arrays = {}
    for name, (kind, shape) in expected.items():
        stored_name = "confidence" if is_old and name == "margins" else name
        arrays[name] = stored.read(stored_name, kind, shape, math.prod(shape))
        if name not in ("matched", "margins") and not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not finite")
    if "confidence" in arrays and arrays["confidence"].dtype != np.uint16:
        raise ValueError("confidence is not of 16 bits")
    labels = arrays["labels"]
    if edges and not 0 <= labels.min() <= labels.max() < len(BoundaryLabel):
        raise ValueError("labels are out of range")
    return arrays


def _floor(value: Any) -> float:
    """Return the floor of a record; results of older versions have none."""
    return math.nan if value is None else float(value)


def read_record(path: Path) -> dict[str, Any]:
    """Read ``run.json``."""
    return read_json_object(path, "the record of a result")
