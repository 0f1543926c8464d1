"""Statistics of sets of pixels: centres, covariances and colour histograms.

The mean of a squared affine function over a set Q, as in the hinge and coplanar costs (paper,
Section 3.1), is its square at the centre of Q plus gᵀ Cov(Q) g for the slope g.

The paper compares colours by the χ² distance of histograms of 64 bins. Here these are 4 × 4 × 4
joint RGB bins, histograms sum to one, and χ² has the factor ½ that makes 1 its largest value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slanted.errors import InputError
from slanted.images.checks import check_channels, size_text
from slanted.images.colour import as_8_bit
from slanted.regions.pixel_kernels import chi_squared_distances, colour_counts, coordinate_sums
from slanted.runtime.arrays import Bytes, Floats, Ints, Starts


def set_moments(pixels: Ints, start: Starts, width: int) -> tuple[Floats, Floats]:
    """Return the centres (u, v) and covariances (uu, uv, vv) of sets; see `coordinate_sums`."""
    origin, sums = coordinate_sums(pixels, start, width)
    means = sums / np.diff(start)[:, None]
    shift = means[:, :2]
    return origin + shift, means[:, 2:] - _products(shift)


def union_moments(
    size: Starts, centre: Floats, covariance: Floats, edges: Ints
) -> tuple[Floats, Floats]:
    """Return the centres and covariances of S_i ∪ S_j, from those of the segments.

    By the parallel-axis theorem this is the weighted mean of the two covariances plus the spread of
    the two centres.
    """
    first, second = edges[:, 0], edges[:, 1]
    share = (size[second] / (size[first] + size[second]))[:, None]
    apart = centre[second] - centre[first]
    mixed = (1 - share) * covariance[first] + share * covariance[second]
    return centre[first] + share * apart, mixed + share * (1 - share) * _products(apart)


def _products(vectors: Floats) -> Floats:
    u, v = vectors[:, 0], vectors[:, 1]
    return np.stack([u * u, u * v, v * v], axis=1)


def colour_histograms(label_image: Ints, image: Bytes, size: Starts) -> Floats:
    """Return the share of each segment's pixels in each bin, (n, 64).

    `image` is (H, W, 3) or (H, W, 1), from `check_colours`.
    """
    pixels = image.reshape(label_image.size, image.shape[2])
    counts = colour_counts(label_image.reshape(-1), pixels, len(size))
    shares: Floats = counts / size[:, None]
    return shares


def chi_squared(histograms: Floats, edges: Ints) -> Floats:
    """Return ½ Σ (h − g)² / (h + g) of each edge's two histograms."""
    distances: Floats = chi_squared_distances(histograms, edges)
    return distances


def check_colours(image: Any, size: tuple[int, ...]) -> Bytes:
    """Return an image as 8-bit (H, W, 3) or (H, W, 1), or raise an InputError.

    16-bit images are scaled by their 99.9 % quantile, as for the matchers.
    """
    array = check_channels("image", np.asarray(image))
    if array.shape[:2] != size:
        raise InputError(
            f"image: expected the size of the label image, {size[1]}×{size[0]}, got "
            f"{size_text(array)}; pass the image that the segments were made of"
        )
    array8, _ = as_8_bit(array, array[:0])  # as_8_bit takes a pair, and there is one image only
    return np.ascontiguousarray(array8).reshape(*size, -1)
