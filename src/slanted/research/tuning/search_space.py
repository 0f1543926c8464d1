"""The search space: the settings that vary, and their values.

It is given as text, ``model.truncation=2:6:log`` on the command line, or in a TOML file that is
laid out like a settings file.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError, SettingsError
from slanted.settings import leaves, unknown_setting
from slanted.settings.fields import check_value, parse_text, shortened
from slanted.settings.renames import current_names

if TYPE_CHECKING:
    from slanted.settings import Settings
    from slanted.settings.fields import Setting

GRAMMAR = "LOW:HIGH, LOW:HIGH:log, or values separated by commas"
RELATIVE = "x"
"""Prefix of an end of a range that is a multiple of the current value."""
DIGITS = 4
"""Significant digits of drawn values: finer differences are noise and hard to read."""
UNUSED = {
    "mixture": ("inference.sigma_",),
    "paper": ("inference.mixture_",),
    "paper+incumbent": ("inference.mixture_",),
}
"""Settings that each kind of ``inference.proposals`` ignores."""
WITHOUT_EFFECT = ("threads", "fsync", "space.", "learning.")
"""Settings that do not change what is estimated."""


@dataclass(frozen=True)
class Dimension:
    """A setting that varies, over a list of values or over a range."""

    path: str  # the dotted name of the setting
    values: tuple[Any, ...] = ()  # the list of values; empty for a range
    # ends of the range, inclusive
    low: float = 0.0
    high: float = 0.0
    log: bool = False  # whether to draw evenly in the logarithm
    whole: bool = False  # whether only whole numbers are drawn

    def at(self, share: float) -> Any:
        """Return the value at a fraction of the range, 0 ≤ share < 1."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        half = 0.5 if self.whole else 0.0  # makes both ends as likely as the other numbers
        low, high = self.low - half, self.high + half
        value = low * (high / low) ** share if self.log else low + share * (high - low)
        if self.whole:
            return int(min(max(round(value), self.low), self.high))
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)


def parse_dimension(path: str, text: str, settings: Settings) -> Dimension:
    """Parse the values of a setting, as in ``2:6:log``, ``x0.5:x2`` or ``800,1200,auto``.

    ``x`` stands for the value in the current `settings`. A SettingsError says that there is no such
    setting, or that it cannot have such values.
    """
    described, current = _find(path, settings)
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1 or described.kind is str:
        values = [parse_text(path, described, part.strip()) for part in text.split(",")]
        return _listed(path, described, values)
    if described.kind not in (int, float) or described.odd:
        raise SettingsError(
            f"{path}: expected values separated by commas, because it is {described.allowed()}, "
            f"got {text!r}"
        )
    if len(parts) > 3 or parts[2:] not in ([], ["log"]):
        raise SettingsError(f"{path}: expected {GRAMMAR}, got {text!r}")
    low, high = (_end(path, described, part, current) for part in parts[:2])
    log, whole = len(parts) == 3, described.kind is int
    if not low < high:
        raise SettingsError(
            f"{path}: expected a range whose low end is below its high end, got {low:g} and "
            f"{high:g}; swap or change them"
        )
    if log and low < (1 if whole else 1e-12):
        raise SettingsError(
            f"{path}: expected a low end above 0 for a range in the logarithm, got {low:g}; raise "
            "it or leave :log out"
        )
    return Dimension(path, low=low, high=high, log=log, whole=whole)


def parse_space(texts: Mapping[str, str], settings: Settings) -> tuple[Dimension, ...]:
    """Parse a space from ``path: text`` pairs; see `parse_dimension`."""
    named = current_names(texts)
    return tuple(parse_dimension(path, text, settings) for path, text in named.items())


def load_space(path: Path, settings: Settings) -> tuple[Dimension, ...]:
    """Read a space from a TOML file laid out like settings, each value a range or a list."""
    from slanted.io.texts import read_toml

    tree = read_toml(path, "ranges of settings in TOML")
    try:
        named = current_names(dict(_walk(tree)), str(path))
        dimensions = tuple(_from_toml(name, value, settings) for name, value in named.items())
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    if not dimensions:
        raise FileError(path, "expected at least one setting that varies, found none; add one")
    return dimensions


def default_space(settings: Settings) -> tuple[Dimension, ...]:
    """Return the space that ships with slanted, without settings that have no effect."""
    text = (resources.files("slanted.research.tuning") / "default_space.toml").read_text("utf-8")
    current = {leaf.path: leaf.value for leaf in leaves(settings)}
    unused = UNUSED[settings.inference.proposals]
    return tuple(
        _from_toml(name, value, settings)
        for name, value in _walk(tomllib.loads(text))
        if not name.startswith(unused) and (current[name] or RELATIVE not in str(value))
    )


def _walk(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _walk(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _from_toml(path: str, value: Any, settings: Settings) -> Dimension:
    if isinstance(value, str):
        return parse_dimension(path, value, settings)
    described, _ = _find(path, settings)
    if not isinstance(value, list):
        raise SettingsError(f'{path}: expected "LOW:HIGH" or a list, got {shortened(value)}')
    return _listed(path, described, value)


def _find(path: str, settings: Settings) -> tuple[Setting, Any]:
    known = {leaf.path: leaf for leaf in leaves(settings)}
    if path not in known:
        raise SettingsError(unknown_setting(path, known))
    if path.startswith(WITHOUT_EFFECT):
        raise SettingsError(
            f"{path}: expected a setting that changes the disparity, and this one does not; leave "
            "it out"
        )
    return known[path].setting, known[path].value


def _listed(path: str, described: Setting, values: list[Any]) -> Dimension:
    checked = tuple(dict.fromkeys(check_value(path, described, value) for value in values))
    if len(checked) < 2:
        raise SettingsError(
            f"{path}: expected {GRAMMAR}, got one value alone; use --set for what is to be fixed"
        )
    return Dimension(path, checked)


def _end(path: str, described: Setting, text: str, current: Any) -> float:
    """Parse an end of a range; a relative one is clipped to what the setting allows."""
    if not text.startswith(RELATIVE):
        return float(check_value(path, described, parse_text(path, described, text)))
    try:
        factor = float(text.removeprefix(RELATIVE))
    except ValueError:
        factor = math.nan
    if not (math.isfinite(factor) and factor > 0):
        raise SettingsError(f"{path}: expected a factor such as x0.5 or x2, got {text!r}")
    if not current:
        raise SettingsError(
            f"{path}: expected a range of its own, because its current value, "
            f"{'auto' if current is None else current}, cannot be multiplied, got {text!r}"
        )
    value = current * factor
    value = value if described.low is None else max(value, described.low)
    value = value if described.high is None else min(value, described.high)
    return float(round(value)) if described.kind is int else float(f"{value:.{DIGITS}g}")
