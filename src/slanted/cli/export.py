"""``slanted export``: a result as point cloud, meshes and depth for other programs."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report
from slanted.cli.terminal import note
from slanted.errors import InputError, MissingExtraError, SlantedError, SlantedWarning, plural
from slanted.io.names import EXPORTS

if TYPE_CHECKING:
    from slanted.io import Calibration


@new_command(name="export", short_help="Write a result as meshes, point cloud and depth image.")
@click.argument("result", type=options.PATH)
@click.argument("names", nargs=-1, type=click.Choice(tuple(EXPORTS)), metavar="[FILE]...")
@option("--pair", metavar="NAME",
        help="Export only this pair of a batch, as if RESULT were its folder.")  # fmt: skip
@options.output(None, "Folder to write to, with one for each pair of a batch; by default the "
                "result's own.")  # fmt: skip
@option("--min-confidence", type=click.FloatRange(0, 1), metavar="P",
        help="Leave out pixels with a lower confidence; by default as the run "
        "did.")  # fmt: skip
@option("--max-depth", type=click.FloatRange(0, min_open=True), metavar="M",
        help="End clouds and meshes at this depth in metres (baselines without a calibration); by "
        "default as the run did, usually where one pixel of disparity is a sixth of the "
        "depth.")  # fmt: skip
@options.calibration
@options.report
def command(
    result: Path,
    names: tuple[str, ...],
    pair: str | None,
    output: Path | None,
    min_confidence: float | None,
    max_depth: float | None,
    report: Report,
    **calibration_values: Any,
) -> None:
    """Export the folder RESULT of `slanted run` as FILEs, by default as all of them.

    RESULT may be the folder of a `slanted batch`, all of whose pairs, or only that of --pair, are
    exported; one that cannot be is named, the others go on, and the exit code is then 1. cloud.ply
    has every pixel that is neither sky nor too far as a coloured point; mesh.ply, mesh.glb and
    mesh.obj are the planes as one mesh, joined at coplanar and hinge boundaries and cut at
    occlusions, with the colours of the image (as a texture in GLB and OBJ); depth.png is 16 bit, in
    millimetres, 0 for unknown and for the sky. Lengths are in metres if the run was calibrated, or
    if --calib or --fx and --baseline are given, otherwise in baselines. Meshes need
    slanted[viewer]; without it they are left out, with a warning.
    """
    from slanted.batch.summary import find_result, is_batch
    from slanted.output.folder import check_folder

    calibration = options.calibration_source(**calibration_values)
    asked = Asked(names, min_confidence, max_depth, calibration)
    if output is not None:
        check_folder(output)
    if not is_batch(result):
        options.refuse_without("the folder of a batch", {"--pair": pair})
    elif pair is not None:
        result = find_result(result, pair)
    else:
        _export_batch(result, output, asked, report)
        return
    with report:
        done = _export(result, output or result, asked, report)
    _warn(done)
    report.outcome(done.data(), done.lines())


def _export_batch(batch: Path, output: Path | None, asked: Asked, report: Report) -> None:
    """Export all pairs of a batch; one that cannot be exported is told, and the others go on."""
    from slanted.batch.pairs import output_folder
    from slanted.batch.summary import find_results

    places = find_results(batch)
    _check_calibrations(places, asked)
    every: dict[str, Exported] = {}
    failed: dict[str, str] = {}
    with report:
        for number, (name, place) in enumerate(places.items(), 1):
            report.progress(f"{number}/{len(places)} {name}")
            try:
                folder = place if output is None else output_folder(output, name)
                every[name] = _export(place, folder, asked)
            except MissingExtraError:  # of the machine, not of the pair
                raise
            except SlantedError as error:
                failed[name] = str(error)
    for name, done in every.items():
        _warn(done, f"{name}: ")
    for name, why in failed.items():
        note(f"slanted: error: {name}: not exported; {why}")
    to = batch if output is None else output
    data = {"output": str(to), "pairs": {name: done.data() for name, done in every.items()}}
    alike = Counter((", ".join(done.files), done.unit) for done in every.values())
    lines = [
        f"wrote {files} of {plural(count, 'pair')} to {to}, in {unit}"
        for (files, unit), count in alike.items()
    ]
    if failed:
        lines.append(f"not exported: {len(failed)} of {plural(len(places), 'pair')}")
    report.outcome({**data, "failed": failed}, lines)
    if failed:
        sys.exit(1)


def _check_calibrations(places: Mapping[str, Path], asked: Asked) -> None:
    """Refuse depth of pairs without calibration, and one of other images, before all work."""
    from slanted.batch.summary import some_names
    from slanted.io.names import RECORD
    from slanted.output.result_data import read_record
    from slanted.output.strangers import only_inside

    without = []
    for name, place in places.items():
        try:
            only_inside(place, RECORD)
            record = read_record(place / RECORD)
        except SlantedError:  # the pair fails when its turn comes
            continue
        size = record.get("height"), record.get("width")
        if asked.calibration is None:
            without += [name] if record.get("calibration") is None else []
        elif isinstance(size[0], int) and isinstance(size[1], int):
            asked.calibration((size[0], size[1]))
    if without and "depth.png" in asked.names:
        raise InputError(
            "depth.png: expected calibrated pairs, because it is in millimetres, but "
            f"{len(without)} of {len(places)} have no calibration ({some_names(without)}); give "
            "--calib, or --fx and --baseline, or leave it out"
        )


@dataclass(frozen=True)
class Asked:
    """What the user asked for: the files, by default all; thresholds; a calibration by size."""

    names: tuple[str, ...]
    min_confidence: float | None
    max_depth: float | None
    calibration: Callable[[tuple[int, int]], Calibration] | None


@dataclass(frozen=True)
class Exported:
    """What was written of one result, what was left out and why, and what to say about it."""

    folder: Path
    files: list[str]
    left_out: dict[str, str]
    unit: str
    doubts: tuple[str, ...]
    is_grey: bool

    def data(self) -> dict[str, Any]:
        """Return the outcome for ``--json``."""
        data = {"files": self.files, "left_out": list(self.left_out), "output": str(self.folder)}
        return {**data, "unit": self.unit}

    def lines(self) -> list[str]:
        """Return the outcome as lines."""
        line = f"wrote {', '.join(self.files)} to {self.folder}, in {self.unit}"
        grey = "the left image was not found: clouds and meshes are grey"
        return [line, grey] if self.is_grey else [line]


def _export(result: Path, folder: Path, asked: Asked, report: Report | None = None) -> Exported:
    """Write the exports of one result to a folder."""
    from slanted.io import write_bytes
    from slanted.output.export import Exportable, export, export_names
    from slanted.output.folder import check_folder
    from slanted.result_folder import open_result

    check_folder(folder)
    progress = (lambda text: None) if report is None else report.progress
    progress("reading")
    opened = open_result(result)
    calibration = opened.calibration
    if asked.calibration is not None:
        height, width = opened.result.disparity.shape
        calibration = asked.calibration((height, width))
    thresholds = asked.min_confidence, asked.max_depth
    source = Exportable(opened.result, opened.left, calibration, *thresholds)
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for name in asked.names or export_names(calibrated=calibration is not None):
        progress(name)
        try:
            files |= export(name, source)
        except MissingExtraError as error:
            if asked.names:
                raise MissingExtraError(f"{name}: {error}; nothing was written") from error
            left_out[name] = str(error)
    for name, content in files.items():
        write_bytes(folder / name, content)
    return Exported(
        folder, list(files), left_out, source.unit, opened.result.doubts, opened.left is None
    )


def _warn(done: Exported, start: str = "") -> None:
    """Warn of what was left out, and of a doubtful result."""
    for why in dict.fromkeys(done.left_out.values()):
        which = ", ".join(name for name, error in done.left_out.items() if error == why)
        warnings.warn(f"{which}: left out; {why}", SlantedWarning, stacklevel=1)
    if done.doubts:
        doubts = "; ".join(done.doubts)
        warnings.warn(f"{start}the result is doubtful: {doubts}", SlantedWarning, stacklevel=1)
