"""How likely a contour runs through each pixel, and across which direction.

Oriented gradients of brightness and colour at several scales, after Arbeláez et al.: a disc around
each pixel is cut in half along eight lines, and the histograms of both halves are compared. It
differs from theirs in that texture and the spectral ("global") stage are left out, no weights are
learned (all channels and scales count alike), and larger images are halved first, for speed.

References
----------
.. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
   segmentation", TPAMI 33 (5), 2011, §3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.segmentation.contour_kernels import (
    BINS,
    ORIENTATIONS,
    add_histogram_gradient,
    disc_slices,
)

RADII = (3, 5)
"""Of the discs, in pixels, after halving."""
LARGEST_WHOLE = 300_000
"""Pixels of the largest image that is not halved."""
LAB_RANGES = ((0, 255), (98, 158), (98, 158))
"""What the histogram bins of L, a, b span; the colours of photographs hardly leave it."""


def find_contours(lab: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return (8, H, W) strengths in 0 … 1 for gradients at the angles k π / 8.

    Parameters
    ----------
    lab
        (3, H, W) 8-bit Lab planes. Angles run from the columns' direction towards the rows'.
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


def strongest(gradient: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return each pixel's largest strength and the angle of its gradient."""
    best = np.argmax(gradient, axis=0)
    angles = best.astype(np.float32) * np.float32(np.pi / ORIENTATIONS)
    return np.take_along_axis(gradient, best[None], axis=0)[0], angles


def given_contours(
    path: Path, image: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return strengths and angles of a contour map or model of the user's own.

    Parameters
    ----------
    path
        An image of the left image's size, bright on contours, or an ONNX model, which
        `cv2.dnn` runs: it gets (1, 3, H, W) RGB in 0 … 1 and gives (1, 1, H, W); values outside
        0 … 1 are taken for logits.
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


def _read_map(path: Path) -> NDArray[np.float32]:
    from slanted.images.checks import as_grey
    from slanted.io import read_image

    image: Any = read_image(path)
    grey = as_grey(image)
    return grey.astype(np.float32) / np.float32(np.iinfo(grey.dtype).max)


def _run_model(path: Path, image: NDArray[np.uint8]) -> NDArray[np.float32]:
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


def _ridge_angles(strength: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction across ridges: that of the largest curvature of the smoothed map."""
    smooth = cv2.GaussianBlur(strength, (0, 0), 2.0)
    xx, xy, yy = (cv2.Sobel(smooth, cv2.CV_32F, i, 2 - i, ksize=5) for i in (2, 1, 0))
    # The eigenvector of the Hessian whose eigenvalue is lowest: a ridge bends down across itself.
    angles = np.mod(0.5 * np.arctan2(-2 * xy, yy - xx), np.pi)
    return np.asarray(angles, np.float32)
