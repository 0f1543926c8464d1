"""What a network takes and gives: a small TOML file beside it, where conventions do not fit."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slanted.errors import FileError, SettingsError, did_you_mean
from slanted.settings.fields import Section, setting, shortened

SUFFIX = ".toml"
"""The description of ``model.onnx`` is ``model.toml``."""


# For each key: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class NetworkDescription(Section):
    """The keys of the file; those left out follow the model's own names and shapes."""

    left: str | None = setting(None, kind=str, doc=
        "The input of the left view, or of both if they share one.")
    right: str | None = setting(None, kind=str, doc="The input of the right view.")
    disparity: str | None = setting(None, kind=str, doc="The output of the disparity.")
    confidence: str | None = setting(None, kind=str, doc="The output of the confidence, if any.")
    layout: str = setting("nchw", choices=("nchw", "nhwc"), doc=
        "The order of batch, channels, rows and columns in tensors.")
    colour: str | None = setting(None, kind=str, choices=("rgb", "bgr", "grey"), doc=
        "What a view is given as; auto is `grey` for one channel and `rgb` for three.")
    white: float | None = setting(None, kind=float, low=1e-6, high=65535.0, doc=
        "The value of white, before `mean` and `std`; black is 0. Auto is 255 for inputs of bytes, "
        "otherwise 1.")
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    multiple: int = setting(32, unit="px", low=1, high=1024, doc=
        "A network of any size gets views that are padded to a multiple of this.")
    width: int | None = setting(None, unit="px", low=1, high=65536, doc=
        "A network of one size gets views that are resized to it; auto is what its input says.")
    height: int | None = setting(None, unit="px", low=1, high=65536, doc="As `width`.")
    sign: int = setting(1, low=-1, high=1, doc=
        "−1 if the network's disparities are negative, as those of an optical flow to the right "
        "view.")
    scale: float = setting(1.0, low=1e-6, high=1e6, doc=
        "One unit of the output is this many pixels of the views as the network gets them.")
    channel: int | None = setting(None, low=0, high=1023, doc=
        "The channel of the disparity in its output, if that has several, as a flow has.")
    logits: bool = setting(False, doc=
        "If true, the confidence comes as logits; otherwise from 0 to 1.")
    left_right: bool = setting(False, doc=
        "If true, the network also sees the mirrored pair, which gives the right view's disparity. "
        "Pixels whose disparities differ by more than `matching.left_right_threshold` count as "
        "occluded, and planes alone tell their disparity. It takes twice the time.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mean", "std"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        if min(self.std) <= 0:
            raise SettingsError(f"std: expected numbers above 0, got {list(self.std)}")
        if self.sign == 0:
            raise SettingsError("sign: expected 1 or -1, got 0")
        if (self.width is None) != (self.height is None):
            raise SettingsError("width, height: expected both or none, got one")
# fmt: on


def description_of(model: Path) -> NetworkDescription:
    """Return what the TOML file beside a model says; without one everything is by convention.

    Raises
    ------
    FileError
        If the file is no TOML, or has keys or values that are not known.
    """
    from slanted.io.texts import read_toml

    file = model.with_suffix(SUFFIX) if model.name else None  # `.` has no name
    if file is None or not file.exists():
        return NetworkDescription()
    content = read_toml(file, "the description of a network in TOML")
    known = [field.name for field in dataclasses.fields(NetworkDescription)]
    for key in content:
        if key not in known:
            hint = did_you_mean(key, known, f"expected one of {', '.join(known)}")
            raise FileError(file, f"{key}: unknown key of a network's description{hint}")
    try:
        return NetworkDescription(**content)
    except SettingsError as error:
        raise FileError(file, str(error)) from None


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    """Return one number, or one for each of three channels."""
    numbers = list(value) if isinstance(value, list | tuple) else [value]
    kinds = {type(number) for number in numbers}
    if len(numbers) not in (1, 3) or not kinds <= {int, float} or not all(map(_is_finite, numbers)):
        raise SettingsError(f"{name}: expected one finite number or three, got {shortened(value)}")
    return tuple(map(float, numbers))


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:  # an integer beyond all floats
        return False
