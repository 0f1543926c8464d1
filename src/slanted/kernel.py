"""One decorator for every compiled kernel: without the interpreter's lock, and kept on disk.

Numba keeps what it compiled in ``NUMBA_CACHE_DIR``, else beside the sources, else in the user's own
cache folder, whichever may be written first. Where none may, it refuses to decorate at all; kernels
are then compiled anew in each process, slower and otherwise the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` when it is first called; ``options`` are those of ``numba.njit``."""
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    try:
        return njit(function, cache=True, nogil=True, **options)
    except RuntimeError:  # no folder to keep it in
        return njit(function, nogil=True, **options)
