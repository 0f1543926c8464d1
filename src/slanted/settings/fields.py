"""A single setting: its description, its check, and its text form."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slanted.errors import SettingsError

LARGEST_EXACT_INT = 2**53
"""Above this a float cannot represent every integer."""
AUTO = "auto"
"""How None is written on the command line and in TOML, which has no null."""
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
"""What a value of each kind is called in messages."""


@dataclass(frozen=True)
class Setting:
    """The description of one setting."""

    kind: type
    """The type of its value: bool, int, float or str."""
    optional: bool
    """Whether it may be None, written ``auto``."""
    doc: str
    unit: str = ""
    symbol: str = ""
    """Its meaning in whole sentences, its unit, and the symbol of the paper."""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] | None = None
    odd: bool = False
    """The values that are allowed; bounds are inclusive."""

    def allowed(self) -> str:
        """Describe the allowed values in words."""
        if self.choices is not None:
            return "one of " + ", ".join(self.names())
        words = "an odd whole number" if self.odd else KINDS[self.kind]
        if self.low is not None and self.high is not None:
            words += f" from {self.low} to {self.high}"
        elif self.low is not None:
            words += f" of at least {self.low}"
        return words + (f" or {AUTO}" if self.optional else "")

    def names(self) -> tuple[str, ...]:
        """Return the choices."""
        choices = self.choices() if callable(self.choices) else self.choices
        return choices or ()

    def describe(self) -> str:
        """Return one line: documentation, symbol, unit and range."""
        notes = [f"symbol {self.symbol}"] if self.symbol else []
        notes += [f"unit {self.unit}"] if self.unit else []
        return f"{self.doc} ({'; '.join([*notes, self.allowed()])})"


def setting(
    default: Any, *, doc: str, kind: type | None = None, optional: bool = False, **description: Any
) -> Any:
    """Make a dataclass field that carries its own `Setting`.

    The kind is by default the type of the default, or int where that is None (auto), which makes it
    optional by itself.
    """
    kind = kind or (int if default is None else type(default))
    described = Setting(kind=kind, optional=optional or default is None, doc=doc, **description)
    return dataclasses.field(default=default, metadata={"setting": described})


def check_value(name: str, described: Setting, value: Any) -> Any:
    """Return the value in its proper type, or raise a SettingsError that names the setting."""
    if described.optional and (value is None or value == AUTO):
        return None
    if type(value).__module__ == "numpy" and not getattr(value, "shape", (0,)):
        value = value.item()  # a number that was computed, such as np.int64(96)
    if described.kind is float and type(value) is int and abs(value) < LARGEST_EXACT_INT:
        value = float(value)
    fits = type(value) is described.kind
    if fits and described.choices is not None:
        fits = value in described.names()
    if fits and described.kind in (int, float):
        fits = type(value) is int or math.isfinite(value)
        fits = fits and (described.low is None or value >= described.low)
        fits = fits and (described.high is None or value <= described.high)
        fits = fits and (not described.odd or value % 2 == 1)
    if not fits:
        raise _unfit(name, described, value)
    return value


def parse_text(name: str, described: Setting, text: str) -> Any:
    """Read a value as typed on the command line; its section checks the range."""
    if described.optional and text == AUTO:
        return None
    if described.kind is str:
        return text
    try:
        if described.kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return described.kind(text)
    except (KeyError, ValueError):
        raise _unfit(name, described, text) from None


def _unfit(name: str, described: Setting, value: Any) -> SettingsError:
    return SettingsError(f"{name}: expected {described.allowed()}, got {shortened(value)}")


def shortened(value: Any) -> str:
    """Quote a value for a message; the middle of a long one is left out."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of many thousand digits
        return "an absurdly long number"
    return text if len(text) <= 60 else f"{text[:40]}…{text[-10:]}"


def toml_value(value: Any) -> str:
    """Write a value as TOML; JSON's strings, numbers and booleans are TOML's too."""
    return json.dumps(AUTO if value is None else value)


class Section:
    """A node of the tree: a frozen dataclass whose fields are settings or further sections."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            described = field.metadata.get("setting")
            if described is not None:
                value = check_value(field.name, described, getattr(self, field.name))
                object.__setattr__(self, field.name, value)
