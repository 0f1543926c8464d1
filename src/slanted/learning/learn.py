"""Learning the weights from frames with ground truth, from start to end."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted import __version__
from slanted.errors import InputError
from slanted.evaluation.metrics import mean_metrics
from slanted.learning.checkpoint import Checkpoint, Evaluation
from slanted.learning.examples import NAMES
from slanted.learning.images import Images
from slanted.learning.owner import Loaded
from slanted.learning.rounds import (
    Round,
    best_round,
    describe_method,
    learn_in_rounds,
    most_steps,
)
from slanted.learning.sources import Source, as_source
from slanted.learning.training import Step, Training, Units
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import core_count
from slanted.runtime.workers import open_backend

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.settings import Settings


@dataclass(frozen=True, eq=False)
class Learned:
    """The outcome of learning."""

    weights: Floats
    """(8,) in the order of `slanted.learning.examples.NAMES`; seg is 1 unless it is 0."""
    scale: float
    """The objective is least at these weights times this factor."""
    evaluations: tuple[Evaluation, ...]
    """Evaluations of the objective, in order."""
    rounds: tuple[Round, ...]
    """The initial weights, and those of each round."""
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
        """The least value of the objective in the round that was kept; NaN for initial weights."""
        return self.rounds[self.kept].objective

    @property
    def kept(self) -> int:
        """Number of the round whose weights were kept, 0 for the initial ones."""
        return best_round(self.rounds)


def learn_weights(
    frames: Sequence[Frame | Source],
    settings: Settings,
    *,
    checkpoint: Path | None = None,
    restart: bool = False,
    scheduler: str | None = None,
    progress: Callable[[str], None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Learned:
    """Learn the weights of the energy from frames with ground truth.

    It goes in rounds; see `slanted.learning.training_image`. The weights of the round with the
    least task loss on these frames are kept, or the initial ones if no round is better. A weight
    that is 0 in the settings stays 0: its potential is switched off.

    Parameters
    ----------
    frames
        The frames to learn from, or other sources of pairs.
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
    sources = [as_source(frame) for frame in frames]
    learning = settings.learning
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
        loaded = images.load(sources, each, say)
        stack.callback(images.close)
        seconds["examples"] = time.perf_counter() - start
        units = Units.of(loaded)
        C = float(len(frames)) if learning.C is None else learning.C
        training = Training(
            images,
            store,
            units=units.weights,
            regulariser=C * units.loss / len(NAMES),
            tolerance=learning.inner_tolerance,
            most=most_steps(learning),
            progress=on_step,
        )
        if training.resumed:
            say(f"resumed after step {training.resumed}")
        say(describe_method(learning))
        start = time.perf_counter()
        first = iter([fsum(found.loss for found in loaded)])

        def judge(weights: Floats) -> float:
            """Return the task loss, of the whole pipeline where it refines segments with planes."""
            loss = next(first, None)  # the results of the initial weights are there already
            if loss is None:
                loss = images.search(weights, each.threads)
            return images.task_loss(sources, each, weights) if each.refinement.rounds else loss

        rounds = learn_in_rounds(images, training, units, each, judge, say)
        seconds["steps"] = time.perf_counter() - start
        start = time.perf_counter()
        training.restore()
        kept = rounds[best_round(rounds)]
        _, _, expectation, _ = images.evaluate(
            kept.weights * kept.scale, learning.epsilon, learning.max_sweeps, 0.0
        )
        say("measuring the training frames with the learned weights")
        after = images.measure(sources, each, kept.weights)
        seconds["summary"] = time.perf_counter() - start
    return Learned(
        weights=kept.weights,
        scale=kept.scale,
        evaluations=tuple(training.evaluations),
        rounds=tuple(rounds),
        resumed=training.resumed,
        images=tuple(loaded),
        truth=np.sum([found.features for found in loaded], axis=0),
        expectation=expectation,
        before=mean_metrics([found.errors for found in loaded]),
        after=mean_metrics(after),
        method=describe_method(learning),
        reason=kept.reason,
        seconds=seconds,
    )


def run_identity(frames: Sequence[Frame | Source], settings: Settings) -> dict[str, Any]:
    """Return what a run depends on: version, settings, and the content of the frames' files."""
    same = replace(settings, threads=None, learning=replace(settings.learning, workers=None))
    digest = hashlib.sha256()
    for frame in frames:
        digest.update(as_source(frame).digest().encode())
    return {
        "version": __version__,
        "frames": [frame.name for frame in frames],
        "files": digest.hexdigest(),
        "settings": same.identity(),
    }
