"""The kernels that runs call, and the types they call them with.

They are listed in ``kernel_signatures.json``, which ``benchmarks/kernel_signatures.py`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, resources
from typing import Any


@dataclass(frozen=True)
class Specialisation:
    """A kernel and the types of its arguments."""

    kernel: str
    arguments: Sequence[Any]
    """Types of the arguments, as `type_text` writes them."""

    @cached_property
    def dispatcher(self) -> Any:
        """The kernel itself."""
        return _named(self.kernel)

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The Numba types of its arguments."""
        return tuple(map(type_of, self.arguments))

    @cached_property
    def size(self) -> int:
        """About how long it takes to compile: the bytecode of the kernel and of those it calls."""
        from slanted.runtime.kernel_cache import callees

        with suppress(Exception):  # the list is out of date
            return sum(len(each.__code__.co_code) for each in callees(self.dispatcher.py_func))
        return 0

    def is_kept(self) -> bool:
        """Return whether it is already compiled."""
        from slanted.runtime.kernel_cache import KernelCache

        with suppress(Exception):  # the list is out of date
            cache = self.dispatcher._cache
            codegen = self.dispatcher.targetctx.codegen()
            return isinstance(cache, KernelCache) and cache.holds(self.types, codegen)
        return False

    def compile(self) -> None:
        """Compile it into the cache, or load it from there."""
        self.dispatcher.compile(self.types)


def type_of(text: Any) -> Any:
    """Return the Numba type that `type_text` describes."""
    from numba import types

    if isinstance(text, list):
        return types.Tuple([type_of(each) for each in text])
    if isinstance(text, dict):
        ((name, fields),) = text.items()
        kinds = [type_of(each) for each in fields]
        if len(set(kinds)) == 1:
            return types.NamedUniTuple(kinds[0], len(kinds), _named(name))
        return types.NamedTuple(kinds, _named(name))
    scalar, *array = text.split()
    dtype = getattr(types, {"bool": "boolean"}.get(scalar, scalar))  # Numba 0.60 has no types.bool
    if not array:
        return dtype
    shape, *readonly = array
    return types.Array(dtype, int(shape[0]), shape[1], readonly=bool(readonly))


def type_text(described: Any) -> Any:
    """Return a type as text, such as ``float64 2C`` for a C-contiguous array of two dimensions.

    A tuple becomes a list of texts; that of a named tuple starts with its class.
    """
    from numba import types

    if isinstance(described, types.BaseNamedTuple):
        home = described.instance_class
        name = f"{home.__module__}.{home.__qualname__}"
        return {name: [type_text(each) for each in described]}
    if isinstance(described, types.BaseTuple):
        return [type_text(each) for each in described]
    if isinstance(described, types.Array):
        readonly = "" if described.mutable else " readonly"
        return f"{described.dtype} {described.ndim}{described.layout}{readonly}"
    return str(described)


def _named(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def listed() -> list[Specialisation]:
    """Return the specialisations that runs with the presets are known to call."""
    text = (resources.files("slanted.runtime") / "kernel_signatures.json").read_text("utf-8")
    return [
        Specialisation(name, arguments)
        for name, signatures in json.loads(text).items()
        for arguments in signatures
    ]
