"""Colour histograms of segments and their distances (paper, Section 3.1, colour similarity).

The paper gives 64 bins and the χ² distance. Here the bins are 4 × 4 × 4 joint ones of RGB, the
histograms sum to one, and χ² has the factor ½ that makes 1 its largest value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.images.colour import as_8_bit
from slanted.regions.pixel_kernels import chi_squared_distances, colour_counts
from slanted.runtime.arrays import Floats, Ints, Starts


def colour_histograms(label_image: Ints, image: NDArray[np.uint8], size: Starts) -> Floats:
    """Return each segment's share of pixels in each bin, (n, 64).

    `image` is (H, W, 3) or (H, W, 1), from `check_colours`.
    """
    pixels = image.reshape(label_image.size, image.shape[2])
    counts = colour_counts(label_image.reshape(-1), pixels, len(size))
    shares: Floats = counts / size[:, None]
    return shares


def chi_squared(histograms: Floats, edges: Ints) -> Floats:
    """Return ½ Σ (h − g)² / (h + g) for each edge."""
    distances: Floats = chi_squared_distances(histograms, edges)
    return distances


def check_colours(image: Any, size: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return an image as 8-bit (H, W, 3) or (H, W, 1), or raise an InputError.

    16-bit images are scaled as for the matchers, by their own 99.9 % quantile.
    """
    array = np.asarray(image)
    channels_fit = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if not channels_fit or array.dtype not in (np.uint8, np.uint16):
        raise InputError(
            "image: expected a grey (H, W) or RGB (H, W, 3) image of type uint8 or uint16, got "
            f"shape {array.shape} of type {array.dtype}; convert it first"
        )
    if array.shape[:2] != size:
        raise InputError(
            f"image: expected the size of labels, {size[1]}×{size[0]}, got "
            f"{array.shape[1]}×{array.shape[0]}; pass the image that the segments were made of"
        )
    array8, _ = as_8_bit(array, array[:0])  # of a pair, here, there is only one
    return np.ascontiguousarray(array8).reshape(*size, -1)
