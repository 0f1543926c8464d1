"""Settings as users give them to a function: a preset, changes by name, a file, or all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from slanted.errors import ArgumentError, SettingsError, meant, nearest
from slanted.settings.fields import shortened
from slanted.settings.tree import Settings, leaves, nearest_setting, preset_names

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

SettingsLike = Settings | Mapping[str, Any] | str | PathLike[str]
"""All settings, changes by name, or a TOML file."""
OPENCV = {"numDisparities": "max_disparity", "num_disparities": "max_disparity"}
"""Arguments that users of OpenCV reach for, and ours, which other names look more like."""


def settings_from_user(
    settings: SettingsLike | None,
    preset: str | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    base: Settings | None = None,
) -> Settings:
    """Return the settings that the arguments of a function stand for.

    Parameters
    ----------
    settings
        All settings; or those that differ from the preset, by name or in a TOML file.
    preset
        Name of the preset to start from, by default ``default``.
    changes
        Values by dotted name, which win over the others; None is one that was not given.
    base
        Settings to start from, instead of a preset.

    Raises
    ------
    SettingsError
        If a name or a value is unknown, or all settings and a preset were given.
    slanted.errors.FileError
        If a file cannot be read.

    Examples
    --------
    >>> settings_from_user({"segmentation.count": 500}, "fast").segmentation.count
    500
    """
    given = {path: value for path, value in (changes or {}).items() if value is not None}
    return _without_changes(settings, preset, base).updated(given)


def _without_changes(
    settings: SettingsLike | None, preset: str | None, base: Settings | None
) -> Settings:
    if isinstance(settings, Settings):
        if preset is not None:
            raise SettingsError(
                "preset: expected none beside Settings, which has all values, got "
                f"{preset!r}; start from Settings.preset({preset!r})"
            )
        return settings
    if isinstance(settings, str) and settings in preset_names():
        raise SettingsError(
            f"settings: expected names and values or a file, got the preset {settings!r}; give it "
            f"as preset={settings!r}"
        )
    if base is None:
        base = Settings() if preset is None else Settings.preset(preset)
    if settings is None:
        return base
    if isinstance(settings, Mapping):
        return base.updated(settings)
    if isinstance(settings, str | PathLike):
        return Settings.load(Path(settings), base)
    raise SettingsError(
        "settings: expected Settings, a mapping such as {'matching.max_disparity': 96} or a TOML "
        f"file, got {shortened(settings)}"
    )


def names_arguments(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Make a function answer a misspelt argument with the nearest name, or the setting meant.

    Raises
    ------
    ArgumentError
        When the function is called with an argument that it does not have.
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    called_as = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def called(*values: Arguments.args, **named: Arguments.kwargs) -> Returned:
        for name in named:
            if name not in known:
                raise ArgumentError(_unknown_argument(called_as, name, known))
        return function(*values, **named)

    return called


def _unknown_argument(function: str, name: str, known: list[str]) -> str:
    said = f"{name}: unknown argument of {function}"
    if (ours := OPENCV.get(name)) in known:
        return said + meant(ours)
    paths = [leaf.path for leaf in leaves(Settings())]
    if name in paths or name in {path.rpartition(".")[2] for path in paths}:
        return f"{said}; it is a setting, so give settings={{'{nearest_setting(name, paths)}': …}}"
    if near := nearest(name, known):
        return said + meant(near)
    if near := nearest_setting(name, paths):
        return said + meant(f"settings={{'{near}': …}}")
    return f"{said}, which has {', '.join(known)}"
