"""Settings of confidence: which pixels to leave out, and which to flag."""

from __future__ import annotations

from dataclasses import dataclass

from slanted.errors import SettingsError
from slanted.settings.fields import Section, setting

NO_MODEL = "none"


# For each setting: a line of defaults and limits, then its meaning.
# fmt: off
@dataclass(frozen=True)
class ConfidenceSettings(Section):
    """The probability that the disparity of a pixel is right; see docs/confidence.md."""

    model: str = setting("shipped", doc=
        "The learned trees: `shipped`, a file of `slanted learn confidence`, or `none`. Without "
        "them the matcher's filters choose the matches, and there is no confidence.")
    most_doubt: float = setting(0.3, low=0.0, high=1.0, doc=
        "Matches that pass the matcher's filters are not used for refinement and the inference "
        "after it if they are wrong with a higher probability.")
    add_doubt: float = setting(0.15, low=0.0, high=1.0, doc=
        "Matches that the filters drop are used there if they are wrong with at most this "
        "probability.")
    min: float = setting(0.0, low=0.0, high=1.0, doc=
        "Pixels with a lower confidence are left out of the disparity, depth and cloud of a run; 0 "
        "leaves out none.")
    low: float = setting(0.5, low=0.0, high=1.0, doc=
        "Pixels with a lower confidence are flagged LOW_CONFIDENCE in valid.png.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min > 0 and self.model == NO_MODEL:
            raise SettingsError(
                f"min: expected 0, since there is no confidence without a model, got {self.min}; "
                "choose another confidence.model, or leave out the threshold"
            )
