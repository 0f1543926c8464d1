"""Settings that were renamed: old names still work wherever a setting is named, with a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from slanted.errors import SettingsError, warn

Value = TypeVar("Value")

RENAMED = {
    "model.noise": "model.reference_noise",
    "model.confidence": "model.pixel_weights",
    "model.weights.own": "model.weights.user",
    "refinement.position": "refinement.position_weight",
    "refinement.disparity": "refinement.disparity_weight",
    "refinement.visibility": "refinement.visibility_weight",
    "refinement.length": "refinement.length_weight",
    "refinement.rim": "refinement.rim_width",
    "learning.labels": "learning.boundary_labels",
}
"""The current path of each renamed setting, by its old path."""
FORMER = {new: old for old, new in RENAMED.items()}
"""The old path, by the current path.

It keeps digests of settings in old records valid after a rename."""


def current_names(values: Mapping[str, Value], source: str = "") -> dict[str, Value]:
    """Replace old setting names by current ones, with one warning that lists them.

    Parameters
    ----------
    values
        Values by the dotted path of a setting.
    source
        Where they come from, such as a file, which the warning then names.

    Raises
    ------
    SettingsError
        If a setting is given by its old and its new name.
    """
    old = [path for path in values if path in RENAMED]
    for path in old:
        if RENAMED[path] in values:
            raise SettingsError(
                f"{path}: this is the old name of {RENAMED[path]}, which is given too; remove one"
            )
    if old:
        pairs = ", ".join(f"{path} is now {RENAMED[path]}" for path in old)
        warn(
            f"{source and f'{source}: '}settings have new names: {pairs}; the old ones still work",
        )
    return {RENAMED.get(path, path): value for path, value in values.items()}
