"""How soon a result of 12 megapixels can be looked at, in a real browser without a graphics card.

python benchmarks/viewer_speed.py [--scale 4] [--browser /usr/bin/chromium]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import record
from slanted.inference.outcome import Inference, Iteration
from slanted.io import Calibration
from slanted.matching import DisparityRange
from slanted.model.drawing import draw_disparity, hidden_pixels
from slanted.model.energy import Energies
from slanted.output.folder import whole_folder, write_result
from slanted.regions import build_regions
from slanted.result import Result
from slanted.settings import Settings
from slanted.synthetic import make_scene

WIDTH, HEIGHT, SEGMENTS = 1000, 750, 2400
FLAGS = ("--no-sandbox", "--no-first-run", "--disable-background-networking", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # fmt: skip


def write_large_result(folder: Path, scale: int) -> None:
    """Write a scene's own planes, enlarged, as a result: no run of that size is needed."""
    scene = make_scene(WIDTH, HEIGHT, segments=SEGMENTS, objects=9, max_disparity=75, seed=1)

    def enlarged(array: np.ndarray) -> np.ndarray:
        return array.repeat(scale, axis=0).repeat(scale, axis=1)

    left, right = enlarged(scene.left), enlarged(scene.right)
    regions = build_regions(enlarged(scene.segments), left)
    planes = scene.planes * (1, 1, scale)
    n, rng = regions.count, np.random.default_rng(0)
    inference = Inference(
        planes, scene.labels.astype(np.int32), planes, Energies(*[1.0] * 8), 10.0, 5.0, 8.0,
        (Iteration(9.0, 8.0, 6, "sweeps", n),), rng.gamma(2, 500, n), 0.3,
    )  # fmt: skip
    disparity = draw_disparity(regions, planes)
    matched = np.where(rng.random(disparity.shape) < 0.9, disparity, np.nan).astype(np.float32)
    searched = DisparityRange(0, 80 * scale)
    hidden = hidden_pixels(disparity)
    result = Result(
        disparity, matched, hidden, regions, inference, Settings(), {"matching": 1.0}, searched
    )
    cameras = Calibration(3500.0, 3500.0, WIDTH * scale / 2, HEIGHT * scale / 2, 0.2)
    with whole_folder(folder) as staging:
        write_result(staging, result, left, cameras, {}, right)


def measure(folder: Path, browser: str) -> dict[str, float]:
    """Open the result with the command and the page, and use it."""
    from playwright.sync_api import sync_playwright

    start = time.perf_counter()
    command = [sys.executable, "-m", "slanted", "view", str(folder), "--no-browser", "--port", "0"]
    server = subprocess.Popen([*command, "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        seconds = {"server": time.perf_counter() - start}
        with sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=browser, args=list(FLAGS))
            page = opened.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(120_000)
            start = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("#space-pane[data-key]")
            seconds["page, picture and mesh"] = time.perf_counter() - start
            for layer in ("labels", "confidence"):
                start = time.perf_counter()
                with page.expect_response(re.compile(f"/tiles/{layer}/")):
                    page.click(f"[data-layer={layer}]")
                seconds[f"first tile of {layer}"] = time.perf_counter() - start
            box = page.locator("#picture").bounding_box()
            start = time.perf_counter()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.wait_for_selector("#fact-disparity")
            seconds["click to facts"] = time.perf_counter() - start
            opened.close()
    finally:
        server.terminate()
        server.wait(20)
    seconds["open"] = seconds["server"] + seconds["page, picture and mesh"]
    return seconds


def main() -> None:
    """Write a large result, open it and record the seconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=4, help="4 gives 12 megapixels")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "large"
        write_large_result(folder, arguments.scale)
        results = {
            "pixels": WIDTH * HEIGHT * arguments.scale**2,
            "seconds": measure(folder, arguments.browser),
        }
    record("viewer_speed", arguments, results)


if __name__ == "__main__":
    main()
