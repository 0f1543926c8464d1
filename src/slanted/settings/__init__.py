"""Every parameter of slanted: one tree, its sections, presets, TOML and documentation."""

from __future__ import annotations

from slanted.settings.learning import LearningSettings
from slanted.settings.matching import CensusSettings, MatchingSettings, SgbmSettings
from slanted.settings.refinement import RefinementSettings
from slanted.settings.sections import (
    InferenceSettings,
    ModelSettings,
    RectificationSettings,
    SegmentationSettings,
    SlicSettings,
    TilesSettings,
    UcmSettings,
    WeightSettings,
)
from slanted.settings.tree import Leaf, Settings, leaves, preset_names, unknown_setting

__all__ = [
    "CensusSettings",
    "InferenceSettings",
    "Leaf",
    "LearningSettings",
    "MatchingSettings",
    "ModelSettings",
    "RectificationSettings",
    "RefinementSettings",
    "SegmentationSettings",
    "Settings",
    "SgbmSettings",
    "SlicSettings",
    "TilesSettings",
    "UcmSettings",
    "WeightSettings",
    "leaves",
    "preset_names",
    "unknown_setting",
]
