"""Settings of confidence: which pixels to leave out, and which to flag."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.settings.fields import Section, setting


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class ConfidenceSettings(Section):
    """The probability that the disparity of a pixel is right; see docs/confidence.md."""

    min: float = setting(0.0, low=0.0, high=1.0, doc=
        "Pixels with a lower confidence are left out of the disparity, depth and cloud of a run; 0 "
        "leaves out none.")
    low: float = setting(0.5, low=0.0, high=1.0, doc=
        "Pixels with a lower confidence are flagged LOW_CONFIDENCE in valid.png.")
