"""Functions that run in a worker that owns images; see `slanted.learning.images`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slanted.errors import InputError
from slanted.learning.examples import NAMES, Example, build_example
from slanted.learning.objective import ImageObjective, Share, Workspace
from slanted.runtime.arrays import Floats
from slanted.solver.messages import Messages

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
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
    errors: dict[str, float]
    """Metrics of the result with the weights of the settings, as `slanted evaluate` gives them."""


class _Images:
    def __init__(self) -> None:
        self.workspace = Workspace()
        self.objectives: dict[int, ImageObjective] = {}


_runs: dict[str, _Images] = {}


def load_frame(run: str, number: int, frame: Frame, settings: Settings) -> Loaded:
    """Estimate a frame with the weights of the settings, and keep an example made from it.

    Raises
    ------
    InputError
        If the frame or its ground truth cannot be used; the message starts with its name.
    """
    from slanted.evaluation.metrics import evaluate
    from slanted.io import read_image
    from slanted.pipeline import estimate
    from slanted.runtime.threads import thread_limit

    truth, visible = frame.load_ground_truth()
    left = read_image(frame.left)
    try:
        if truth.shape != left.shape[:2]:
            raise InputError(
                f"ground truth: expected the size of the left image, {left.shape[1]}×"
                f"{left.shape[0]}, got {truth.shape[1]}×{truth.shape[0]} ({frame.ground_truth}); "
                "use files of one resolution"
            )
        result = estimate(left, read_image(frame.right), settings)
        with thread_limit(settings.threads):
            example = build_example(frame.name, result, truth, settings)
    except InputError as error:
        raise InputError(f"{frame.name}: {error}") from error
    add_example(run, number, example)
    return Loaded(
        name=frame.name,
        segments=result.regions.count,
        segments_with_truth=len(example.seg),
        edges=len(example.edges),
        features=tuple(example.truth_features().tolist()),
        errors=evaluate(result.disparity, truth, ground_truth_noc=visible),
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


def measure_frame(frame: Frame, settings: Settings, weights: Floats) -> dict[str, float]:
    """Return the metrics of a frame with other weights."""
    from slanted.evaluation.metrics import evaluate
    from slanted.io import read_image
    from slanted.pipeline import estimate

    chosen = replace(settings.model.weights, **dict(zip(NAMES, map(float, weights), strict=True)))
    settings = replace(settings, model=replace(settings.model, weights=chosen))
    truth, visible = frame.load_ground_truth()
    result = estimate(read_image(frame.left), read_image(frame.right), settings)
    return evaluate(result.disparity, truth, ground_truth_noc=visible)


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
