"""Packages that slanted needs for some things only: its extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from slanted.errors import MissingExtraError


def how_to_install(extras: str) -> str:
    """Return what to type for extras, for slanted from a package index and from a clone.

    Examples
    --------
    >>> how_to_install("viewer")
    "run pip install 'slanted[viewer]' (in a clone: pip install '.[viewer]')"
    """
    return f"run pip install 'slanted[{extras}]' (in a clone: pip install '.[{extras}]')"


def require(module: str, package: str, need: str, cure: str) -> Any:
    """Return a module, or raise an error that says what needs it and how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtraError(f"{need} {package}, {cure}") from None
    except ImportError as error:  # such as Open3D's, without a library of the system
        raise MissingExtraError(f"{need} {package}, which fails to load ({error})") from error
