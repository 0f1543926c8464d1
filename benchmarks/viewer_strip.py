"""Frame times while the strip of a batch's pairs scrolls, and the time to another pair.

python benchmarks/viewer_strip.py [--pairs 60] [--browser /usr/bin/chromium]

In a real browser without a graphics card. The results are of KITTI's size.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import SMOKE, options, record
from slanted import Settings, estimate
from slanted.batch.records import row_of, write_summary
from slanted.io.names import BATCH_MARKER
from slanted.synthetic import make_scene
from viewer_speed import FLAGS, QUICK

WIDTH, HEIGHT, SEGMENTS = (250, 90, 40) if SMOKE else (1242, 375, 800)
FRAMES = 20 if SMOKE else 240
STEP = 40
"""Pixels that the strip moves between two frames: 2,400 a second at 60 frames."""
SCROLL = """async ([frames, step]) => {
  const list = document.getElementById('strip-list');
  list.scrollLeft = 0;
  const next = () => new Promise((go) => { requestAnimationFrame(go); });
  await next();
  const times = [];
  let last = await next();
  for (let k = 0; k < frames; k++) {
    list.scrollLeft += step;
    const now = await next();
    times.push(now - last);
    last = now;
  }
  return times;
}"""


def write_batch(folder: Path, pairs: int) -> None:
    """Write a batch of equal results, each in its own files."""
    scene = make_scene(WIDTH, HEIGHT, segments=SEGMENTS, objects=9, max_disparity=75, seed=1)
    given = {"disparity": scene.disparity, "segments": scene.segments}
    result = estimate(scene.left, scene.right, Settings().with_text(QUICK), **given)
    folder.mkdir()
    (folder / BATCH_MARKER).touch()
    rows = []
    for number in range(pairs):
        place = folder / f"{number:06}"
        if number:
            shutil.copytree(folder / f"{0:06}", place, copy_function=os.link)
        else:
            result.save(place, scene.left, scene.right)
        known = {"name": place.name, "status": "done", "width": WIDTH, "height": HEIGHT}
        rows.append(row_of({**known, "seconds": {"total": float(number * 7 % 61)}}))
    write_summary(folder, rows)


def told(times: list[float]) -> dict[str, float]:
    """Return the median, the 95 % quantile and the longest of times in milliseconds."""
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return {"median": statistics.median(times), "95 %": late, "longest": ordered[-1]}


def measure(folder: Path, browser: str) -> dict[str, Any]:
    """Open the batch with the command and the browser, scroll its strip and go to other pairs."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "slanted", "view", str(folder), "--no-browser", "--port", "0"]
    server = subprocess.Popen([*command, "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        with sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=browser, args=list(FLAGS))
            page = opened.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(120_000)
            page.goto(address)
            page.wait_for_selector("#space-pane[data-key]")
            page.wait_for_timeout(1500)
            found = {
                "pictures not loaded": told(page.evaluate(SCROLL, [FRAMES, STEP])),
                "pictures loaded": told(page.evaluate(SCROLL, [FRAMES, STEP])),
                "without movement": told(page.evaluate(SCROLL, [FRAMES, 0])),
            }
            seconds = []
            for _ in range(2 if SMOKE else 5):
                before = page.locator("#space-pane").get_attribute("data-key")
                start = time.perf_counter()
                page.keyboard.press("j")
                page.wait_for_selector(f"#space-pane:not([data-key='{before}'])")
                seconds.append(time.perf_counter() - start)
            opened.close()
    finally:
        server.terminate()
        server.communicate(timeout=20)
    return {"milliseconds a frame": found, "seconds to another pair": statistics.median(seconds)}


def main() -> None:
    """Write a batch, show it and record the times."""
    browser = shutil.which("chromium") or "/usr/bin/chromium"
    arguments = options(__doc__, {"pairs": 12}, pairs=60, browser=browser)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "batch"
        write_batch(folder, arguments.pairs)
        results = measure(folder, arguments.browser)
    record("viewer_strip", arguments, results)


if __name__ == "__main__":
    main()
