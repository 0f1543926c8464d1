"""Numbers in sentences."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return "1 frame", "2 frames"."""
    return f"{count} {noun}" + "s" * (count != 1)
