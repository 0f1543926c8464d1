"""Label images: which segment each pixel belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io import npy
from slanted.io.files import read_bytes, write_bytes
from slanted.io.images import read_image


def read_labels(path: Path | str) -> NDArray[np.integer[Any]]:
    """Read a label image: NPY of integers, or a grey PNG, TIFF or PGM of 8 or 16 bit.

    More than 65,536 labels need NPY.

    Raises
    ------
    FileError
        If the file is not a single-channel image of integers.
    """
    path = Path(path)
    labels: NDArray[Any]
    if path.suffix.lower() == ".npy":
        labels = npy.decode(path, read_bytes(path))
    elif read_bytes(path).startswith(b"\xff\xd8"):
        raise FileError(path, "expected a label image, got a JPEG, which changes numbers; use PNG")
    else:
        labels = read_image(path)
    if labels.dtype.kind not in "iu" or labels.ndim != 2:
        raise FileError(
            path,
            f"expected a label image, (H, W) whole numbers, got shape {labels.shape} of type "
            f"{labels.dtype}; save the numbers of the segments, not their colours",
        )
    return labels


def write_labels(path: Path | str, labels: NDArray[np.int32]) -> None:
    """Write a label image as NPY."""
    write_bytes(path, npy.encode(labels))
