"""Names that a package imports when they are first used, so that importing it stays cheap."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names live in other modules.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        Module of each public name. No name may equal that of a submodule: importing the submodule
        would bind the name to it.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next use is a plain look-up
        return value

    return get, lambda: sorted([*homes, *vars(sys.modules[package])])
