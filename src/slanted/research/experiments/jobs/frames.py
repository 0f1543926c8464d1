"""Disparities of one frame by any method, and their scores."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.evaluation.datasets import Frame
from slanted.io.files import file_digest
from slanted.research.experiments.measurements import Scores
from slanted.research.methods import FULL_MODEL, compute_disparity, read_frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.inference.outcome import Snapshot
    from slanted.settings import Settings

SMALL = (96, 64)
"""Width and height of the warm-up pair."""
SEGMENTS = "superpixels"
"""The number of segments that the whole pipeline ended with."""
SECONDS, INFERENCE = "seconds", "inference, seconds"
"""Processor time of the whole run, and wall time of the stages after segmentation."""
SWEEPS, PER_SWEEP = "sweeps", "per sweep and segment, microseconds"
"""Message-passing sweeps of all iterations together, and the processor time of these iterations,
drawing particles and tables included, for each sweep and segment."""
WIDTH, HEIGHT = "width", "height"
"""The size of the left image, in pixels."""
INFERENCE_STAGES = ("inference", "refinement", "drawing")
ORACLE, BLOCK_MATCHING, ELAS = "oracle", "opencv bm", "elas"
STORED = "stored "
"""Prefix of a method whose results are read from a folder, which follows it."""


@dataclass(frozen=True)
class FrameJob:
    """A method with settings, on one frame of a dataset."""

    dataset: str
    frame: Frame
    settings: Settings  # the number of threads does not matter
    # the whole pipeline, a matcher, `ORACLE`, a peer, or `STORED` and a folder
    method: str = FULL_MODEL
    row: str = field(default="", compare=False)  # the row of a table it is for, in messages

    @property
    def name(self) -> str:
        """Return the row, the dataset and the frame."""
        return f"{self.row or self.method}, {self.dataset}, {self.frame.name}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Return digests of the files, the method and the settings."""
        settings = settings_text(self.settings)
        stored = file_digest(stored_file(self)) if self.method.startswith(STORED) else ""
        return self.dataset, *frame_digests(self.frame), self.method, settings, stored

    def run(self) -> Scores:
        """Return the scores of `slanted.evaluation.metrics`, and times."""
        return score(self, replace(self.settings, threads=1))


@dataclass(frozen=True)
class TimedJob(FrameJob):
    """The same job with comparable times: kernels are compiled and loaded first."""

    def run(self) -> Scores:
        """Return scores and times."""
        if not self.method.startswith(STORED):
            _warm_up(self.method, self.settings)
        return super().run()


@cache
def _warm_up(method: str, settings: Settings) -> None:
    """Run a method once in this process, on a very small pair."""
    from slanted.runtime.threads import thread_limit
    from slanted.synthetic import make_scene

    scene = make_scene(*SMALL, segments=20, seed=0)
    few = settings.with_text({"segmentation.count": "20", "matching.max_disparity": "32"})
    frame = Frame("", Path(), Path(), Path())
    job = FrameJob("", frame, few, method)
    with thread_limit(1):
        disparity_of(Pair(scene.left, scene.right, scene.disparity, replace(few, threads=1), job))


def settings_text(settings: Settings) -> str:
    """Return all settings but the number of threads, on which no result depends."""
    return replace(settings, threads=None).to_toml()


def frame_digests(frame: Frame) -> tuple[str, ...]:
    """Return the name of a frame and digests of its files; no method uses the calibration."""
    names = [field.name for field in fields(frame) if field.name != "calibration"]
    values = (getattr(frame, name) for name in names)
    return tuple(file_digest(v) if isinstance(v, Path) else str(v) for v in values)


@dataclass(frozen=True, eq=False)
class Pair:
    """The input of a method: the images and, for an oracle, the ground truth."""

    left: Image
    right: Image
    truth: NDArray[np.float32]
    settings: Settings
    job: FrameJob


def score(job: FrameJob, settings: Settings) -> Scores:
    """Run a job's method and score it."""
    from slanted.evaluation.metrics import evaluate
    from slanted.runtime.threads import thread_limit

    left, right = read_frame(job.frame)
    truth, visible = job.frame.load_ground_truth()
    with thread_limit(1):
        start = time.process_time()
        disparity, more = disparity_of(Pair(left, right, truth, settings, job))
        seconds = time.process_time() - start
    if not job.method.startswith(STORED):  # the time of stored results is unknown
        more[SECONDS] = seconds
    height, width = left.shape[:2]
    more |= {WIDTH: width, HEIGHT: height}
    return {**evaluate(disparity, truth, ground_truth_noc=visible), **more}


def disparity_of(pair: Pair) -> tuple[NDArray[np.float32], Scores]:
    """Return the disparity of the job's method, and further scores."""
    from slanted.pipeline import estimate
    from slanted.research.experiments.jobs import peers

    method = pair.job.method
    if method == FULL_MODEL:
        clock = SweepClock()
        result = estimate(pair.left, pair.right, pair.settings, watch=clock)
        return result.disparity, {
            SEGMENTS: result.regions.count,
            INFERENCE: sum(result.seconds.get(name, 0.0) for name in INFERENCE_STAGES),
            **clock.scores(),
        }
    if method.startswith(STORED):
        return peers.stored(pair), {}
    others = {ORACLE: oracle, BLOCK_MATCHING: peers.block_matching, ELAS: peers.elas}
    if method in others:
        return others[method](pair), {}
    return compute_disparity(method, pair.left, pair.right, pair.settings), {}


class SweepClock:
    """Adds up sweeps and processor time of the iterations of inference, as its `watch`."""

    def __init__(self) -> None:
        self._sweeps, self._work = 0, 0
        self._seconds, self._since = 0.0, time.process_time()

    def __call__(self, snapshot: Snapshot) -> None:
        """Count an iteration, from the call before; what is between two inferences is not."""
        now, step = time.process_time(), snapshot.iteration
        if step is not None:
            self._seconds += now - self._since
            self._sweeps += step.sweeps
            self._work += step.sweeps * step.segments  # refinement changes their number
        self._since = now

    def scores(self) -> Scores:
        """Return the sweeps and, if there were any, the time of one for each segment."""
        each = {PER_SWEEP: 1e6 * self._seconds / self._work} if self._work else {}
        return {SWEEPS: self._sweeps, **each}


def oracle(pair: Pair) -> NDArray[np.float32]:
    """Return planes fitted to the ground truth, in the segments that the settings give."""
    from slanted.evaluation.oracle import oracle_disparity
    from slanted.pipeline import estimate
    from slanted.segmentation import segment

    settings = pair.settings
    if settings.refinement.rounds or "disparity" in settings.segmentation.method:
        label_image = estimate(pair.left, pair.right, settings).regions.label_image
    else:
        label_image = segment(pair.left, settings.segmentation)
    return oracle_disparity(label_image, pair.truth)


def stored_file(job: FrameJob) -> Path:
    """Return the file of a stored result for a frame, or a possible path if there is none.

    It has the name of the frame, or is ``disparity`` in a folder of that name, as written by
    ``slanted run -o FOLDER/NAME``.
    """
    folder = Path(job.method.removeprefix(STORED))
    stems = folder / job.frame.name, folder / job.frame.name / "disparity"
    suffixes = (".pfm", ".npy", ".png", ".tif", ".tiff")
    files = [stem.with_name(stem.name + suffix) for stem in stems for suffix in suffixes]
    return next((file for file in files if file.is_file()), files[0])
