"""Views as the tensors of a network, and its outputs as maps of the views' size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import FileError
from slanted.images.colour import as_grey, as_rgb8
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from slanted.matching.network.description import NetworkDescription
    from slanted.matching.network.model import Tensors
    from slanted.matching.network.wiring import Wiring
    from slanted.runtime.arrays import Bytes, DisparityMap, Float32s


@dataclass(frozen=True)
class Fit:
    """How views of one size become those of another, that a network takes, and back."""

    size: tuple[int, int]
    """Height and width of the views."""
    inside: tuple[int, int]
    """Height and width of the network's inputs."""
    resized: bool
    """Whether views are resized; otherwise their last rows and columns are repeated."""

    @classmethod
    def of(cls, size: tuple[int, int], fixed: tuple[int, int] | None, multiple: int) -> Fit:
        """Return the fit to a network of one size, or of multiples of a number of pixels."""
        if fixed is not None:
            return cls(size, fixed, resized=fixed != size)
        height, width = (-(-side // multiple) * multiple for side in size)
        return cls(size, (height, width), resized=False)

    def fitted(self, view: Bytes) -> Bytes:
        """Return a view in the network's size."""
        height, width = self.inside
        if not self.resized:
            below, beside = height - self.size[0], width - self.size[1]
            padded: Bytes = cv2.copyMakeBorder(view, 0, below, 0, beside, cv2.BORDER_REPLICATE)
            return padded
        shrinks = height * width < self.size[0] * self.size[1]
        how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
        resized: Bytes = cv2.resize(view, (width, height), interpolation=how)
        return resized

    def restored(self, values: Float32s) -> DisparityMap:
        """Return a map of the network's size in that of the views; its values stay."""
        height, width = self.size
        if self.resized:
            return _resized(values, self.size)
        return np.ascontiguousarray(values[:height, :width])

    @property
    def stretch(self) -> float:
        """Pixels of the views for each of the network's, along rows."""
        return self.size[1] / self.inside[1] if self.resized else 1.0


def _resized(values: Float32s, size: tuple[int, int]) -> DisparityMap:
    resized: DisparityMap = cv2.resize(values, size[::-1], interpolation=cv2.INTER_LINEAR)
    return resized


def tensors_of(
    views: tuple[Bytes, Bytes], fit: Fit, wiring: Wiring, given: NetworkDescription
) -> Tensors:
    """Return the inputs of a network for a left and a right view."""
    axis = 1 if given.layout == "nchw" else 3
    both = [
        _tensor(fit.fitted(_coloured(view, wiring.colour)), wiring.white, given) for view in views
    ]
    if len(wiring.inputs) == 1:
        both = [np.concatenate(both, axis=axis)]
    if wiring.kind == np.uint8:
        both = [np.rint(each) for each in both]
    kinds = (np.ascontiguousarray(each, wiring.kind) for each in both)
    return dict(zip(wiring.inputs, kinds, strict=True))


def _coloured(view: Bytes, colour: str) -> Bytes:
    if colour == "grey":
        return np.asarray(as_grey(view), np.uint8)
    rgb = as_rgb8(view)
    return rgb if colour == "rgb" else np.ascontiguousarray(rgb[..., ::-1])


def _tensor(view: Bytes, white: float, given: NetworkDescription) -> Float32s:
    channels = view.reshape(*view.shape[:2], -1).astype(np.float32)
    mean, std = (np.array(each, np.float32) for each in (given.mean, given.std))
    # Whole values stay so: a network of bytes gets the views as they are.
    values = channels if white == 255 else channels * np.float32(white / 255)
    normed = ((values - mean) / std)[np.newaxis]
    return normed.transpose(0, 3, 1, 2) if given.layout == "nchw" else normed


def map_of(
    path: Path, name: str, output: NDArray[Any], fit: Fit, given: NetworkDescription
) -> DisparityMap:
    """Return an output as a map of the views' size, in the output's own units.

    Raises
    ------
    FileError
        If it is no map, or has several channels of which none is named.
    """
    values = np.asarray(output, np.float32)
    if values.ndim == 4:
        channels = values[0] if given.layout == "nchw" else values[0].transpose(2, 0, 1)
        if len(channels) > 1 and given.channel is None:
            raise FileError(
                path,
                f"expected one channel in the output {name}, got {len(channels)}; name the one of "
                "the disparity as channel in a TOML file beside it",
            )
        chosen = 0 if len(channels) == 1 else given.channel or 0
        values = channels[chosen] if chosen < len(channels) else values
    elif values.ndim == 3 and len(values) == 1:
        values = values[0]
    if values.ndim != 2 or values.size == 0:
        raise FileError(
            path,
            f"expected a map of disparities in the output {name}, got shape {output.shape}; name "
            "another as disparity in a TOML file beside it",
        )
    if values.shape != fit.inside:  # many networks end at a fraction of the size
        values = _resized(values, fit.inside)
    return fit.restored(values)
