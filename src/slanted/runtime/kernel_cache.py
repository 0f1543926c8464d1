"""The cache of compiled kernels: Numba's, changed where it could break a run.

The folder is Numba's choice: ``NUMBA_CACHE_DIR``, else beside the sources, else the user's cache
folder, whichever is the first that may be written. Some things differ from ``njit(cache=True)``:

- A kernel is compiled again when a kernel or constant that it uses from another file changes; Numba
  looks only at the kernel's own file and would keep using the stale code.
- A specialisation has its own file, named by a digest of its ingredients. Numba numbers them in
  an index, so two processes that compile at the same time can swap the files of two kernels.
- A file that cannot be read or written, as on a full disk, costs time and not the run.
- Nothing but Numba's runtime is loaded with a cached kernel.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

from slanted.runtime import quick_compiler
from slanted.runtime.interrupts import uninterrupted

HERE = Path(__file__).parent
COMPILER_FILES = "kernel.py", "quick_compiler.py", "inner_library.py", "few_passes.py"
PLAIN = (bool, int, float, complex, str, bytes, tuple, np.generic)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Cache of the specialisations of one kernel.

    Raises
    ------
    RuntimeError
        If there is no folder that may be written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, function)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a cached specialisation, or None.

        Numba first loads all that it can compile, which takes a third of a second. Code that is
        already compiled calls nothing but Numba's runtime.

        Ctrl-C waits for the few milliseconds: half a kernel would end the process when called.
        """
        with uninterrupted(), suppress(OSError):
            rtsys.initialize(context)
            return self._load_overload(signature, context)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Cache a specialisation if it can be written."""
        with suppress(OSError):
            super().save_overload(signature, compiled)

    def holds(self, signature: tuple[Any, ...], codegen: Any) -> bool:
        """Return whether a specialisation is already cached."""
        return self._cache_file.path(self._index_key(signature, codegen)).exists()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """One file per specialisation, and no index."""

    def __init__(self, folder: str, base: str, function: Callable[..., Any]) -> None:
        super().__init__(folder, base, None)
        self.base = base
        self.function = function

    @functools.cached_property
    def stamp(self) -> str:
        # Known only when kernels run: at import, those further down the file do not exist yet.
        # How kernels are compiled is part of what they are made of.
        ways = (_source_digest(str(HERE / name)) for name in COMPILER_FILES)
        return digest([*sorted(ingredients(self.function)), *ways])

    def path(self, key: Any) -> Path:
        return Path(self._cache_path) / self._name(key)

    def load(self, key: Any) -> Any:
        try:
            return self._load_data(self._name(key))
        except Exception:  # missing or damaged: it is compiled again
            return None

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), data)

    def flush(self) -> None:
        for file in Path(self._cache_path).glob(f"{self.base}.*.nbc"):
            file.unlink(missing_ok=True)

    def _name(self, key: Any) -> str:
        way = quick_compiler.is_used()  # its files cannot be linked into other kernels
        return f"{self.base}.{digest((numba.__version__, self.stamp, key, way))[:20]}.nbc"


def digest(value: Any) -> str:
    """Return a digest of a value's text."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def ingredients(function: Callable[..., Any]) -> set[str]:
    """Return all that a kernel is compiled from: its own and its callees' sources and constants."""
    found: set[str] = set()
    for current in callees(function):
        found.add(_source_digest(inspect.getfile(current)))
        for name in _names(current.__code__):
            value = current.__globals__.get(name)
            if isinstance(value, PLAIN):
                found.add(f"{name}={value!r}")
            elif isinstance(value, np.ndarray):
                found.add(f"{name}={digest((value.dtype, value.tolist()))}")
            elif str(getattr(value, "__module__", "")).startswith("slanted."):
                found.add(_source_digest(str(sys.modules[value.__module__].__file__)))
    return found


def callees(function: Callable[..., Any]) -> list[Any]:
    """Return the functions that a kernel consists of, its own and those of kernels it calls."""
    found = [function]
    for current in found:  # which grows meanwhile
        for name in _names(current.__code__):
            value = current.__globals__.get(name)
            if isinstance(value, Dispatcher) and value.py_func not in found:
                found.append(value.py_func)
    return found


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@functools.cache
def _source_digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:  # in an archive: identified by the package's version
        from slanted import __version__

        return f"{Path(file).name} of {__version__}"
