"""Time until a result of 12 megapixels is visible, in a real browser without a graphics card.

python benchmarks/viewer_speed.py [--scale 4] [--browser /usr/bin/chromium]

The scale enlarges a scene of 1000×750 pixels: 4 gives 12 megapixels.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import SMOKE, options, record
from slanted import Settings, estimate
from slanted.synthetic import make_scene

WIDTH, HEIGHT, SEGMENTS = (250, 180, 60) if SMOKE else (1000, 750, 2400)
FLAGS = ("--no-sandbox", "--no-first-run", "--disable-background-networking", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # fmt: skip
QUICK = {
    "inference.iterations": "1",
    "inference.particles": "4",
    "inference.sweeps": "1",
    "rectification.check": "off",
    "tiles.above": "1000000000",
}
"""As little inference as possible, since the planes are known."""


def write_large_result(folder: Path, scale: int) -> None:
    """Write the result of an enlarged scene whose segments and disparity are given."""
    scene = make_scene(WIDTH, HEIGHT, segments=SEGMENTS, objects=9, max_disparity=75, seed=1)

    def enlarged(array: np.ndarray) -> np.ndarray:
        return array.repeat(scale, axis=0).repeat(scale, axis=1)

    left, right = enlarged(scene.left), enlarged(scene.right)
    disparity = enlarged(scene.disparity) * scale
    disparity[np.random.default_rng(0).random(disparity.shape) < 0.1] = np.nan
    given = {"disparity": disparity, "segments": enlarged(scene.segments)}
    estimate(left, right, Settings().with_text(QUICK), **given).save(folder, left, right)


def measure(folder: Path, browser: str) -> dict[str, float]:
    """Open the result with the command and the browser, and use the page."""
    from playwright.sync_api import sync_playwright

    start = time.perf_counter()
    command = [sys.executable, "-m", "slanted", "view", str(folder), "--no-browser", "--port", "0"]
    command += ["--fx", "3500", "--baseline", "0.2", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
            for layer in ("labels", "margins"):
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
        server.communicate(timeout=20)
    seconds["open"] = seconds["server"] + seconds["page, picture and mesh"]
    return seconds


def main() -> None:
    """Write a large result, open it and record the seconds."""
    browser = shutil.which("chromium") or "/usr/bin/chromium"
    arguments = options(__doc__, {"scale": 1}, scale=4, browser=browser)
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
