"""The strength and direction of the contour through each pixel.

Oriented gradients of brightness and colour at several scales, after Arbeláez et al.: a disc around
each pixel is cut in half along eight lines, and the histograms of both halves are compared. Unlike
theirs, this has no texture channel and no spectral ("global") stage, all channels and scales count
alike instead of by learned weights, and larger images are first reduced to half size, for speed.

References
----------
.. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
   segmentation", TPAMI 33 (5), 2011, §3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from slanted.errors import FileError
from slanted.runtime.arrays import Bytes, Float32s
from slanted.runtime.opencv import cv2
from slanted.segmentation.contour_kernels import (
    BINS,
    ORIENTATIONS,
    add_histogram_gradient,
    disc_slices,
)

RADII = (3, 5)
"""Radii of the discs, in pixels of the image after halving."""
LARGEST_WHOLE = 300_000
"""Size, in pixels, of the largest image that is not halved."""
LAB_RANGES = ((0, 255), (98, 158), (98, 158))
"""Ranges of L, a and b that the histogram bins cover; photographs hardly exceed them."""


def find_contours(lab: Bytes) -> Float32s:
    """Return (8, H, W) contour strengths, 0 … 1, of the gradient angles k π / 8.

    Angles are measured from the x axis towards the y axis. `lab` are (3, H, W) 8-bit Lab planes.
    """
    height, width = lab.shape[1:]
    shrink = 2 if height * width > LARGEST_WHOLE else 1
    small_size = -(-width // shrink), -(-height // shrink)
    gradient = np.zeros((ORIENTATIONS, *small_size[::-1]), np.float32)
    for plane, (low, high) in zip(lab, LAB_RANGES, strict=True):
        small = cv2.resize(plane, small_size, interpolation=cv2.INTER_AREA).astype(np.float32)
        level = np.clip((small - low) / (high - low), 0, 1) * (BINS - 1)
        bins = np.minimum(level.astype(np.uint8), np.uint8(BINS - 2))
        for radius in RADII:
            padded = [
                cv2.copyMakeBorder(values, *[radius] * 4, cv2.BORDER_REFLECT)
                for values in (bins, level - bins)
            ]
            add_histogram_gradient(*padded, *disc_slices(radius), gradient)
    gradient /= len(lab) * len(RADII)
    size = width, height
    return np.stack([cv2.resize(one, size, interpolation=cv2.INTER_LINEAR) for one in gradient])


def strongest(gradient: Float32s) -> tuple[Float32s, Float32s]:
    """Return the largest strength at each pixel and the angle of its gradient."""
    best = np.argmax(gradient, axis=0)
    angles = best.astype(np.float32) * np.float32(np.pi / ORIENTATIONS)
    return np.take_along_axis(gradient, best[None], axis=0)[0], angles


def contours_from_user(path: Path, image: Bytes) -> tuple[Float32s, Float32s]:
    """Return the strengths and angles of a user's contour map or contour model.

    Parameters
    ----------
    path
        An image of the left image's size, bright on contours, or an ONNX model for `cv2.dnn` that
        maps (1, 3, H, W) RGB in 0 … 1 to (1, 1, H, W); values outside 0 … 1 are taken for logits.
    image
        (H, W, 3) RGB.
    """
    strength = _run_model(path, image) if path.suffix.lower() == ".onnx" else _read_map(path)
    if strength.shape != image.shape[:2]:
        raise FileError(
            path,
            f"expected contours of the image's size, {image.shape[1]}×{image.shape[0]}, got "
            f"{strength.shape[1]}×{strength.shape[0]}",
        )
    return strength, _ridge_angles(strength)


def _read_map(path: Path) -> Float32s:
    from slanted.images.colour import as_grey
    from slanted.io import read_image

    image: Any = read_image(path)
    grey = as_grey(image)
    return grey.astype(np.float32) / np.float32(np.iinfo(grey.dtype).max)


def _run_model(path: Path, image: Bytes) -> Float32s:
    from slanted.io import read_bytes

    content = np.frombuffer(read_bytes(path), np.uint8)
    try:
        network = cv2.dnn.readNetFromONNX(content)
        network.setInput(cv2.dnn.blobFromImage(image, 1 / 255.0))
        output = np.asarray(network.forward(), np.float32)
    except cv2.error as error:
        raise FileError(path, f"OpenCV cannot run this ONNX model ({error.err})") from error
    if output.size != image.shape[0] * image.shape[1] or not np.isfinite(output).all():
        raise FileError(
            path, f"expected one finite map of the image's size, got shape {output.shape}"
        )
    if output.min() < 0 or output.max() > 1:
        output = np.asarray(1 / (1 + np.exp(-output)), np.float32)
    return output.reshape(image.shape[:2])


def _ridge_angles(strength: Float32s) -> Float32s:
    """Return the direction across ridges, the one in which the smoothed map curves most."""
    smooth = cv2.GaussianBlur(strength, (0, 0), 2.0)
    xx, xy, yy = (cv2.Sobel(smooth, cv2.CV_32F, i, 2 - i, ksize=5) for i in (2, 1, 0))
    # The eigenvector of the Hessian of the lowest eigenvalue: a ridge curves down across itself.
    angles = np.mod(0.5 * np.arctan2(-2 * xy, yy - xx), np.pi)
    return np.asarray(angles, np.float32)
