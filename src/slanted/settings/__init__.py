"""Every parameter of slanted, in one tree.

The library's arguments, the TOML file, the command line (``--set matching.method=sgbm``) and the
reference in ``docs/settings.md`` all come from it: a parameter is defined once, with its default,
unit, range and symbol. Sections check themselves, so a ``Settings`` that exists is valid.

Each module holds the section of its name with its subsections; `matching` also holds
``rectification``.

`tree` has the root with ``seed`` and ``threads``, and reads and writes settings; `given` takes them
in the forms that users have; `fields` describes a single setting, `renames` lists old names, and
`documentation` writes the reference. ``presets/`` has the values of ``fast``, ``default`` and
``best``, which trade time for accuracy, of ``paper``, which follows the publication, and of
``network``, for dense maps.
"""

from __future__ import annotations

from slanted.settings.confidence import ConfidenceSettings
from slanted.settings.given import SettingsLike, settings_from_user
from slanted.settings.inference import InferenceSettings
from slanted.settings.learning import LearningSettings
from slanted.settings.matching import (
    CensusSettings,
    MatchingSettings,
    NetworkSettings,
    RectificationSettings,
    SgbmSettings,
)
from slanted.settings.model import ModelSettings, WeightSettings
from slanted.settings.refinement import RefinementSettings
from slanted.settings.segmentation import SegmentationSettings, SlicSettings, UcmSettings
from slanted.settings.tiles import TilesSettings
from slanted.settings.tree import Leaf, Settings, leaves, preset_names, unknown_setting

__all__ = [
    "CensusSettings",
    "ConfidenceSettings",
    "InferenceSettings",
    "Leaf",
    "LearningSettings",
    "MatchingSettings",
    "ModelSettings",
    "NetworkSettings",
    "RectificationSettings",
    "RefinementSettings",
    "SegmentationSettings",
    "Settings",
    "SettingsLike",
    "SgbmSettings",
    "SlicSettings",
    "TilesSettings",
    "UcmSettings",
    "WeightSettings",
    "leaves",
    "preset_names",
    "settings_from_user",
    "unknown_setting",
]
