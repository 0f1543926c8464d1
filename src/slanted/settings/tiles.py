"""Settings of tiles: when a large image is processed in parts, and how large these are."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class TilesSettings(Section):
    """Large images are processed in parts, to save memory; see docs/scale.md."""

    above: int = setting(12_000_000, unit="px", low=1, high=2**31, doc=
        "Images with more pixels than this are cut into tiles.")
    pixels: int = setting(6_000_000, unit="px", low=10_000, high=2**31, doc=
        "A tile or band has about this many pixels.")
