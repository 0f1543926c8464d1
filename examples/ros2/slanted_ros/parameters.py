"""The settings of slanted as parameters of a node, without ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slanted import Settings
from slanted.settings import leaves
from slanted.settings.fields import AUTO


@dataclass(frozen=True)
class Parameter:
    """A parameter to declare."""

    name: str
    """The dotted name of the setting, as in ``matching.max_disparity``."""
    value: Any
    """Its value; ``auto`` for None, which ROS does not have."""
    description: str


def parameters(preset: str) -> Iterator[Parameter]:
    """Yield every setting, with the value of a preset."""
    for leaf in leaves(Settings.preset(preset)):
        value = AUTO if leaf.value is None else leaf.value
        yield Parameter(leaf.path, value, leaf.setting.describe())


def settings_of(values: Mapping[str, Any], preset: str) -> Settings:
    """Return the settings of parameters; raise an error of slanted if one cannot be."""
    return Settings.preset(preset).updated(values)
