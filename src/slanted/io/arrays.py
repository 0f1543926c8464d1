"""NumPy's array files, NPY and NPZ, without pickles and with every size checked before use.

``np.load`` allocates whatever a header asks for before it looks at the file's length, and unpacks
whatever an archive holds, so a damaged header asks for terabytes and a file of a few megabytes can
unpack to gigabytes. Here the header is checked against the bytes that are there, and an archive
unpacks only the arrays that its reader asks for, of the kind and shape that the reader expects.
"""

from __future__ import annotations

import ast
import io
import math
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.files import read_bytes

_HEADER_ERRORS = (
    *(ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError),
    *(KeyError, IndexError, AttributeError, OverflowError),
)
"""What evaluating a damaged header, and making a dtype of it, can raise."""
_SIZE_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
MOST_HEADER_BYTES = 10_000
MOST_AXES = 32

MOST_MEMBERS = 2**16
"""Most arrays of an archive; ``zipfile`` makes an object for each before anything is read."""
_BYTES_AT_A_TIME = 2**20
_MEMBER = b"PK\1\2"
"""The start of each entry in the table of a ZIP archive."""
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_ARCHIVE_ERRORS = (
    *(OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, RuntimeError),
    *(TypeError, AttributeError, KeyError, IndexError, OverflowError),
)
"""What ``zipfile`` can raise for a damaged archive."""


@dataclass(frozen=True)
class ArrayHeader:
    """Shape, order and type of an array of plain numbers."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def view(self, data: bytes, offset_bytes: int = 0) -> NDArray[Any]:
        """Return the array whose elements start at an offset in `data`, read-only."""
        values = np.frombuffer(data, self.dtype, self.count, offset_bytes)
        return values.reshape(self.shape, order="F" if self.is_fortran else "C")


def decode_npy(path: Path, data: bytes) -> NDArray[Any]:
    """Decode an NPY file; the array is read-only and has any shape and plain dtype."""
    stream = io.BytesIO(data)
    header = read_array_header(path, stream)
    expected_bytes = header.count * header.dtype.itemsize
    found_bytes = len(data) - stream.tell()
    if found_bytes < expected_bytes:
        raise FileError(
            path,
            f"the NumPy file is truncated, shape {header.shape} needs {expected_bytes} bytes, but"
            f" {found_bytes} follow its header; save it again",
        )
    return header.view(data, stream.tell())


def encode_npy(values: NDArray[Any]) -> bytes:
    """Encode an array of numbers as an NPY file, little-endian and in C order."""
    stream = io.BytesIO()
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    np.save(stream, little, allow_pickle=False)
    return stream.getvalue()


def read_array_header(path: Path, stream: IO[bytes]) -> ArrayHeader:
    """Read the header of an array of plain numbers, and leave the stream at its end.

    NumPy could create the array if there were enough memory.
    """
    try:
        version = npy_format.read_magic(stream)
        size = int.from_bytes(_read(stream, _SIZE_BYTES[version]), "little")
        if size > MOST_HEADER_BYTES:
            raise ValueError(f"a header of {size} bytes")
        # NumPy's own readers of the whole header warn about those that Python 2 wrote, and turning
        # warnings off is not safe in a program with threads.
        fields = ast.literal_eval(_read(stream, size).decode("latin-1"))
        shape, is_fortran, descr = (fields[key] for key in ("shape", "fortran_order", "descr"))
        if not all(type(side) is int for side in shape) or type(is_fortran) is not bool:
            raise ValueError(f"shape {shape}")
        header = ArrayHeader(tuple(shape), is_fortran, npy_format.descr_to_dtype(descr))
    except _HEADER_ERRORS as error:
        raise FileError(
            path,
            "expected a NumPy array file (.npy), but its header is damaged or of an unknown kind;"
            " save it again with numpy.save",
        ) from error
    shape, dtype = header.shape, header.dtype
    if dtype.hasobject or dtype.kind not in "fiubc":
        raise FileError(path, f"expected an array of numbers, but its dtype is {dtype}")
    # An axis of length 0 hides absurd lengths of other axes, which NumPy refuses later.
    largest = math.prod(max(side, 1) for side in shape) * dtype.itemsize
    if min(shape, default=1) < 0 or len(shape) > MOST_AXES or largest > sys.maxsize:
        raise FileError(path, f"no array has the shape {shape}; save it again with numpy.save")
    return header


class StoredArrays:
    """The arrays of an NPZ file, by name; a context manager.

    Parameters
    ----------
    path
        The file.
    what
        What was expected, for messages, such as "the arrays of a result".

    Raises
    ------
    FileError
        If the file is not an NPZ archive.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what = path, what
        data = read_bytes(path)
        if data.count(_MEMBER) > MOST_MEMBERS:
            raise self._problem(f"more than {MOST_MEMBERS} arrays")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            infos = self._archive.infolist()
        except _ARCHIVE_ERRORS as error:
            raise self._problem(error) from error
        self._members = {info.filename.removesuffix(".npy"): info for info in infos}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """Return the names of all arrays."""
        return list(self._members)

    def header(self, name: str) -> ArrayHeader:
        """Return the header of an array and unpack nothing else; errors are those of `read`."""
        with self._open(name) as stream:
            return read_array_header(self._path, stream)

    def read(
        self, name: str, kinds: str, shape: tuple[int | None, ...] | None, most: int
    ) -> NDArray[Any]:
        """Return an array.

        Parameters
        ----------
        name
            Its name.
        kinds
            Kinds of dtype that it may have.
        shape
            The shape that it must have; None stands for any length of an axis, or for any shape.
        most
            The most elements that it may have.

        Raises
        ------
        ValueError
            If its header has another kind, shape or size; nothing is unpacked then.
        KeyError
            If there is no array of that name.
        FileError
            If it is damaged.
        """
        with self._open(name) as stream:
            header = read_array_header(self._path, stream)
            found = header.shape
            fits = shape is None or (
                len(found) == len(shape)
                and all(e in (None, f) for e, f in zip(shape, found, strict=True))
            )
            if header.dtype.kind not in kinds or not fits or header.count > most:
                raise _DoesNotFitError(f"{name} has shape {found} and type {header.dtype}")
            values = np.empty(found, header.dtype, order="F" if header.is_fortran else "C")
            self._fill(stream, values.reshape(-1, order="A").view(np.uint8))
        return values

    @staticmethod
    def _fill(stream: IO[bytes], values: NDArray[np.uint8]) -> None:
        """Read all bytes of an array, in parts, so that none of them is held twice."""
        for first in range(0, len(values), _BYTES_AT_A_TIME):
            part = values[first : first + _BYTES_AT_A_TIME]
            data = stream.read(len(part))
            part[: len(data)] = np.frombuffer(data, np.uint8)
            if len(data) < len(part):
                break
        else:
            if not stream.read(1):  # reading to the end also checks the checksum
                return
        raise ValueError(f"{len(values)} bytes were announced, but there are more or fewer")

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member; whatever is wrong with it becomes a FileError."""
        info = self._members[name]
        if info.compress_type not in _COMPRESSIONS or info.flag_bits & _ENCRYPTED:
            raise self._problem(f"{name} is packed in a way that NumPy does not use")
        try:
            with self._archive.open(info) as stream:
                yield stream
        except _DoesNotFitError:
            raise
        except FileError as error:
            raise self._problem(error.problem) from error
        except _ARCHIVE_ERRORS as error:
            raise self._problem(error) from error

    def _problem(self, why: object) -> FileError:
        return FileError(self._path, f"expected {self._what} ({why})")


class _DoesNotFitError(ValueError):
    pass


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError(f"{len(data)} of {size} bytes are there")
    return data
