"""Settings of what a result shows in space."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class SpaceSettings(Section):
    """How far clouds and meshes reach; see docs/viewer.md."""

    max_depth: float | None = setting(None, kind=float, unit="m", low=0.001, doc=
        "Point clouds and meshes end at this depth, in baselines if the pair is not calibrated; "
        "auto is where one pixel of disparity is a sixth of the depth, and without a calibration "
        "leaves out nothing. Depth maps do not depend on it.")
