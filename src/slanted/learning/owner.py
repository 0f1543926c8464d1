"""Functions that run in a worker that owns images; see `slanted.learning.images`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slanted.errors import InputError
from slanted.learning.examples import Example
from slanted.learning.losses import map_loss
from slanted.learning.objective import ImageObjective, Share, Workspace
from slanted.learning.training_image import TrainingImage
from slanted.learning.weights_file import weighed
from slanted.runtime.arrays import Floats
from slanted.solver.messages import Messages

if TYPE_CHECKING:
    from slanted.learning.sources import Source, TrainingPair
    from slanted.result import Result
    from slanted.settings import Settings

Arrays = dict[str, Floats]
"""The fields of `Messages`, by name."""


@dataclass(frozen=True)
class Loaded:
    """A frame as loaded, with its result before learning."""

    name: str
    """The frame's name."""
    segments: int
    segments_with_truth: int
    edges: int
    """Numbers of segments, and of the segments and boundaries that are learned from."""
    features: tuple[float, ...]
    """φ(gt), in the order of `slanted.learning.examples.NAMES`."""
    spreads: tuple[float, ...]
    """`Example.spreads`."""
    loss_spread: float
    """Mean task loss of a particle."""
    loss: float
    """Task loss of the result with the weights of the settings."""
    errors: dict[str, float]
    """Metrics of the result with the weights of the settings, as `slanted evaluate` gives them."""


class _Images:
    def __init__(self) -> None:
        self.workspace = Workspace()
        self.objectives: dict[int, ImageObjective] = {}
        self.images: dict[int, TrainingImage] = {}


_runs: dict[str, _Images] = {}


def load_image(run: str, number: int, source: Source, settings: Settings) -> Loaded:
    """Estimate a pair with the weights of the settings, and keep an example made from it.

    Raises
    ------
    InputError
        If the pair or its ground truth cannot be used; the message starts with its name.
    """
    from slanted.evaluation.metrics import evaluate
    from slanted.runtime.threads import thread_limit

    pair = source.load()
    try:
        result = _estimate(pair, settings)
        with thread_limit(settings.threads):
            labels = pair.labels_in(result.regions)
            image = TrainingImage(source.name, result, pair.truth, settings, labels)
            example = image.example()
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error
    add_example(run, number, example)
    _runs[run].images[number] = image
    return Loaded(
        name=source.name,
        segments=result.regions.count,
        segments_with_truth=len(example.seg),
        edges=len(example.edges),
        features=tuple(example.truth_features().tolist()),
        spreads=tuple(example.spreads().tolist()),
        loss_spread=float(example.losses.mean()),
        loss=image.task_loss(),
        errors=evaluate(result.disparity, pair.truth, ground_truth_noc=pair.visible),
    )


def add_example(run: str, number: int, example: Example) -> None:
    """Keep an example under a number."""
    images = _runs.setdefault(run, _Images())
    images.objectives[number] = ImageObjective(example, images.workspace)


def evaluate_images(
    run: str, numbers: list[int], weights: Floats, epsilon: float, sweeps: int, tolerance: float
) -> list[Share]:
    """Evaluate some images; see `ImageObjective.evaluate`."""
    return [
        _objective(run, number).evaluate(weights, epsilon, sweeps=sweeps, tolerance=tolerance)
        for number in numbers
    ]


def read_messages(run: str, numbers: list[int]) -> list[Arrays]:
    """Return the messages of some images, for a checkpoint."""
    return [dict(vars(_objective(run, number).messages)) for number in numbers]


def write_messages(run: str, number: int, arrays: Arrays) -> None:
    """Replace the messages of an image with those of a checkpoint."""
    objective = _objective(run, number)
    for name, array in vars(objective.messages).items():
        if array.shape != arrays[name].shape:
            raise InputError(
                f"checkpoint: expected messages {name} of shape {array.shape}, got "
                f"{arrays[name].shape}; start anew with --restart"
            )
    objective.messages = Messages(**arrays).copy()


def search_images(
    run: str, numbers: list[int], weights: Floats, threads: int | None
) -> list[float]:
    """Run inference on some images with other weights, and return its task losses."""
    from slanted.runtime.threads import thread_limit

    losses = []
    with thread_limit(threads):
        for number in numbers:
            _objective(run, number)  # or say that it is gone
            image = _runs[run].images[number]
            image.search(weights)
            losses.append(image.task_loss())
    return losses


def redraw_images(
    run: str, numbers: list[int], scale: float | None, threads: int | None
) -> list[None]:
    """Draw the particles of some images again, with the latest solutions; messages start at 0.

    With a `scale` of the weights, targets are within reach.
    """
    from slanted.runtime.threads import thread_limit

    with thread_limit(threads):
        for number in numbers:
            add_example(run, number, _runs[run].images[number].example(scale))
    return [None] * len(numbers)


def measure_image(source: Source, settings: Settings, weights: Floats) -> dict[str, float]:
    """Return the metrics of a pair with other weights."""
    from slanted.evaluation.metrics import evaluate

    pair = source.load()
    result = _estimate(pair, weighed(settings, weights))
    return evaluate(result.disparity, pair.truth, ground_truth_noc=pair.visible)


def measure_loss(source: Source, settings: Settings, weights: Floats) -> float:
    """Return the task loss of the whole pipeline on a pair, per pixel, with other weights."""
    pair = source.load()
    result = _estimate(pair, weighed(settings, weights))
    return map_loss(settings.learning.loss, result.disparity, pair.truth, settings.model.truncation)


def _estimate(pair: TrainingPair, settings: Settings) -> Result:
    from slanted.pipeline import estimate

    # Examples compare segments with ground truth, which has the size of the image.
    whole = replace(settings, model=replace(settings.model, coarser=1))
    return estimate(pair.left, pair.right, whole, disparity=pair.disparity, segments=pair.segments)


def forget_images(run: str) -> None:
    """Free the images of a run."""
    _runs.pop(run, None)


def _objective(run: str, number: int) -> ImageObjective:
    if run not in _runs or number not in _runs[run].objectives:
        raise InputError(
            f"image {number}: expected it in this process, but it is gone: a worker was restarted; "
            "run the same command again to resume from the last checkpoint"
        )
    return _runs[run].objectives[number]
