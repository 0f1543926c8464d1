"""Learning the weights from frames with ground truth, from start to end."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted import __version__
from slanted.errors import InputError
from slanted.evaluation.metrics import mean_metrics
from slanted.io.files import read_bytes
from slanted.learning.checkpoint import Checkpoint, Evaluation
from slanted.learning.examples import NAMES
from slanted.learning.images import Images
from slanted.learning.optimise import (
    Optimum,
    minimise_interleaved,
    minimise_lbfgs,
    minimise_subgradient,
    refuse_zero,
)
from slanted.learning.owner import Loaded
from slanted.learning.training import SCALES, Step, Training
from slanted.learning.weights_file import normalised
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import core_count
from slanted.runtime.workers import open_backend

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.settings import LearningSettings, Settings

START = 0.8
"""Where all learned scaled weights start, in units of the largest loss of a pixel. The objective is
convex, so this decides how long learning takes and little else."""
ANNEALING = (1.0,)
"""Values of ε that are used before ε = 0."""


@dataclass(frozen=True, eq=False)
class Learned:
    """The outcome of learning."""

    weights: Floats
    """(8,) in the order of `slanted.learning.examples.NAMES`; seg is 1 unless it is 0."""
    scale: float
    """The objective is least at these weights times this factor."""
    evaluations: tuple[Evaluation, ...]
    """Evaluations of the objective, in order."""
    resumed: int
    """How many evaluations came from a checkpoint."""
    images: tuple[Loaded, ...]
    """The frames, as they were before learning."""
    truth: Floats
    expectation: Floats
    """Features of the ground truth, and those expected at the end, summed over the images."""
    before: dict[str, float]
    after: dict[str, float]
    """Mean metrics of the training frames with the weights of the settings, and with the learned
    ones."""
    method: str
    reason: str
    """The optimiser in words, and why it stopped."""
    seconds: dict[str, float]
    """Wall time of each stage."""

    @property
    def objective(self) -> float:
        """The lowest value of the objective."""
        return min(evaluation.value for evaluation in self.evaluations)


def learn_weights(
    frames: Sequence[Frame],
    settings: Settings,
    *,
    checkpoint: Path | None = None,
    restart: bool = False,
    scheduler: str | None = None,
    progress: Callable[[str], None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Learned:
    """Learn the weights of the energy from frames with ground truth.

    A weight that is 0 in the settings stays 0: its potential is switched off.

    Parameters
    ----------
    frames
        The frames to learn from.
    settings
        All settings; those of the section ``learning`` say how to learn.
    checkpoint
        Folder that is written after every step; a run that was stopped resumes from there.
    restart
        Whether to delete an existing checkpoint first.
    scheduler
        Address of a Dask scheduler, whose workers share the frames instead of processes.
    progress, on_step
        Called with messages for people, and with every evaluation of the objective.

    Raises
    ------
    InputError
        If a frame cannot be used, the checkpoint belongs to another run, the objective is not a
        number or all weights become zero.
    SlantedError
        If a worker dies.
    """
    if not frames:
        raise InputError("frames: expected at least one with ground truth, got none; add some")
    learning = settings.learning
    learned = np.array([getattr(settings.model.weights, name) > 0 for name in NAMES])
    store = None
    if checkpoint is not None:
        store = Checkpoint(checkpoint, run_identity(frames, settings))
        if restart:
            store.remove()
        store.load()  # refuse a checkpoint of another run before the work starts
    say = progress or (lambda text: None)
    workers = min(learning.workers or settings.threads or core_count(), len(frames))
    seconds: dict[str, float] = {}
    with ExitStack() as stack:
        backend = stack.enter_context(open_backend(workers, scheduler=scheduler))
        each = replace(settings, threads=1) if backend.owners > 1 else settings
        images = Images(backend)
        start = time.perf_counter()
        loaded = images.load(frames, each, say)
        stack.callback(images.close)
        seconds["examples"] = time.perf_counter() - start
        C = float(len(frames)) if learning.C is None else learning.C
        training = Training(
            images,
            store,
            C=C,
            tolerance=learning.inner_tolerance,
            most=_most_steps(learning),
            progress=on_step,
        )
        if training.resumed:
            say(f"resumed after step {training.resumed}")
        say(describe_method(learning))
        start = time.perf_counter()
        optimum = _optimise(training, settings, learned, say)
        seconds["steps"] = time.perf_counter() - start
        refuse_zero(optimum.weights)
        start = time.perf_counter()
        training.restore()
        weights = optimum.weights / SCALES
        epsilon = learning.epsilon
        _, _, expectation, _ = images.evaluate(weights, epsilon, learning.max_sweeps, 0.0)
        say("measuring the training frames with the learned weights")
        after = images.measure(frames, each, normalised(weights))
        seconds["summary"] = time.perf_counter() - start
    return Learned(
        weights=normalised(weights),
        scale=float(np.max(weights) / np.max(normalised(weights))),
        evaluations=tuple(training.evaluations),
        resumed=training.resumed,
        images=tuple(loaded),
        truth=np.sum([found.features for found in loaded], axis=0),
        expectation=expectation,
        before=mean_metrics([found.errors for found in loaded]),
        after=mean_metrics(after),
        method=describe_method(learning),
        reason=optimum.reason,
        seconds=seconds,
    )


def describe_method(learning: LearningSettings) -> str:
    """Describe in words how the objective is minimised."""
    if learning.epsilon == 0:
        through = " and ".join(f"{epsilon:g}" for epsilon in ANNEALING)
        return (
            f"epsilon 0: L-BFGS-B at epsilon {through}, then projected sub-gradient steps at 0, "
            "the best of which is kept"
        )
    if learning.optimiser == "interleaved":
        return (
            f"epsilon {learning.epsilon:g}: projected gradient steps, one after every "
            f"{learning.interleaved_sweeps} sweeps"
        )
    return f"epsilon {learning.epsilon:g}: L-BFGS-B with warm messages"


def run_identity(frames: Sequence[Frame], settings: Settings) -> dict[str, Any]:
    """Return what a run depends on: version, settings, and the content of the frames' files."""
    same = replace(settings, threads=None, learning=replace(settings.learning, workers=None))
    digest = hashlib.sha256()
    for frame in frames:
        for path in (frame.left, frame.right, frame.ground_truth):
            digest.update(hashlib.sha256(read_bytes(path)).digest())
    return {
        "version": __version__,
        "frames": [frame.name for frame in frames],
        "files": digest.hexdigest(),
        "settings": same.identity(),
    }


def _most_steps(learning: LearningSettings) -> int:
    return learning.max_steps * (len(ANNEALING) + 1 if learning.epsilon == 0 else 1)


def _optimise(
    training: Training, settings: Settings, learned: Floats, say: Callable[[str], None]
) -> Optimum:
    learning = settings.learning
    unit = settings.model.truncation**2 * learning.loss_scale
    start = np.where(learned, START * max(unit, 1.0), 0.0)
    sweeps, limit, tolerance = learning.max_sweeps, learning.max_steps, learning.tolerance

    def lbfgs(epsilon: float, start: Floats) -> Optimum:
        return minimise_lbfgs(
            lambda weights: training.evaluate(weights, epsilon, sweeps),
            start,
            learned,
            limit=limit,
            tolerance=tolerance,
        )

    if learning.epsilon == 0:
        for epsilon in ANNEALING:
            say(f"annealing: epsilon {epsilon:g}")
            start = lbfgs(epsilon, start).weights
        say("sub-gradient steps: epsilon 0")
        return minimise_subgradient(
            lambda weights: training.evaluate(weights, 0.0, sweeps), start, learned, limit=limit
        )
    if learning.optimiser == "interleaved":
        return minimise_interleaved(
            lambda weights, count: training.evaluate(weights, learning.epsilon, count),
            start,
            learned,
            sweeps=learning.interleaved_sweeps,
            limit=limit,
            tolerance=tolerance,
        )
    return lbfgs(learning.epsilon, start)
