"""Targets within a folder that slanted wrote: a record, arrays, a checkpoint, a log."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import bombs
from fuzz.target import Target, file_target
from slanted.errors import SlantedError

MEMBERS = ("segments", "matched", "planes", "labels", "initial_planes", "confidence", "histograms",
           "chi_squared", "weights", "margins", "deviation", "sky")  # fmt: skip


@cache
def result_folder() -> dict[str, bytes]:
    """Return the files of a small result by name."""
    import slanted
    from slanted.synthetic import make_scene

    scene = make_scene(40, 32, segments=6, objects=1, max_disparity=16, seed=1)
    names = {"inference.iterations": "1", "refinement.rounds": "0", "segmentation.count": "6"}
    settings = slanted.Settings().with_text(names)
    result = slanted.estimate(
        scene.left, scene.right, settings, disparity=scene.disparity, segments=scene.segments
    )
    ramp = np.linspace(0, 1, result.disparity.size).reshape(result.disparity.shape)
    result = dataclasses.replace(result, confidence=ramp, deviation=ramp)
    with tempfile.TemporaryDirectory() as folder:
        result.save(folder, scene.left, scene.right)
        kept = ("result.npz", "run.json", "settings.toml", "left.png", "right.png")
        return {name: (Path(folder) / name).read_bytes() for name in kept}


def _open(folder: Path, changed: dict[str, bytes]) -> None:
    from slanted.result_folder import open_result

    place = folder / "result"
    if not place.exists():
        place.mkdir()
        for name, data in result_folder().items():
            (place / name).write_bytes(data)
    try:
        for name, data in changed.items():
            (place / name).write_bytes(data)
        opened = open_result(place)
        opened.result.summary()
        assert np.isfinite(opened.result.disparity).all()
    finally:
        for name in changed:
            (place / name).write_bytes(result_folder()[name])


def read_as_npz(folder: Path, data: bytes) -> None:
    """Describe the input as an archive, and open a result whose arrays it holds."""
    from slanted.io import describe

    file = folder / "arrays.npz"
    file.write_bytes(data)
    with suppress(SlantedError):
        describe(file)
    _open(folder, {"result.npz": data})


def read_as_member(folder: Path, data: bytes) -> None:
    """Open a result of which one array is the input; the first byte says which."""
    name = MEMBERS[data[0] % len(MEMBERS)] if data else MEMBERS[0]
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(result_folder()["result.npz"])) as old,
        zipfile.ZipFile(stream, "w") as new,
    ):
        for member in old.namelist():
            if member != f"{name}.npy":
                new.writestr(member, old.read(member))
        new.writestr(f"{name}.npy", data[1:])
    _open(folder, {"result.npz": stream.getvalue()})


def _npz_bombs() -> list[bytes]:
    """Return archives of zeros, one of which claims to be the segments of a large image."""
    size = 1500, 1400
    return [*bombs.seeds(".npz"), bombs.npz({"segments": ("<i4", size, 4 * size[0] * size[1])})]


def _member_seeds() -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(result_folder()["result.npz"])) as stored:
        there = {Path(name).stem: stored.read(name) for name in stored.namelist()}
    return [bytes([k]) + there[name] for k, name in enumerate(MEMBERS) if name in there]


_STEP = {"weights": [1.0], "epsilon": 0.1, "max_sweeps": 3, "value": 1.0, "gradient": [0.5],
         "sweeps": 2, "seconds": 0.1}  # fmt: skip


def read_as_checkpoint(folder: Path, data: bytes) -> None:
    """Read the state of a learning run whose steps are the input."""
    from slanted.learning.checkpoint import Checkpoint

    place = folder / "checkpoint"
    place.mkdir(exist_ok=True)
    (place / "run.json").write_text("{}")
    (place / "steps.json").write_bytes(data)
    np.savez(place / "messages-000001.npz", **{"0/a": np.zeros(3)})
    checkpoint = Checkpoint(place, {})
    checkpoint.load()
    checkpoint.load_messages(1)


def read_batch_record(file: Path) -> None:
    """Read the record of a pair in a batch, and make a row of the summary."""
    from slanted.batch.records import is_same, read_record, row_of

    record = read_record(file)
    if record is not None:
        is_same(record, "a", "b")
        row_of(record)


def read_as_batch_summary(folder: Path, data: bytes) -> None:
    """Make the page of a batch whose summary is the input, and look for its results."""
    from slanted.batch.summary import find_results
    from slanted.report.batch import build_index

    place = folder / "batch"
    (place / "a/b").mkdir(parents=True, exist_ok=True)
    (place / "a/b/run.json").touch()
    (place / "summary.jsonl").write_bytes(data)
    build_index(place, folder, "title", lambda name: None)
    find_results(place)


def read_log(file: Path) -> Any:
    """Read the log of a search."""
    from slanted.research.tuning.log import TuningLog

    return TuningLog(file, "s", (), ())


def _log_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.csv"
        log = read_log(file)
        head = file.read_bytes()
    row = ",".join(["s", "0", "a pair", *["1.5"] * (len(log.columns) - 5), "2.0", ""])
    return [head, head + row.encode() + b"\n"]


_JSON_WORDS = (b"null", b"{}", b"[]", b'"x"', b"1e999", b"-1", b"true", b'{"a": 1}', b"NaN",
               b'"energy": ', b'"iterations": [', b'"../../x"')  # fmt: skip

RESULTS = (
    Target("record", lambda folder, data: _open(folder, {"run.json": data}),
           lambda: [result_folder()["run.json"], *bombs.seeds(".json")], _JSON_WORDS),
    Target("npz", read_as_npz, lambda: [result_folder()["result.npz"], *_npz_bombs()]),
    Target("arrays", read_as_member, _member_seeds, (b"'<f8'", b"'<i4'", b"'|O'", b"(0, 99999")),
    Target("checkpoint", read_as_checkpoint,
           lambda: [json.dumps({"messages": "messages-000001.npz",
                                "evaluations": [_STEP]}).encode()], _JSON_WORDS),
    file_target("batch-record", "record.json", read_batch_record,
           lambda: [json.dumps({"name": "a", "settings": "a", "inputs": "b", "warnings": ["w"],
                                "versions": {"slanted": "1"}, "seconds": {"total": 1}}).encode()],
           _JSON_WORDS),
    Target("batch-summary", read_as_batch_summary,
           lambda: [json.dumps({"name": "a/b", "status": "done", "width": 3, "energy": 1.5,
                                "warnings": "w", "error": None}).encode()],
           (*_JSON_WORDS, b"../", b"\n")),
    file_target("log", "log.csv", read_log, _log_seeds, (b",", b"\n", b'"', b"s,0,")),
)  # fmt: skip
