"""A checked pair with the options of its run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.settings import MatchingSettings, Settings
from slanted.stages import InitialMatches, Progress, Stages
from slanted.stages.views import Views

if TYPE_CHECKING:
    from slanted.confidence.forest import Forest
    from slanted.confidence.weights import Weights
    from slanted.images import GreyPair, Image
    from slanted.images.census import CensusPair
    from slanted.images.given import Channels
    from slanted.inference.outcome import Inference, Watch
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.io import Calibration
    from slanted.io.calibration_files import CalibrationLike
    from slanted.matching.rectification import RectificationCheck
    from slanted.model.user_potential import Potential
    from slanted.runtime.arrays import Bytes
    from slanted.runtime.threads import Soon
    from slanted.runtime.workers import Backend
    from slanted.tiles.stages import TiledStages


@dataclass(frozen=True, eq=False)
class PairRun:
    """A checked pair, and the options of its run."""

    views: Views
    names: tuple[str, str]
    """What errors and warnings call the images."""
    settings: Settings
    matching: MatchingSettings
    """The settings of matching, which follow the noise of the pair."""
    stage: Stages
    tiled: TiledStages | None
    """How a large image is processed in parts; None for others."""
    match_trees: Forest | None = None
    """What judges matches; None if the matcher's filters do."""
    pixel_trees: Weights | None = None
    """What judges disparities; None if nothing does."""
    potential: Potential | None = None
    is_dark: bool = False
    """Whether the pair was so dark that it was brightened."""
    previous_frame: PreviousFrame | None = None
    watch: Watch | None = None
    begin: Callable[..., Inference] | None = None
    """What finds the first planes; see `slanted.refinement.refine.PlaneSearch`."""
    solve: Callable[..., Inference] | None = None
    """What infers planes in place of `slanted.inference.pcbp.infer`."""
    observed_every: int = 1
    """Energies are estimated from one pixel in so many."""
    judged_every: int = 1
    """The confidence is that of one in so many of the rows and columns that trees could judge."""
    given: tuple[Image | None, Image | None] = (None, None)
    """The pair before it was brightened, calmed and straightened, for the result."""
    calibration: Calibration | None = None
    is_coarse: bool = False
    """Whether this is the run of a smaller pair; see `slanted.pipeline.coarser`."""

    def __post_init__(self) -> None:
        if self.tiled is not None and self.potential is not None:
            raise InputError(
                "potential: images in tiles cannot have one; raise tiles.above to "
                "work on the image as a whole"
            )
        last = self.previous_frame
        if last is not None and last.label_image.shape != self.left.shape[:2]:  # another camera
            object.__setattr__(self, "previous_frame", None)

    @property
    def band_pixels(self) -> int | None:
        """Pixels of the bands in which the image is segmented; None if it is done at once."""
        return None if self.tiled is None else self.tiled.band_pixels(self.left)

    @property
    def left(self) -> Image:
        """The left image that the stages work on."""
        return self.views.left

    @property
    def right(self) -> Image:
        """The right one."""
        return self.views.right

    @property
    def grey(self) -> GreyPair:
        """Both in 8-bit grey."""
        return self.views.grey

    @property
    def compared(self) -> tuple[Image, Image]:
        """What features and our matcher compare: greys, or views too large to keep them."""
        return self.grey if self.tiled is None else (self.left, self.right)

    @property
    def lab(self) -> Bytes | None:
        """(3, H, W) 8-bit Lab planes of the left view; None if it is too large to keep them."""
        return self.views.lab.result() if self.tiled is None else None

    @property
    def census(self) -> CensusPair | None:
        """Census words of both views for φ_pho; tiles make their own, one tile at a time."""
        return self.views.census.result() if self._needs_census and self.tiled is None else None

    @property
    def _needs_census(self) -> bool:
        return self.settings.model.weights.pho > 0

    @property
    def smaller_views(self) -> Soon[Views]:
        """The views of the smaller pair on which planes are found."""
        return self.views.smaller(self.coarser, with_census=self._needs_census)

    def prepare_views(self, *, whole: bool = False) -> None:
        """Have a thread make what the stages after matching need of the views, once one is idle.

        `whole` is for planes that are found on the whole pair, though smaller ones would do.
        """
        if self.tiled is not None:
            return
        if self.coarser > 1 and not whole:
            _ = self.smaller_views
            return
        _ = self.views.lab
        if self._needs_census:
            _ = self.views.census

    @cached_property
    def finer(self) -> int:
        """How many times finer than the image the grid is on which it is matched."""
        from slanted.settings.grid import times_finer

        return times_finer(self.left.shape[0] * self.left.shape[1], self.settings)

    @cached_property
    def coarser(self) -> int:
        """How many times smaller the pair is on which segments and planes are found."""
        from slanted.settings.grid import times_coarser

        if self.is_coarse or self.tiled is not None or self.potential is not None:
            return 1
        return times_coarser(self.left.shape[0] * self.left.shape[1], self.settings)

    @property
    def grid(self) -> float:
        """How many times finer than the image the grid of its model is."""
        from slanted.settings.grid import model_grid

        return model_grid(self.left.shape[0] * self.left.shape[1], self.finer)

    def settings_for(self, matches: InitialMatches) -> Settings:
        """Return the settings of the stages after matching, which follow the grid of matching."""
        from slanted.settings.grid import on_finer_grid

        return on_finer_grid(self.settings, matches.finer)

    def straightened(self, check: RectificationCheck | None) -> PairRun:
        """Return the run of the pair with the vertical warp undone, if the check decided so."""
        from slanted.matching.vertical_warp import straighten

        if check is None or check.warp is None or not check.corrected:
            return self
        return replace(self, views=Views(self.left, straighten(self.right, check.warp)))


@contextmanager
def prepare(
    left: Any,
    right: Any,
    settings: Settings | None,
    progress: Progress | None,
    names: tuple[str, str] = ("left", "right"),
    backend: Backend | None = None,
    calibration: CalibrationLike | None = None,
    channels: Channels = "rgb",
) -> Iterator[PairRun]:
    """Check a pair, read the trees that judge it, and limit the threads while its stages run."""
    from slanted.confidence.weights import weights_of
    from slanted.images.checks import check_pair
    from slanted.images.colour import brightened
    from slanted.images.given import message_names
    from slanted.io.calibration_files import calibration_from_user
    from slanted.matching.noise import calmed
    from slanted.runtime.memory import keep_freed_memory
    from slanted.runtime.threads import thread_limit
    from slanted.tiles.stages import tiles_of

    keep_freed_memory()
    settings = settings or Settings()
    names = message_names(left, right, names)
    # The result keeps the pair, which must not change when the caller reuses the arrays.
    checked = check_pair(left, right, names, channels, own=True)
    if calibration is not None:
        calibration = calibration_from_user(calibration, checked[0].shape[:2])
    trees = weights_of(settings.confidence)
    with thread_limit(settings.threads) as threads:
        views = Views(*brightened(*checked))
        is_dark = views.left is not checked[0]
        tiled = tiles_of(views.left, settings, threads, backend)
        # How 16 bits are reduced to 8 depends on which part of a large image is looked at.
        is_grey_known = tiled is None and views.left.dtype == "uint8"
        left, right, matching = calmed(
            views.left, views.right, settings.matching, views.grey if is_grey_known else None
        )
        if left is not views.left:
            views = Views(left, right)
        yield PairRun(
            *(views, names, settings, matching, Stages(progress), tiled),
            match_trees=None if trees is None else trees.matches,
            pixel_trees=trees,
            is_dark=is_dark,
            given=checked,
            calibration=calibration,
        )
