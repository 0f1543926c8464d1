"""``slanted export``: a result as clouds, meshes and depth for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from slanted.cli.options import (
    PathArgument,
    calibration_options,
    load_calibration,
    report_options,
)
from slanted.cli.progress import Report
from slanted.output.export_files import FILES


@click.command(name="export", short_help="Write a result as meshes, point cloud and depth image.")
@click.argument("result", type=PathArgument)
@click.argument("names", nargs=-1, type=click.Choice(tuple(FILES)), metavar="[FILE]...")
@click.option("-o", "--output", type=PathArgument, metavar="DIR",
              help="Folder to write to; by default the result's own.")  # fmt: skip
@calibration_options
@report_options
def command(
    result: Path,
    names: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **calibration_values: Any,
) -> None:
    """Export the folder RESULT of `slanted run` as FILEs, by default as all of them.

    cloud.ply is every pixel as a coloured point; mesh.ply, mesh.glb and mesh.obj are the planes as
    one mesh, joined at coplanar and hinge boundaries and cut at occlusions, with the image's
    colours (as a texture in GLB and OBJ); depth.png is 16 bit, millimetres, 0 for unknown. Lengths
    are metres if the run was calibrated or --calib or --fx and --baseline are given, otherwise
    baselines.
    """
    from slanted.io import write_bytes
    from slanted.output.export import Exportable, export, export_names
    from slanted.output.folder import check_folder
    from slanted.output.opened import open_result

    with Report(quiet=quiet, as_json=as_json) as report:
        folder = result if output is None else output
        check_folder(folder)
        report.progress("reading")
        opened = open_result(result)
        given = load_calibration(opened.result.disparity.shape[:2], **calibration_values)
        source = Exportable(opened.result, opened.left, given or opened.calibration)
        files: dict[str, bytes] = {}
        for name in names or export_names(calibrated=source.calibration is not None):
            report.progress(name)
            files |= export(name, source)
        for name, content in files.items():
            write_bytes(folder / name, content)
    lines = [f"wrote {', '.join(files)} to {folder}, in {source.unit}"]
    if opened.left is None:
        lines.append("the left image was not found: clouds and meshes are grey")
    report.outcome({"files": list(files), "output": str(folder), "unit": source.unit}, lines)
