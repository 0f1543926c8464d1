"""The stages of the pipeline that are done in parts for large images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.inference.terms import Terms
    from slanted.matching import DisparityRange
    from slanted.model.evidence import Evidence
    from slanted.regions import Regions
    from slanted.runtime.arrays import DisparityMap
    from slanted.runtime.workers import Backend
    from slanted.settings import MatchingSettings, Settings

SEGMENTED_AT_ONCE = 64_000_000
"""Size, in pixels, up to which an image is segmented as a whole."""


@dataclass(frozen=True)
class TiledStages:
    """The stages that need much memory, in bands and tiles."""

    settings: Settings
    """All parameters."""
    backend: Backend
    """The workers of bands and tiles."""

    def match(
        self, left: Image, right: Image, matching: MatchingSettings, searched: DisparityRange
    ) -> tuple[DisparityMap, DisparityMap | None]:
        """Match a pair in bands."""
        from slanted.images.colour import as_8_bit
        from slanted.tiles.bands import match_census, match_in_row_bands

        match = match_census if matching.method == "census" else match_in_row_bands
        return match(
            *as_8_bit(left, right),
            matching,
            searched,
            backend=self.backend,
            with_confidence=self.settings.model.pixel_weights,
        )

    def band_pixels(self, left: Image) -> int | None:
        """Return the size of the bands of segmentation, in pixels; None for the whole image."""
        large = left.shape[0] * left.shape[1] > SEGMENTED_AT_ONCE
        return self.settings.tiles.pixels if large else None

    def terms_of(self, regions: Regions, evidence: Evidence) -> Terms:
        """Return the energy of segments, in tiles."""
        from slanted.tiles.terms import TiledImage

        return TiledImage.of(regions, evidence, self.settings, self.backend)


def tiles_of(
    left: Image, settings: Settings, threads: int, backend: Backend | None
) -> TiledStages | None:
    """Return the stages of an image in tiles, or None if it is small enough without them."""
    from slanted.runtime.workers import Sequential

    if left.shape[0] * left.shape[1] <= settings.tiles.above:
        if backend is not None:
            raise InputError(
                f"workers: expected an image of more than {settings.tiles.above} pixels, whose "
                f"tiles are shared, got {left.shape[1]}×{left.shape[0]}; lower tiles.above"
            )
        return None
    return TiledStages(settings, backend or Sequential(threads))
