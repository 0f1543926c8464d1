"""The file of learned trees: one readable JSON file with the trees of matches and of pixels."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.confidence.features import MATCH_FEATURES, PIXEL_FEATURES, PLAIN_FEATURES
from slanted.confidence.forest import Forest
from slanted.errors import FileError, InputError, SlantedWarning
from slanted.io.files import write_bytes
from slanted.io.texts import read_json_object
from slanted.settings.confidence import NO_MODEL

if TYPE_CHECKING:
    from slanted.settings import ConfidenceSettings

SHIPPED = Path(__file__).with_name("weights.json")
"""The trees that come with slanted."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Trees that judge matches and disparities."""

    matches: Forest
    """The chance that a match is wrong."""
    pixels: Forest
    """The chance that a disparity of the result is wrong."""
    plain: Forest
    """The same where no first choices of the matcher were judged."""
    deviation: Forest
    """The logarithm of the variance, in pixels², of a disparity that is not wrong."""
    origin: Mapping[str, Any]
    """The data that they were learned from, with their licences."""

    def save(self, path: Path | str) -> None:
        """Write the trees as JSON, a line for each."""
        forests = {name: _lines(getattr(self, name)) for name in FORESTS}
        origin = json.dumps(dict(self.origin), indent=1, ensure_ascii=False)
        parts = [f'"origin": {origin}', *(f'"{name}": {text}' for name, text in forests.items())]
        write_bytes(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode())

    @classmethod
    def load(cls, path: Path | str) -> Weights:
        """Read trees that `save` wrote.

        Raises
        ------
        FileError
            If the file is not one of trees, or they are damaged or of another version.
        """
        content = read_json_object(path, "trees of confidence")
        try:
            forests = {k: Forest.from_json(content[k], names) for k, names in FORESTS.items()}
            return cls(**forests, origin=dict(content["origin"]))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise FileError(
                path,
                "expected trees of `slanted learn confidence` of this version, but they are of "
                f"another one, or damaged ({error}); learn them again",
            ) from error


FORESTS = {
    "matches": MATCH_FEATURES,
    "pixels": PIXEL_FEATURES,
    "plain": PLAIN_FEATURES,
    "deviation": PLAIN_FEATURES,
}
"""The features of each forest."""


def weights_of(settings: ConfidenceSettings) -> Weights | None:
    """Return the trees that the settings name; None if they name none.

    If the shipped ones are missing, a warning says so and there are none either.
    """
    if settings.model == NO_MODEL:
        return None
    if settings.model != "shipped":
        return Weights.load(settings.model)
    if SHIPPED.exists():
        return _shipped()
    _tell_missing(settings)
    return None


def _tell_missing(settings: ConfidenceSettings) -> None:
    """Warn that the shipped trees are missing, or refuse settings that need them."""
    lost = f"{SHIPPED}: the trees of confidence are missing"
    if settings.min > 0:
        raise InputError(
            f"confidence.min: expected 0, since {lost}, got {settings.min}; install slanted again, "
            "or leave out the threshold"
        )
    warnings.warn(
        f"{lost}, so the matcher's filters choose the matches and there is no confidence; install "
        "slanted again, or set confidence.model=none",
        SlantedWarning,
        stacklevel=3,
    )


@lru_cache(maxsize=1)
def _shipped() -> Weights:
    return Weights.load(SHIPPED)


def _lines(forest: Forest) -> str:
    content = forest.as_json()
    trees = ",\n  ".join(json.dumps(tree) for tree in content["trees"])
    head = f'"features": {json.dumps(content["features"])},\n "bias": {content["bias"]!r}'
    return f'{{{head},\n "trees": [\n  {trees}\n ]}}'
