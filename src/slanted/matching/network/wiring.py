"""Which input of a network gets which view, and which output is the disparity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import FileError
from slanted.matching.network.model import TYPES, Input

if TYPE_CHECKING:
    from pathlib import Path

    from slanted.matching.network.description import NetworkDescription
    from slanted.matching.network.model import Model

CURE = "describe it in a TOML file beside it (docs/networks.md)"
BYTE_MOST = 255
"""The largest byte, and white in images."""


@dataclass(frozen=True)
class Wiring:
    """How a network is called."""

    inputs: tuple[str, ...]
    """The inputs of the left and the right view, or the one of both."""
    colour: str
    """``rgb``, ``bgr`` or ``grey``."""
    kind: np.dtype[np.generic]
    """The type of the inputs."""
    white: float
    """The value of white, before mean and standard deviation."""
    size: tuple[int, int] | None
    """Height and width of the views, if the network has one size."""
    disparity: str
    confidence: str | None
    """The outputs."""


def wire(model: Model, given: NetworkDescription) -> Wiring:
    """Return how a network is called, from its own names and shapes and from its description.

    Raises
    ------
    FileError
        If the inputs are not those of a stereo network, or no output is the disparity.
    """
    inputs = _inputs(model, given)
    first = inputs[0]
    if first.kind not in TYPES or len({each.kind for each in inputs}) > 1:
        kinds = ", ".join(each.kind for each in inputs)
        raise FileError(model.path, f"expected inputs of floats or bytes, got {kinds}; {CURE}")
    channels, height, width = _sides(model.path, first, given.layout)
    size = None
    if given.height is not None and given.width is not None:
        size = given.height, given.width
    elif height is not None and width is not None:
        size = height, width
    kind = np.dtype(TYPES[first.kind])
    return Wiring(
        tuple(each.name for each in inputs),
        _colour(model.path, first, channels, len(inputs), given),
        kind,
        _white(model.path, kind, given),
        size,
        *_outputs(model, given),
    )


def _inputs(model: Model, given: NetworkDescription) -> tuple[Input, ...]:
    """Return the inputs of the left and the right view, or the one of both."""
    if model.inputs is None:  # OpenCV does not tell
        one = given.left is not None and given.right is None
        names = [given.left or "left"] if one else [given.left or "left", given.right or "right"]
        return tuple(Input(name, (None,) * 4) for name in names)
    known = {each.name: each for each in model.inputs}
    for name in (given.left, given.right):
        if name is not None and name not in known:
            raise _without(model.path, "an input", name, list(known))
    if len(known) == 1:
        return tuple(model.inputs)
    if len(known) != 2:
        raise FileError(
            model.path,
            "expected a network with an input for each view, or with one for both, got "
            f"{', '.join(known) or 'none'}; export it with the others fixed",
        )
    left, right = model.inputs
    if left.name == given.right or right.name == given.left or _is_swapped(left, right, given):
        return right, left
    return left, right


def _is_swapped(left: Input, right: Input, given: NetworkDescription) -> bool:
    """Return whether the names say that the right view comes first."""
    if given.left is not None or given.right is not None:
        return False
    return "right" in left.name.lower() and "left" in right.name.lower()


def _sides(path: Path, tensor: Input, layout: str) -> tuple[int | None, int | None, int | None]:
    """Return channels, height and width of an input."""
    if len(tensor.shape) != 4:
        raise FileError(
            path,
            f"expected an input of 4 dimensions ({layout}), got {tensor.name} of "
            f"{len(tensor.shape)}; export the network for images",
        )
    _, *sides = tensor.shape
    if layout == "nchw":
        return sides[0], sides[1], sides[2]
    return sides[2], sides[0], sides[1]


def _colour(
    path: Path, tensor: Input, channels: int | None, count: int, given: NetworkDescription
) -> str:
    """Return what the views are given as: by the number of channels, if nothing else is said."""
    views = 2 // count
    colour = given.colour or ("grey" if channels == views else "rgb")
    expected = views * (1 if colour == "grey" else 3)
    if channels not in (None, expected):
        raise FileError(
            path,
            f"expected {expected} channels in the input {tensor.name}, for {views} "
            f"view{'s' * (views > 1)} in {colour}, got {channels}; {CURE}",
        )
    return colour


def _white(path: Path, kind: np.dtype[np.generic], given: NetworkDescription) -> float:
    """Return the value of white; refuse one that, with mean and std, bytes cannot hold."""
    if kind != np.uint8:
        return 1.0 if given.white is None else given.white
    white = float(BYTE_MOST) if given.white is None else given.white
    mean, std = np.array(given.mean), np.array(given.std)
    # Views are rounded to whole numbers.
    lowest, highest = round(np.min(-mean / std)), round(np.max((white - mean) / std))
    if lowest < 0 or highest > BYTE_MOST:
        raise FileError(
            path,
            f"expected views from 0 to {BYTE_MOST}, since its inputs are bytes, but white, mean "
            f"and std make them {lowest} to {highest}; change them in its TOML file",
        )
    return white


def _outputs(model: Model, given: NetworkDescription) -> tuple[str, str | None]:
    """Return the outputs of the disparity and of the confidence."""
    known = list(model.outputs)
    for name in (given.disparity, given.confidence):
        if name is not None and name not in known:
            raise _without(model.path, "an output", name, known)
    sure = [name for name in known if "conf" in name.lower()]
    confidence = given.confidence or (sure[0] if len(sure) == 1 and len(known) > 1 else None)
    rest = [name for name in known if name != confidence]
    named = [name for name in rest if "disp" in name.lower()]
    for names in (named, rest):
        if given.disparity is None and len(names) == 1:
            return names[0], confidence
    if given.disparity is None:
        raise FileError(
            model.path,
            f"expected one output of disparity, got {', '.join(known) or 'none'}; name it as "
            "disparity in a TOML file beside it",
        )
    return given.disparity, confidence


def _without(path: Path, what: str, name: str, known: list[str]) -> FileError:
    has = ", ".join(known) or "none"
    return FileError(path, f"expected {what} named {name}, as its TOML file says, got {has}")
