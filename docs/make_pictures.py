"""Pictures of the README, the steps and the tutorial.

python docs/make_pictures.py [PART ...]

The parts are demo, pages, steps and tutorial. All but the last show Motorcycle, which ships inside
scikit-image. The part pages needs Chromium and the extra `test`; without Chromium it is left out.
Look at each picture before you commit it. With --smoke all is quicker and no picture is kept: to
see that the script works.
"""

from __future__ import annotations

import contextlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

import slanted
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.inference.outcome import Snapshot
from slanted.matching import census_sgm
from slanted.matching.disparity_range import disparity_range
from slanted.matching.interpolation import interpolate_background
from slanted.model.drawing import draw_disparity
from slanted.output.chart_drawing import draw_picture
from slanted.output.charts import energy_chart
from slanted.output.legends import Legend, with_legend
from slanted.output.overlays import (
    labels_legend,
    paint_boundaries,
    paint_labels,
    paint_regions,
    regions_legend,
)
from slanted.output.pictures import (
    colour_disparity,
    colour_error,
    colour_margins,
    colour_planes,
    error_legend,
    margins_legend,
    planes_legend,
)
from slanted.research.methods import compute_disparity
from slanted.segmentation import segment

Picture = NDArray[np.uint8]
Panel = tuple[Picture, Legend | str]
IMAGES = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parents[1] / "examples"
SMOKE = "--smoke" in sys.argv
SHRINK = 2 if SMOKE else 1
LARGEST = 140_000
"""Bytes of a picture."""
BROWSER = shutil.which("chromium")
FLAGS = ("--no-sandbox", "--no-first-run", "--disable-background-networking", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # fmt: skip
CROP = (slice(60 // SHRINK, 290 // SHRINK), slice(330 // SHRINK, 640 // SHRINK))
"""Handlebars and tank: thin things before near and far ones."""


def save(name: str, panels: Sequence[Panel], columns: int, width: int = 1080) -> None:
    """Write panels side by side, each with its legend or caption, as JPEG."""
    own = (width - 8 * (columns - 1)) // columns
    drawn = []
    for picture, legend in panels:
        height = round(own * picture.shape[0] / picture.shape[1])
        scale = cv2.INTER_AREA if own < picture.shape[1] else cv2.INTER_CUBIC
        shown = cv2.resize(picture, (own, height), interpolation=scale)
        drawn.append(with_legend(shown, Legend(legend) if isinstance(legend, str) else legend))
    rows = []
    for k in range(0, len(drawn), columns):
        row = drawn[k : k + columns]
        tallest = max(len(picture) for picture in row)
        padded = [
            np.pad(picture, ((0, tallest - len(picture)), (0, 8), (0, 0)), constant_values=255)
            for picture in row
        ]
        rows.append(np.hstack(padded)[:, :-8])
    write(name, np.vstack(rows))


def write(name: str, picture: Picture) -> None:
    """Write a JPEG of the best quality that is still small enough."""
    bgr = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    for quality in range(85, 30, -5):
        _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if len(data) < LARGEST:
            break
    if not SMOKE:
        (IMAGES / f"{name}.jpg").write_bytes(data.tobytes())


def demo() -> None:
    """Make the README's pictures of what ``slanted demo`` writes."""
    from slanted.cli import slanted as command_line

    with tempfile.TemporaryDirectory() as folder:
        preset = "fast" if SMOKE else "default"
        command = ["demo", "-o", folder, "--quiet", "--preset", preset]
        command_line.main(command, standalone_mode=False)
        for name, file, width in (
            ("motorcycle", "overview.png", 900),
            ("motorcycle-boundaries", "boundaries.png", 741),
        ):
            picture = slanted.read_image(Path(folder, file))
            height = round(width * picture.shape[0] / picture.shape[1])
            write(name, cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA))
        result = slanted.Result.load(folder)
    beside_sgbm(result)


def beside_sgbm(result: slanted.Result) -> None:
    """Make the README's first picture: a pair's left image, SGBM's disparity and slanted's."""
    left, right, truth = load_motorcycle()
    sgbm = compute_disparity("sgbm", left, right, slanted.Settings(), sparse=True)
    low, high = np.nanpercentile(truth, (1, 99))
    known = np.isfinite(truth)

    def wrong(disparity: NDArray[np.float32]) -> str:
        return f"{100 * np.mean(~(np.abs(disparity - truth) <= 3)[known]):.1f} %"

    filled = wrong(interpolate_background(sgbm))
    panels: list[Panel] = [
        (left, "left image (under the others: pixels off by > 3 px)"),
        (
            colour_disparity(sgbm, low, high),
            f"OpenCV SGBM: {wrong(sgbm)} with its holes, {filled} filled",
        ),
        (colour_disparity(result.disparity, low, high), f"slanted: {wrong(result.disparity)}"),
    ]
    save("motorcycle-beside-sgbm", panels, columns=3)


def pages() -> None:
    """Make the README's pictures of the report and of the viewer."""
    if BROWSER is None or SMOKE:  # tests of their own open both pages
        return
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "slanted"]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder, report = Path(name, "slanted-demo"), Path(name, "report.html")
        for _ in range(2):  # the first run may compile kernels
            subprocess.run([*command, "demo", "-o", folder, "--quiet"], check=True)
        subprocess.run([*command, "report", folder, "-o", report, "--quiet"], check=True)
        serve = [*command, "view", folder, "--no-browser", "--port", "0", "--quiet"]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        browser = driver.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            for picture, address, size, ready in (
                ("motorcycle-report", report.as_uri(), (1000, 750), "body"),
                ("motorcycle-viewer", found[0], (1120, 700), "#space-pane[data-key]"),
            ):
                shape = {"width": 1280, "height": 1280 * size[1] // size[0]}
                scheme = "dark" if picture.endswith("viewer") else "light"
                page = browser.new_page(viewport=shape, color_scheme=scheme)
                page.goto(address)
                page.wait_for_selector(ready)
                page.wait_for_timeout(3000)  # until the last tile and the mesh are drawn
                shot = np.frombuffer(page.screenshot(), np.uint8)
                shown = cv2.resize(cv2.imdecode(shot, 1), size, interpolation=cv2.INTER_AREA)
                write(picture, cv2.cvtColor(shown, cv2.COLOR_BGR2RGB))
        finally:
            browser.close()
            server.terminate()
            server.communicate(timeout=20)


def steps() -> None:
    """Make the pictures of the steps."""
    left, right, truth = (array[::SHRINK, ::SHRINK].copy() for array in load_motorcycle())
    truth /= SHRINK
    settings = slanted.Settings()
    states: list[Snapshot] = []
    result = slanted.estimate(left, right, settings, watch=states.append)
    regions, found = result.regions, result.inference
    low, high = np.nanquantile(truth, [0.01, 0.99])

    def near(disparity: NDArray[np.float32]) -> Picture:
        return colour_disparity(disparity, low, high)

    labels = paint_labels(left, regions, result.labels)
    planes = colour_planes(regions, result.planes)
    save(
        "steps",
        [
            (left, "the left image of a pair"),
            (near(result.matched), "1 matching: black is unknown"),
            (paint_boundaries(left, regions.label_image), "2 segments, one plane each"),
            (planes, "3 planes: colour is tilt, bright is near"),
            (labels, "4 boundaries: who hides whom"),
            (near(result.disparity), "5 the dense disparity"),
        ],
        columns=3,
    )
    searched = disparity_range(left, right, settings.matching)
    details = census_sgm.match(left, right, searched, settings.matching)
    sure = np.repeat(np.rint(255 * details.margin).astype(np.uint8)[..., None], 3, axis=2)
    save(
        "step-matching",
        [
            (left, "left image"),
            (near(result.matched), "D(p); black is unknown: hidden, or not sure"),
            (sure, "the matcher's confidence"),
        ],
        columns=3,
    )
    save(
        "step-segmentation",
        [
            (paint_boundaries(left, _segments(left, result, method))[CROP], method)
            for method in ("slic", "slic+disparity", "ucm", "slic+ucm")
        ],
        columns=4,
    )
    save(
        "step-model",
        [
            (paint_regions(left, regions)[CROP], regions_legend()),
            (planes[CROP], planes_legend()),
            (labels[CROP], labels_legend()),
        ],
        columns=3,
    )
    local = draw_disparity(regions, result.local_planes())
    save(
        "step-inference",
        [
            (colour_error(local, truth), error_legend("planes of each segment's own matches, px")),
            (colour_error(result.disparity, truth), error_legend("after inference, px")),
            (draw_picture(energy_chart(found, settings)), "energy and what it cannot fall below"),
        ],
        columns=3,
    )
    first = states[0]
    before = draw_disparity(first.regions, first.planes)
    save(
        "step-refinement",
        [
            (paint_boundaries(left, first.regions.label_image)[CROP], "segments at first"),
            (paint_boundaries(left, regions.label_image)[CROP], "moved and split"),
            (colour_error(before, truth)[CROP], error_legend("errors at first, px")),
            (colour_error(result.disparity, truth)[CROP], error_legend("in the end, px")),
        ],
        columns=4,
    )
    hidden = np.where(result.occluded[..., None], np.array([213, 94, 0], np.uint8), left // 2)
    save(
        "step-result",
        [
            (near(result.disparity), "disparity"),
            (hidden.astype(np.uint8), "occluded: not seen by the right camera"),
            (colour_margins(regions, result.margins), margins_legend(result.margins)),
        ],
        columns=3,
    )


def _segments(left: Picture, result: slanted.Result, method: str) -> NDArray[np.int32]:
    settings = slanted.Settings().with_text({"segmentation.method": method})
    return segment(left, settings.segmentation, result.matched)


def tutorial() -> None:
    """Make the tutorial's pictures, of the virtual cameras of the last example."""
    sys.argv = ["12_own_camera.py"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        names = runpy.run_path(str(EXAMPLES / "12_own_camera.py"), run_name="__main__")
        own = Path(folder, "own-camera")

        def lined(file: str) -> Picture:
            picture = cv2.imread(str(own / file))[..., ::-1].copy()
            picture[30::60] = (255, 220, 0)
            return picture

        save(
            "tutorial",
            [
                (lined("board/left_03.png"), "a board, left camera"),
                (lined("board/right_03.png"), "the same, right camera"),
                (lined("scene_left.png"), "a scene, left camera"),
                (lined("scene_right.png"), "right camera: rows do not agree"),
                (lined("left.png"), "rectified, left"),
                (lined("right.png"), "rectified, right: rows agree"),
            ],
            columns=2,
            width=720,
        )
        result = names["result"]
        low, high = np.quantile(result.disparity, [0.01, 0.99])
        save(
            "tutorial-result",
            [
                (colour_disparity(result.disparity, low, high), "disparity"),
                (colour_planes(result.regions, result.planes), planes_legend()),
                (paint_labels(result.left, result.regions, result.labels), labels_legend()),
            ],
            columns=3,
        )


def main() -> None:
    """Make the parts that the command line names, or all."""
    makers = {"demo": demo, "pages": pages, "steps": steps, "tutorial": tutorial}
    for name in [part for part in sys.argv[1:] if part != "--smoke"] or list(makers):
        makers[name]()


if __name__ == "__main__":
    main()
