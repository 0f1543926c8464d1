"""The decorator of every compiled kernel, which releases the GIL and caches the code on disk."""

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
    # Nothing calls kernels from C, and a wrapper for C is a tenth of the compiler's work.
    compiled = njit(function, nogil=True, no_cfunc_wrapper=True, **options)
    if isinstance(compiled, Dispatcher):  # not a plain function, as with NUMBA_DISABLE_JIT
        # Without a cache folder each process compiles again: slower, but with the same results.
        with suppress(RuntimeError):
            compiled._cache = KernelCache(function)
    return compiled
