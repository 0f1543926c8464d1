"""Reading confidence maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.arrays import decode_npy
from slanted.io.files import read_bytes
from slanted.io.images import read_image

CONFIDENCE_STEPS = 65535
"""What stands for 1 where a confidence is stored in 16 bits."""
EXPECTED = "expected a confidence: floats from 0 to 1 (NPY), or 16-bit grey where 65535 is 1 (PNG)"


def read_confidence(path: Path | str) -> NDArray[np.float32]:
    """Read the probability that each pixel is right, as NPY or as PNG of 16 bits.

    Returns
    -------
    NDArray[np.float32]
        ``(H, W)``, from 0 to 1.

    Raises
    ------
    FileError
        If the file cannot be read or is not a confidence.
    """
    path = Path(path)
    data = read_bytes(path)
    if data.startswith(b"\x93NUMPY"):
        values = decode_npy(path, data)
        if values.ndim != 2 or values.dtype.kind != "f" or not values.size:
            raise FileError(path, f"{EXPECTED}, got {values.dtype} of shape {values.shape}")
        if not (values.min() >= 0 and values.max() <= 1):  # NaN is neither
            raise FileError(path, f"{EXPECTED}, got other numbers")
        return values.astype(np.float32)
    image = read_image(path)
    if image.ndim != 2 or image.dtype != np.uint16:
        raise FileError(path, f"{EXPECTED}, got {image.dtype} of shape {image.shape}")
    return unpack_confidence(image)


def unpack_confidence(packed: NDArray[Any]) -> NDArray[np.float32]:
    """Return 65535ths as confidences from 0 to 1."""
    return packed.astype(np.float32) / np.float32(CONFIDENCE_STEPS)
