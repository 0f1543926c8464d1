"""A result as arrays and JSON: ``result.npz``, ``run.json`` and ``settings.toml``."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted import __version__
from slanted.errors import FileError
from slanted.labels import BoundaryLabel

if TYPE_CHECKING:
    from slanted.inference.pcbp import Iteration
    from slanted.model.energy import Energies
    from slanted.regions import Regions
    from slanted.result import Result

ARRAYS = "result.npz"
RECORD = "run.json"
SETTINGS = "settings.toml"
LEFT, RIGHT = "left.png", "right.png"
TRUTH = "ground_truth.pfm"
REMADE = ("disparity", "occluded")
"""Arrays that are stored for readers that know no slanted, and made again on loading."""


def json_text(data: Any) -> str:
    """Return data as JSON, with null for NaN and infinity, which JSON does not know."""
    return json.dumps(_only_finite(data), indent=1, allow_nan=False)


def _only_finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _only_finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_only_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def summarise(result: Result) -> dict[str, Any]:
    """Return what is worth printing of a result."""
    height, width = result.disparity.shape
    labels = np.bincount(result.labels, minlength=len(BoundaryLabel))
    weights = result.settings.model.weights
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
        "segments": result.regions.count,
        "boundaries": {label.name.lower(): int(labels[label]) for label in BoundaryLabel},
        "junctions": len(result.regions.junctions3) + len(result.regions.junctions4),
        "energy": result.energy,
        "bound": result.bound,
        "gap_percent": 100 * result.gap,
        "features": dataclasses.asdict(result.inference.energies),
        "energies": result.inference.energies.weighted(weights),
        "initial_energy": result.inference.initial_energy,
        "noise": result.inference.noise,
        "iterations": [dataclasses.asdict(iteration) for iteration in iterations],
        "rectification": (
            None if result.rectification is None else dataclasses.asdict(result.rectification)
        ),
        "seconds": {**result.seconds, "total": sum(result.seconds.values())},
    }


def encode_arrays(result: Result) -> bytes:
    """Return the arrays from which everything else can be made again, as NPZ."""
    inference = result.inference
    stream = io.BytesIO()
    optional: dict[str, Any] = {} if result.weights is None else {"weights": result.weights}
    np.savez_compressed(
        stream,
        **optional,
        matched=result.matched,
        segments=result.regions.labels,
        planes=inference.planes,
        labels=inference.labels,
        initial_planes=inference.initial_planes,
        confidence=inference.confidence,
        # These follow from the others; the first two are large, and not read again.
        disparity=result.disparity,
        occluded=result.occluded,
        edges=result.regions.edges,
        centres=result.regions.centre,
        histograms=np.asarray(result.regions.histograms),
        chi_squared=np.asarray(result.regions.chi_squared),
    )
    return stream.getvalue()


def read_result(folder: Path) -> Result:
    """Read a folder written by `Result.save`."""
    from slanted.inference.drawing import draw_disparity, drawn_range, hidden_pixels
    from slanted.inference.pcbp import Inference
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.regions import build_regions
    from slanted.result import Result
    from slanted.settings import Settings

    arrays = read_arrays(folder / ARRAYS)
    record = read_record(folder / RECORD)
    settings = Settings.load(folder / SETTINGS)
    try:
        regions = dataclasses.replace(
            build_regions(arrays["segments"]),
            histograms=arrays["histograms"],
            chi_squared=arrays["chi_squared"],
        )
        _check_arrays(arrays, regions)
        planes, weights = arrays["planes"], arrays.get("weights")
        inference = Inference(
            planes,
            arrays["labels"],
            arrays["initial_planes"],
            _features(folder, record),
            float(record["initial_energy"]),
            float(record["bound"]),
            tuple(_iteration(step) for step in record["iterations"]),
            arrays["confidence"],
            float(record["noise"]),
        )
        found, check = record["searched"], record["rectification"]
        searched = None if found is None else DisparityRange(int(found["low"]), int(found["high"]))
        limits = drawn_range(settings, searched, arrays["matched"])
        disparity = draw_disparity(regions, planes, *limits)
        return Result(
            disparity=disparity,
            matched=arrays["matched"],
            occluded=hidden_pixels(disparity),
            regions=regions,
            inference=inference,
            settings=settings,
            seconds={k: float(v) for k, v in record["seconds"].items() if k != "total"},
            searched=searched,
            rectification=None if check is None else RectificationCheck(**check),
            weights=weights,
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise FileError(
            folder, f"expected a result of slanted, but its parts do not fit ({error})"
        ) from error


def _features(folder: Path, record: dict[str, Any]) -> Energies:
    from slanted.model.energy import Energies

    names = [field.name for field in dataclasses.fields(Energies)]
    if set(names) != set(record.get("features", ())):
        raise FileError(folder, "was written by another version of slanted; run it again")
    return Energies(**{name: float(record["features"][name]) for name in names})


def _iteration(step: dict[str, Any]) -> Iteration:
    from slanted.inference.pcbp import Iteration

    return Iteration(
        float(step["energy"]),
        float(step["bound"]),
        int(step["sweeps"]),
        str(step["rule"]),
        int(step["segments"]),
    )


def _check_arrays(arrays: dict[str, Any], regions: Regions) -> None:
    """Raise a ValueError that names the first array of the wrong type, shape or range."""
    n, edges = regions.count, regions.number_of_edges
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "matched": ("f", regions.labels.shape),
        "planes": ("f", (n, 3)),
        "initial_planes": ("f", (n, 3)),
        "confidence": ("f", (n,)),
        "labels": ("i", (edges,)),
        "histograms": ("f", (n, 64)),
        "chi_squared": ("f", (edges,)),
    }
    if "weights" in arrays:
        expected["weights"] = ("f", regions.labels.shape)
    for name, (kind, shape) in expected.items():
        array = arrays[name]
        if array.dtype.kind != kind or array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
        if name not in ("matched", "confidence") and not np.isfinite(array).all():
            raise ValueError(f"{name} is not finite")
    if edges and not 0 <= arrays["labels"].min() <= arrays["labels"].max() < len(BoundaryLabel):
        raise ValueError("labels are out of range")


def read_arrays(path: Path) -> dict[str, Any]:
    """Read the arrays of ``result.npz`` by name."""
    from slanted.io import read_bytes

    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files if name not in REMADE}
    except (
        ValueError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error
    ) as error:  # fmt: skip
        raise FileError(path, f"expected the arrays of a result ({error})") from error


def read_record(path: Path) -> dict[str, Any]:
    """Read ``run.json``."""
    from slanted.io import read_bytes

    try:
        record = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"expected the record of a result as JSON ({error})") from error
    if not isinstance(record, dict):
        raise FileError(path, "expected the record of a result, a JSON object")
    return record
