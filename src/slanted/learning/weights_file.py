"""Learned weights on disk: a settings file that also says how they were learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.io.files import write_bytes
from slanted.learning.examples import NAMES
from slanted.runtime.arrays import Floats
from slanted.settings.fields import toml_value
from slanted.settings.tree import ORIGIN

if TYPE_CHECKING:
    from slanted.settings import Settings

HEAD = """\
# Weights learned by `slanted learn`, for --settings. The least energy does not depend on their
# scale; here the first that is not zero is 1. The table [learned] says how they were made.
"""


def normalised(weights: Floats) -> Floats:
    """Return the weights divided by the first that is not zero, usually that of φ_seg."""
    above = np.flatnonzero(weights > 0)
    if len(above) == 0:
        raise InputError("weights: expected one above zero, got none; learn them again")
    return np.asarray(weights / weights[above[0]])


def weights_in(settings: Settings) -> Floats:
    """Return the weights of settings, in the order of `slanted.learning.examples.NAMES`."""
    return np.array([getattr(settings.model.weights, name) for name in NAMES])


def weighed(settings: Settings, weights: Floats) -> Settings:
    """Return settings with other weights, in the order of `slanted.learning.examples.NAMES`."""
    named = dict(zip(NAMES, map(float, weights), strict=True))
    chosen = replace(settings.model.weights, **named)
    return replace(settings, model=replace(settings.model, weights=chosen))


def write_weights(path: Path, weights: Floats, origin: Mapping[str, Any]) -> None:
    """Write weights, and a table of text, numbers or lists that says where they come from."""
    lines = [HEAD + "\n[model.weights]"]
    lines += [f"{name} = {float(w)!r}" for name, w in zip(NAMES, weights, strict=True)]
    lines += ["", f"[{ORIGIN}]"]
    lines += [f"{name} = {_toml(value)}" for name, value in origin.items()]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return toml_value(value)
