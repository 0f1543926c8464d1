"""Numba's compiler without work that kernels do not need.

Kernels that other kernels call are compiled apart from those that Python calls, and only into their
callers (`slanted.runtime.inner_library`). The results are the same, in three quarters of the time.

This replaces parts of Numba that are not documented, and only while a kernel is being compiled. If
a version of Numba lacks one of these parts, or if the environment variable ``SLANTED_PLAIN_NUMBA``
is set, kernels are compiled as Numba does it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from numba import __version__, njit
from numba.core.compiler_lock import global_compiler_lock

from slanted.errors import first_line, warn

PLAIN = "SLANTED_PLAIN_NUMBA"
TIMES = {"numba:llvm_lock", "numba:run_pass"}
"""Events by which Numba times itself, before and after every call of LLVM and every pass: a
twentieth of the compiler's work. Nobody asks for these times."""


class _State:
    """Whether the parts of Numba are as expected."""

    fails = False


def is_used() -> bool:
    """Return whether kernels are compiled in this way."""
    return not _State.fails and os.environ.get(PLAIN, "0") in {"", "0"}


def pipeline() -> Any:
    """Return the class of Numba's compiler with fewer passes; None if it cannot be had."""
    if not is_used():
        return None
    try:
        from slanted.runtime.few_passes import FewPasses
    except ImportError as error:
        _State.fails = True
        _tell_why(error)
        return None
    return FewPasses


def _tell_why(error: Exception) -> None:
    """Warn that kernels are compiled as Numba does it from now on."""
    unlike = f"Numba {__version__} is not as expected: {first_line(error)}"
    warn(f"kernels take longer to compile, since {unlike}")


def use_for(dispatcher: Any, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Compile a kernel in this way; `options` are those of ``numba.njit``."""
    if is_used():
        twins = _Twins(dispatcher, function, options)
        dispatcher.compile = twins.compile
        dispatcher.get_call_template = twins.get_call_template
        dispatcher.get_overload = twins.get_overload


class _Twins:
    """A kernel as Python calls it, and its twin as other kernels do.

    The twin has no wrapper for Python and no machine code. Nobody who calls the kernel can reach
    it, so nobody can call what is not there.
    """

    def __init__(
        self, dispatcher: Any, function: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        self.kind = type(dispatcher)
        self.outer = dispatcher
        self.function = function
        self.options = options
        self.made: dict[bool, Any] = {}

    @property
    def inner(self) -> Any:
        """The twin for other kernels, another one if Numba has to compile in its own way.

        Also then: a kernel that came from the cache has no code that could be linked.
        """
        way = is_used()
        if way not in self.made:
            self.made[way] = njit(self.function, no_cpython_wrapper=True, **self.options)
        return self.made[way]

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for Python, or load it from the cache."""
        if is_used():
            with global_compiler_lock:
                try:
                    with _changed_numba():
                        return self.kind.compile(self.outer, signature)
                except (MemoryError, OSError):
                    raise  # not because Numba is another
                except Exception as error:
                    return self._compile_plainly(signature, error)
        return self.kind.compile(self.outer, signature)

    def _compile_plainly(self, signature: Any, error: Exception) -> Any:
        """Compile the kernel as Numba does, and the others too if that works; else it is wrong."""
        _State.fails = True
        self.outer._compiler._failed_cache.clear()  # Numba would not try again
        try:
            compiled = self.kind.compile(self.outer, signature)
        except Exception:
            _State.fails = False
            raise
        _tell_why(error)
        return compiled

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile the kernel for other kernels, and say how they call it."""
        if self.inner.is_compiling:  # it calls itself, which Numba handles in one kernel
            return self.kind.get_call_template(self.outer, args, kws)
        return self.inner.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        """Return what stands for the compiled kernel in Numba's list of functions."""
        if self.inner.is_compiling:
            return self.kind.get_overload(self.outer, signature)
        return self.inner.get_overload(signature)


@contextmanager
def _changed_numba() -> Iterator[None]:
    """Change Numba inside the block.

    The compiler's lock keeps other threads from compiling meanwhile. Who listens to `TIMES` in
    another thread may miss some of them.
    """
    from numba.core import event
    from numba.core.registry import cpu_target

    from slanted.runtime.few_passes import lifetimes_once
    from slanted.runtime.inner_library import InnerLibrary

    codegen = cpu_target.target_context.codegen()
    if isinstance(vars(codegen).get("create_library"), _MakeInner):
        yield  # a kernel is being compiled for another one
        return
    told = {name: getattr(event, name) for name in ("start_event", "end_event", "install_timer")}
    codegen.create_library = _MakeInner(InnerLibrary, codegen)
    for name, tell in told.items():
        setattr(event, name, partial(_without_times, tell))
    try:
        with lifetimes_once():
            yield
    finally:
        vars(event).update(told)
        del codegen.create_library


def _without_times(tell: Callable[..., Any], kind: str, *about: Any, **named: Any) -> Any:
    """Tell of an event, or install a timer of some, but not of `TIMES`."""
    return nullcontext() if kind in TIMES else tell(kind, *about, **named)


class _MakeInner(partial[Any]):
    """Makes libraries for a code generator."""
