"""NumPy's array files, without pickles and without trusting the header's shape."""

from __future__ import annotations

import ast
import io
import math
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slanted.errors import FileError

_HEADER_ERRORS = (
    *(ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError),
    *(KeyError, IndexError, AttributeError, OverflowError),
)
"""What evaluating a header and making a dtype of it let through."""
_SIZE_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
MOST_HEADER_BYTES = 10_000
MOST_AXES = 32


def decode(path: Path, data: bytes) -> NDArray[Any]:
    """Decode an NPY file of plain numbers.

    ``np.load`` allocates whatever the header asks for before it looks at the file's length; a
    damaged header would ask for terabytes.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its whole content.

    Returns
    -------
    NDArray
        The array, read-only, of any shape and plain dtype.
    """
    stream = io.BytesIO(data)
    shape, is_fortran, dtype = read_header(path, stream)
    offset_bytes = stream.tell()
    expected_bytes, found_bytes = math.prod(shape) * dtype.itemsize, len(data) - offset_bytes
    if found_bytes < expected_bytes:
        raise FileError(
            path,
            f"the NumPy file is truncated, shape {shape} needs {expected_bytes} bytes, but"
            f" {found_bytes} follow its header; save it again",
        )
    values = np.frombuffer(data, dtype, math.prod(shape), offset_bytes)
    return values.reshape(shape, order="F" if is_fortran else "C")


def read_header(path: Path, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an array of plain numbers, and leave the stream behind it.

    Returns
    -------
    shape, is_fortran, dtype
        Of an array that NumPy could make, if there is memory for it.
    """
    try:
        version = npy_format.read_magic(stream)
        size = int.from_bytes(_exactly(stream, _SIZE_BYTES[version]), "little")
        if size > MOST_HEADER_BYTES:
            raise ValueError(f"a header of {size} bytes")
        # NumPy's own readers warn about what Python 2 wrote, and try to mend it.
        header = ast.literal_eval(_exactly(stream, size).decode("latin-1"))
        shape, is_fortran, descr = (header[key] for key in ("shape", "fortran_order", "descr"))
        if not all(type(side) is int for side in shape) or type(is_fortran) is not bool:
            raise ValueError(f"shape {shape}")
        dtype = npy_format.descr_to_dtype(descr)
    except _HEADER_ERRORS as error:
        raise FileError(
            path,
            "expected a NumPy array file (.npy), but its header is damaged or of an unknown kind;"
            " save it again with numpy.save",
        ) from error
    shape = tuple(shape)
    if dtype.hasobject or dtype.kind not in "fiubc":
        raise FileError(path, f"expected an array of numbers, but its dtype is {dtype}")
    # A length of 0 hides absurd ones beside it, which NumPy refuses later.
    largest = math.prod(max(size, 1) for size in shape) * dtype.itemsize
    if min(shape, default=1) < 0 or len(shape) > MOST_AXES or largest > sys.maxsize:
        raise FileError(path, f"no array has the shape {shape}; save it again with numpy.save")
    return shape, is_fortran, dtype


def encode(values: NDArray[Any]) -> bytes:
    """Encode an array as the content of an NPY file.

    Parameters
    ----------
    values
        Any array of numbers; it is stored little-endian and in C order.

    Returns
    -------
    bytes
        The content of the file.
    """
    stream = io.BytesIO()
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    np.save(stream, little, allow_pickle=False)
    return stream.getvalue()


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError(f"{len(data)} of {size} bytes are there")
    return data
