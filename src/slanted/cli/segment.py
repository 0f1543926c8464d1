"""``slanted segment``: superpixels of one image."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report

if TYPE_CHECKING:
    from slanted.settings import Settings


@new_command(name="segment", short_help="Cut one image into superpixels.")
@click.argument("image", type=options.PATH)
@options.output("slanted-segments", "Folder to write to.")
@option("--disparity", type=options.PATH, metavar="FILE",
        help="Initial disparity, for segmentation.method=slic+disparity.")  # fmt: skip
@options.scale("--disparity")
@options.settings
@options.report
def command(
    settings: Settings,
    image: Path,
    output: Path,
    disparity: Path | None,
    disparity_scale: float | None,
    report: Report,
) -> None:
    """Cut IMAGE into superpixels; write labels, pictures and, for UCM methods, the contour map.

    Without --disparity, the method slic+disparity means slic.
    """
    from slanted.images.checks import check_image
    from slanted.io import read_disparity, write_image, write_label_image
    from slanted.io.names import SEGMENTS
    from slanted.output.folder import file_names, segments_folder
    from slanted.output.legends import Legend, with_legend
    from slanted.output.overlays import colour_segments, paint_regions, regions_legend
    from slanted.output.pictures import grey_strength, strength_legend
    from slanted.regions import build_regions
    from slanted.segmentation import make_ucm, segment

    chosen = settings.segmentation
    if disparity is None and chosen.method == "slic+disparity":
        chosen = dataclasses.replace(chosen, method="slic")  # one image has no disparity to see
    if chosen.method != "slic+disparity":
        options.refuse_without("segmentation.method=slic+disparity", {"--disparity": disparity})
    if disparity is None:
        options.refuse_without("--disparity", {"--disparity-scale": disparity_scale})
    with report:
        pixels = check_image(str(image), image)
        given = None
        if disparity is not None:
            given = read_disparity(disparity, scale=disparity_scale)
        options.check_size(disparity, given, pixels)
        report.progress("segmentation")
        ucm = None
        if "ucm" in chosen.method:
            ucm = make_ucm(pixels, chosen)
        regions = build_regions(segment(pixels, chosen, given, ucm), pixels)
        with segments_folder(output, fsync=settings.fsync) as folder:
            write_label_image(folder / SEGMENTS, regions.label_image)
            painted = with_legend(paint_regions(pixels, regions), regions_legend())
            means = Legend("segments in their mean colours")
            write_image(folder / "segments_colour.png", painted)
            mean_colours = with_legend(colour_segments(regions, pixels), means)
            write_image(folder / "segments_mean.png", mean_colours)
            if ucm is not None:
                strength = ucm.picture()
                contours = with_legend(grey_strength(strength), strength_legend(strength))
                write_image(folder / "ucm.png", contours)
            files = file_names(folder)
    counts = {
        "method": chosen.method,
        "segments": regions.count,
        "boundaries": regions.number_of_edges,
        "junctions3": len(regions.junctions3),
        "junctions4": len(regions.junctions4),
    }
    lines = [f"{name}: {number}" for name, number in counts.items()]
    lines.append(f"wrote {', '.join(files)} to {output}")
    report.outcome({**counts, "output": str(output), "files": files}, lines)
