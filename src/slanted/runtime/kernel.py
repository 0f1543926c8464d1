"""The decorator of every compiled kernel, which releases the GIL and caches the code on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher

from slanted.runtime import quick_compiler
from slanted.runtime.kernel_cache import KernelCache


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` when it is first called; ``options`` are those of ``numba.njit``."""
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    # Nothing calls kernels from C, and a wrapper for C is a tenth of the compiler's work. Divisions
    # that may raise are another twentieth, and keep loops from being vectorised: here floats give
    # infinity or NaN, as in NumPy, and integers 0.
    options = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy", **options}
    if (pipeline := quick_compiler.pipeline()) is not None:
        options.setdefault("pipeline_class", pipeline)
    compiled = njit(function, **options)
    if isinstance(compiled, Dispatcher):  # not a plain function, as with NUMBA_DISABLE_JIT
        # Without a cache folder each process compiles again: slower, but with the same results.
        with suppress(RuntimeError):
            compiled._cache = KernelCache(function)
        quick_compiler.use_for(compiled, function, options)
    return compiled
