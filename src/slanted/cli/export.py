"""``slanted export``: a result as point cloud, meshes and depth for other programs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report
from slanted.errors import MissingExtraError, SlantedWarning
from slanted.io.names import EXPORTS


@new_command(name="export", short_help="Write a result as meshes, point cloud and depth image.")
@click.argument("result", type=options.PATH)
@click.argument("names", nargs=-1, type=click.Choice(tuple(EXPORTS)), metavar="[FILE]...")
@options.output(None, "Folder to write to; by default the result's own.")
@option("--min-confidence", type=click.FloatRange(0, 1), metavar="P",
        help="Leave out pixels with a lower confidence; by default as the run "
        "did.")  # fmt: skip
@options.calibration
@options.report
def command(
    result: Path,
    names: tuple[str, ...],
    output: Path | None,
    min_confidence: float | None,
    report: Report,
    **calibration_values: Any,
) -> None:
    """Export the folder RESULT of `slanted run` as FILEs, by default as all of them.

    cloud.ply has every pixel but the sky as a coloured point; mesh.ply, mesh.glb and mesh.obj are
    the planes as one mesh, joined at coplanar and hinge boundaries and cut at occlusions, with the
    colours of the image (as a texture in GLB and OBJ); depth.png is 16 bit, in millimetres, 0 for
    unknown and for the sky. Lengths are in metres if the run was calibrated, or if --calib or --fx
    and --baseline are given, otherwise in baselines. Meshes need slanted[viewer]; without it they
    are left out, with a warning.
    """
    from slanted.io import write_bytes
    from slanted.output.export import Exportable, export, export_names
    from slanted.output.folder import check_folder
    from slanted.result_folder import open_result

    with report:
        folder = result if output is None else output
        check_folder(folder)
        report.progress("reading")
        opened = open_result(result)
        given = options.load_calibration(opened.result.disparity.shape[:2], **calibration_values)
        source = Exportable(opened.result, opened.left, given or opened.calibration, min_confidence)
        files: dict[str, bytes] = {}
        left_out: dict[str, str] = {}
        for name in names or export_names(calibrated=source.calibration is not None):
            report.progress(name)
            try:
                files |= export(name, source)
            except MissingExtraError as error:
                if names:
                    raise MissingExtraError(f"{name}: {error}; nothing was written") from error
                left_out[name] = str(error)
        for name, content in files.items():
            write_bytes(folder / name, content)
    for why in dict.fromkeys(left_out.values()):
        which = ", ".join(name for name, error in left_out.items() if error == why)
        warnings.warn(f"{which}: left out; {why}", SlantedWarning, stacklevel=1)
    if opened.result.doubts:
        doubts = "; ".join(opened.result.doubts)
        warnings.warn(f"the result is doubtful: {doubts}", SlantedWarning, stacklevel=1)
    lines = [f"wrote {', '.join(files)} to {folder}, in {source.unit}"]
    if opened.left is None:
        lines.append("the left image was not found: clouds and meshes are grey")
    data = {"files": list(files), "left_out": list(left_out), "output": str(folder)}
    report.outcome({**data, "unit": source.unit}, lines)
