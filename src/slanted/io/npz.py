"""NumPy's archives of arrays, read one array at a time, and only after its header was looked at.

``np.load`` unpacks whatever a member's header asks for; a file of a few megabytes can ask for
gigabytes. Here the reader says which arrays it wants, of which kind and shape, and nothing else is
unpacked.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io import npy
from slanted.io.files import read_bytes

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_ERRORS = (
    *(OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, RuntimeError),
    *(TypeError, AttributeError, KeyError, IndexError, OverflowError),
)
"""What ``zipfile`` lets through of a damaged archive."""


class StoredArrays:
    """The arrays of an NPZ file, by name; a context manager.

    Parameters
    ----------
    path
        The file.
    what
        What was expected, for messages: "the arrays of a result".

    Raises
    ------
    FileError
        If it is no such archive.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what = path, what
        data = read_bytes(path)
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            infos = self._archive.infolist()
        except _ERRORS as error:
            raise self._problem(error) from error
        self._members = {info.filename.removesuffix(".npy"): info for info in infos}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._archive.close()

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """Return the names of all arrays."""
        return list(self._members)

    def header(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return the shape and type of an array, and unpack no more; errors as of `read`."""
        with self._opened(name) as stream:
            shape, _, dtype = npy.read_header(self._path, stream)
        return shape, dtype

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
            The shape that it must have, None for any length along an axis, or in all.
        most
            The most elements that it may have.

        Raises
        ------
        ValueError
            If its header says another kind, shape or size; nothing is unpacked then.
        KeyError
            If there is none of that name.
        FileError
            If it is damaged.
        """
        with self._opened(name) as stream:
            found, is_fortran, dtype = npy.read_header(self._path, stream)
            fits = shape is None or (
                len(found) == len(shape)
                and all(e in (None, f) for e, f in zip(shape, found, strict=True))
            )
            count = math.prod(found)
            if dtype.kind not in kinds or not fits or count > most:
                raise _DoesNotFitError(f"{name} has shape {found} and type {dtype}")
            data = _exactly(stream, count * dtype.itemsize)
        values = np.frombuffer(data, dtype, count)
        return values.reshape(found, order="F" if is_fortran else "C").copy()

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member; whatever is wrong with it becomes a FileError."""
        info = self._members[name]
        if info.compress_type not in _PACKED or info.flag_bits & _ENCRYPTED:
            raise self._problem(f"{name} is packed in a way that NumPy does not use")
        try:
            with self._archive.open(info) as stream:
                yield stream
        except _DoesNotFitError:
            raise
        except FileError as error:
            raise self._problem(error.problem) from error
        except _ERRORS as error:
            raise self._problem(error) from error

    def _problem(self, why: object) -> FileError:
        return FileError(self._path, f"expected {self._what} ({why})")


class _DoesNotFitError(ValueError):
    pass


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size or stream.read(1):  # reading on to the end also checks the checksum
        raise ValueError(f"{size} bytes were announced, and others are there")
    return data
