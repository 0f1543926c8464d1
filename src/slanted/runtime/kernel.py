"""One decorator for every compiled kernel: without the interpreter's lock, and kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher

from slanted.runtime.kernel_cache import KernelCache


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` when it is first called; ``options`` are those of ``numba.njit``."""
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    # Nothing calls kernels from C, and the wrapper for that is a tenth of the compiler's work.
    compiled = njit(function, nogil=True, no_cfunc_wrapper=True, **options)
    if isinstance(compiled, Dispatcher):  # and not Python, as with NUMBA_DISABLE_JIT
        # Without a folder to keep it in, each process compiles it anew: slower, and all the same.
        with suppress(RuntimeError):
            compiled._cache = KernelCache(function)
    return compiled
