"""The matcher: from a pair to a network's disparity, where it can be one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import FileError, InputError
from slanted.matching import Matches
from slanted.matching.network.description import description_of
from slanted.matching.network.model import open_model
from slanted.matching.network.views import Fit, map_of, tensors_of
from slanted.matching.network.wiring import wire
from slanted.matching.out_of_view import doubt_unknown
from slanted.runtime.threads import current_threads

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.matching.network.description import NetworkDescription
    from slanted.matching.network.model import Model
    from slanted.matching.network.wiring import Wiring
    from slanted.runtime.arrays import Bytes, DisparityMap, Flags
    from slanted.settings import MatchingSettings

JUST_BELOW = 1.0
"""Pixels below the range that networks miss far away; such disparities are raised to its start."""
MOSTLY = 0.5
"""Share of impossible values from which on a network seems to be described wrongly."""


def match(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Matches:
    """Return the disparity of the network in ``matching.network.model``, and its confidence.

    NaN is where it gave no number, or one outside the range, and where the maps of both views
    differ if its description asks for both.

    Raises
    ------
    InputError
        If the settings name no network.
    FileError
        If the network cannot be run, or what it gives cannot be a disparity.
    """
    model, given, wiring = _opened(settings)
    network = _Network(model, given, wiring, searched)
    disparity, confidence = network.see(left, right)
    if given.left_right and settings.left_right_threshold > 0:
        mirrored, _ = network.see(right[:, ::-1], left[:, ::-1])
        seen = agreeing(disparity, mirrored[:, ::-1], settings.left_right_threshold)
        disparity[~seen] = np.nan
    if confidence is not None:
        doubt_unknown(confidence, disparity)
    return Matches(disparity, confidence, reaches_beyond=True)


def check_network(settings: MatchingSettings) -> None:
    """Raise an error if the settings choose a network that cannot be opened.

    Whoever runs many pairs is told at once, before anything is written.

    Raises
    ------
    InputError
        If they name none.
    FileError
        If it, or its description, cannot be used.
    """
    if settings.method == "network":
        _opened(settings)


def _opened(settings: MatchingSettings) -> tuple[Model, NetworkDescription, Wiring]:
    """Return a network, its description, and how it is called."""
    if settings.network.model is None:
        raise InputError(
            "matching.network.model: expected the ONNX file of a network (--network FILE), got "
            "none; name one, give a disparity of your own or choose another matching.method"
        )
    path = Path(settings.network.model)
    given = description_of(path)
    model = open_model(path, settings.network.runtime, current_threads())
    return model, given, wire(model, given)


class _Network:
    """A model, how it is called, and the disparities that may come of it."""

    def __init__(
        self, model: Model, given: NetworkDescription, wiring: Wiring, searched: DisparityRange
    ) -> None:
        self.model, self.given, self.wiring, self.searched = model, given, wiring, searched

    def see(self, left: Bytes, right: Bytes) -> tuple[DisparityMap, DisparityMap | None]:
        """Return the disparity of the left view, and the confidence in it."""
        path, given, wiring = self.model.path, self.given, self.wiring
        fit = Fit.of((left.shape[0], left.shape[1]), wiring.size, given.multiple)
        views = np.ascontiguousarray(left), np.ascontiguousarray(right)
        wanted = [name for name in (wiring.disparity, wiring.confidence) if name is not None]
        outputs = self.model.run(tensors_of(views, fit, wiring, given), wanted)
        maps = [
            map_of(path, name, each, fit, given) for name, each in zip(wanted, outputs, strict=True)
        ]
        disparity = maps[0] * np.float32(given.sign * given.scale * fit.stretch)
        return self._possible(disparity), _confidence(maps[1], given) if maps[1:] else None

    def _possible(self, disparity: DisparityMap) -> DisparityMap:
        """Return what can be a disparity, NaN elsewhere; refuse a map that is none."""
        path, low, high = self.model.path, self.searched.low, self.searched.high
        known = np.isfinite(disparity)
        if not known.any():
            raise FileError(
                path, "expected disparities, but the network gave NaN or infinity at every pixel"
            )
        below = known & (disparity < low - JUST_BELOW)
        if below.mean() > MOSTLY:
            raise FileError(
                path,
                f"expected disparities from {low} px on, got lower ones at {below.mean():.0%} of "
                "the pixels; set sign = -1 in a TOML file beside it, or lower "
                "matching.min_disparity",
            )
        above = known & (disparity >= high)
        if above.mean() > MOSTLY:
            raise FileError(
                path,
                f"expected disparities below {high} px, got higher ones at {above.mean():.0%} of "
                "the pixels; set the scale of its output in a TOML file beside it, or raise "
                "matching.max_disparity",
            )
        possible = np.where(known & ~below & ~above, disparity, np.float32(np.nan))
        return np.maximum(possible, np.float32(low))


def _confidence(values: DisparityMap, given: NetworkDescription) -> DisparityMap:
    """Return a confidence from 0 to 1; 0 where the network gave no number."""
    if given.logits:
        values = np.asarray(1 / (1 + np.exp(-np.clip(values, -80, 80))), np.float32)
    return np.clip(np.nan_to_num(values, nan=0.0), 0, 1).astype(np.float32, copy=False)


def agreeing(left: DisparityMap, right: DisparityMap, threshold: float) -> Flags:
    """Return where the disparity of the left view is that of the right view at its match.

    Examples
    --------
    >>> agreeing(np.array([[0, 1, 1, 0]], np.float32), np.zeros((1, 4), np.float32), 0.5)
    array([[ True, False, False,  True]])
    """
    columns = np.arange(left.shape[1], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        place = np.rint(columns - left)
        inside = (place >= 0) & (place < left.shape[1])
        there = np.where(inside, place, 0).astype(np.intp)
        met = np.take_along_axis(right, there, axis=1)
        seen: Flags = inside & (np.abs(met - left) <= np.float32(threshold))
    return seen
