"""Soak test: hundreds of runs in one process, long batches, and random requests to a viewer.

python benchmarks/soak.py [--runs 500] [--pairs 1000] [--workers 2] [--actions 200]

It estimates small pairs of several sizes one after the other; runs two batches of small pairs, one
in this process and one with worker processes; then serves a result and sends it random requests. It
reports how much the resident memory of each process grows with each run, pair or request (least
squares over the second half, when caches are full), and how many threads and open files there are
after a tenth of them and at the end. The exit code is 1 if anything grows.
"""

from __future__ import annotations

import gc
import http.client
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import slanted
from common import SMOKE, options, record, told, write_pair
from slanted.synthetic import make_scene

SIZES = ((160, 120), (160, 120), (160, 120), (97, 61), (200, 150), (64, 240), (33, 32))
MOST_KILOBYTES_A_RUN = 20.0
"""A leak of one small array per run would be more: a disparity map of 96×64 pixels takes 25 kB."""
SCENES = 20
"""Different pairs of a batch, which has each many times."""


def usage(process: str = "self") -> dict[str, int]:
    """Return resident memory in kB, threads and open files of a process."""
    folder = Path("/proc") / process
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return {
        "rss_kilobytes": int(status["VmRSS"].split()[0]),
        "threads": int(status["Threads"]),
        "files": len(list((folder / "fd").iterdir())),
    }


def soak_runs(count: int) -> dict[str, Any]:
    """Estimate many pairs."""
    pairs = [make_scene(w, h, seed=k, segments=12, objects=2, max_disparity=min(w, h) // 2)
             for k, (w, h) in enumerate(SIZES)]  # fmt: skip
    readings = []
    for run in range(count):
        scene = pairs[run % len(pairs)]
        settings = slanted.Settings().with_text(
            {"segmentation.count": str(10 + run % 40), "seed": str(run), "threads": "2"}
        )
        slanted.estimate(scene.left, scene.right, settings)
        gc.collect()
        readings.append(usage())
    return _growth(readings)


def _growth(readings: list[dict[str, int]]) -> dict[str, Any]:
    half = readings[len(readings) // 2 :]
    memory = [reading["rss_kilobytes"] for reading in half]
    # A worker of a small batch may have ended a pair or two, which tell nothing.
    enough = len(half) >= 4
    slope = float(np.polyfit(np.arange(len(half)), memory, 1)[0]) if enough else 0.0
    early, last = readings[len(readings) // 10], readings[-1]
    return {
        "count": len(readings),
        "kilobytes_a_run": round(slope, 2),
        "early": early,
        "middle": half[0],
        "last": last,
        "grows": slope > MOST_KILOBYTES_A_RUN
        or (enough and any(last[name] > early[name] for name in ("threads", "files"))),
    }


def soak_batch(count: int, workers: int) -> dict[str, Any]:
    """Run a batch of small pairs; each worker is read when it has ended a pair."""
    from slanted.batch.pairs import Pair
    from slanted.batch.run import Tally, run_batch

    settings = slanted.Settings().with_text({"matching.max_disparity": "32", "threads": "1"})
    readings: dict[str, list[dict[str, int]]] = {}

    def read(_: Tally, record: dict[str, Any] | None) -> None:
        if record is not None:
            worker = record["worker"].rpartition(":")[2]
            for process in {worker, str(os.getpid())}:
                readings.setdefault(process, []).append(usage(process))

    with tempfile.TemporaryDirectory() as folder:
        files = _write_scenes(Path(folder), count)
        pairs = [Pair(f"{k:05d}", *both) for k, both in enumerate(files)]
        tally = run_batch(pairs, Path(folder) / "out", settings, workers=workers, progress=read)
    found = {process: _growth(each) for process, each in readings.items()}
    own = found.pop(str(os.getpid()))
    return {
        **{"done": tally.done, "failed": tally.failed, "seconds": round(tally.seconds, 1)},
        **{"parent": own, "workers": list(found.values())},
        "grows": tally.failed > 0 or any(each["grows"] for each in (own, *found.values())),
    }


def _write_scenes(folder: Path, count: int) -> Iterator[tuple[Path, Path]]:
    """Write pairs of images, each under a name of its own; some have the same content."""
    for k in range(count):
        new, known = folder / f"{k}", folder / f"{k % SCENES}"
        new.mkdir()
        if k < SCENES:
            scene = make_scene(96, 64, seed=k, segments=12, max_disparity=24)
            yield write_pair(new, scene)
        else:
            for name in ("left.png", "right.png"):
                (new / name).hardlink_to(known / name)
            yield new / "left.png", new / "right.png"


def soak_viewer(count: int, seed: int = 0) -> dict[str, Any]:
    """Serve a result and send random requests, as a visitor's page would."""
    from slanted.result_folder import open_result
    from slanted.viewer.access import Keys
    from slanted.viewer.serve import bind, make_server
    from slanted.viewer.session import Session

    scene = make_scene(160, 120, seed=3)
    settings = slanted.Settings().with_text({"segmentation.count": "50"})
    with tempfile.TemporaryDirectory() as folder:
        slanted.estimate(scene.left, scene.right, settings).save(folder, scene.left, scene.right)
        session = Session(open_result(Path(folder)), scene.disparity)
    listening = bind("127.0.0.1", 0)
    keys = Keys()
    server = make_server(session, listening, "127.0.0.1", keys)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    visitor = Visitor(listening.getsockname()[1], keys.token, seed)
    readings = []
    try:
        for _ in range(count):
            visitor.act()
            readings.append(usage())
        visitor.wait()
        readings.append(usage())
    finally:
        server.should_exit = True
        thread.join(30)
        session.close()
        listening.close()
    found = _growth(readings)
    # Runs have threads of their own, so only the end shows whether threads are left over.
    found |= {"statuses": visitor.statuses, "after": usage(), "kinds": visitor.kinds}
    found["grows"] = found["after"]["threads"] > readings[0]["threads"] or 500 in visitor.statuses
    return found


class Visitor:
    """Sends one random request at a time."""

    def __init__(self, port: int, token: str, seed: int) -> None:
        self.port = port
        self.headers = {"authorization": f"Bearer {token}"}
        self.draw = random.Random(seed)
        self.statuses: dict[int, int] = {}
        self.kinds: dict[str, int] = {}

    def act(self) -> None:
        """Send one random request."""
        state = self._state()
        frame = self.draw.choice(state["frames"])["key"]
        base = f"/api/frames/{frame}"
        u, v = self.draw.randrange(170), self.draw.randrange(130)
        layer = self.draw.choice(("image", "disparity", "segments", "planes", "labels", "error"))
        actions: dict[str, tuple[str, str, dict[str, Any] | None]] = {
            "describe": ("GET", base, None),
            "tile": ("GET", f"{base}/tiles/{layer}/{self.draw.randrange(3)}/0/0", None),
            "texture": ("GET", f"{base}/textures/{layer}", None),
            "pixel": ("GET", f"{base}/pixels/{u}/{v}", None),
            "cloud": ("GET", f"{base}/cloud?points={self.draw.randrange(5000)}", None),
            "mesh": ("GET", f"{base}/mesh?triangles={self.draw.randrange(5000)}", None),
            "export": ("GET", f"{base}/exports/{self.draw.choice(state['exports'])}", None),
            "run": ("POST", "/api/run?replace=true",
                    {"segmentation.count": self.draw.randrange(10, 90)}),
            "cancel": ("POST", "/api/cancel", {}),
            "bad run": ("POST", "/api/run", {"segmentation.count": "many"}),
            "elsewhere": ("GET", "/assets/../../etc/passwd", None),
        }  # fmt: skip
        kind = self.draw.choice(list(actions))
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        method, path, body = actions[kind]
        status, _ = self._ask(method, path, None if body is None else json.dumps(body))
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def wait(self) -> None:
        """Wait until no run is under way."""
        while self._state()["job"]["status"] == "running":
            time.sleep(0.1)

    def _state(self) -> dict[str, Any]:
        return dict(json.loads(self._ask("GET", "/api/state", None)[1]))

    def _ask(self, method: str, path: str, body: str | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = self.headers | ({} if body is None else {"content-type": "application/json"})
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def main() -> int:
    """Run both, and record what grew."""
    smoke = {"runs": 8, "pairs": 8, "actions": 12}
    arguments = options(__doc__, smoke, runs=500, pairs=1000, workers=2, actions=200)
    found = {}
    if arguments.runs:
        found["runs"] = told(soak_runs(arguments.runs))
    if arguments.pairs:
        found["batch, this process"] = told(soak_batch(arguments.pairs, 1))
        found["batch, processes"] = told(soak_batch(arguments.pairs, arguments.workers))
    if arguments.actions:
        found["viewer"] = told(soak_viewer(arguments.actions))
    record("soak", arguments, found)
    # A few runs only fill caches.
    return int(any(part["grows"] for part in found.values()) and not SMOKE)


if __name__ == "__main__":
    sys.exit(main())
