"""`StereoSlanted`, which takes the place of ``cv2.StereoSGBM``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.opencv.sgbm_parameters import HasSgbmParameters, SgbmParameters
from slanted.pipeline import estimate
from slanted.settings import Settings, SettingsLike, settings_from_user
from slanted.settings.given import names_arguments
from slanted.settings.tree import leaves

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images.given import ImageLike
    from slanted.result import Result

SIXTEENTHS = 16
"""OpenCV's disparities are in these parts of a pixel."""
MOST_DISPARITY = 2047
"""What 16 bits can hold of them, in pixels."""
KEPT = (
    *("matching.min_disparity", "matching.max_disparity", "confidence.min"),
    *("space.max_depth", "seed", "threads", "fsync"),
)
"""Settings that stay when the preset changes: they are the program's, not a matter of quality."""


class StereoSlanted(HasSgbmParameters):
    """The pipeline in the shape of ``cv2.StereoSGBM``, which it can replace in one line.

    Make one with `create`. Images in colour are BGR here, as in all of OpenCV. The disparity is
    int16, in sixteenths of a pixel; it has no holes, unless a least confidence asks for them.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> left, right = scene.left[..., ::-1], scene.right[..., ::-1]  # as cv2.imread returns them
    >>> stereo = slanted.StereoSlanted.create(minDisparity=0, numDisparities=48)
    >>> disparity = stereo.compute(left, right)
    >>> disparity.dtype, disparity.shape
    (dtype('int16'), (64, 96))
    >>> stereo.result.confidence.shape  # the whole result is there, too
    (64, 96)
    """

    DISP_SHIFT = 4
    DISP_SCALE = SIXTEENTHS

    def __init__(self, settings: Settings, sgbm: SgbmParameters, mode: int | str) -> None:
        self.settings = settings
        self._sgbm = sgbm
        self._mode = mode
        self.result: Result | None = None
        """The whole result of the last `compute`."""

    @staticmethod
    @names_arguments
    def create(
        minDisparity: int = 0,
        numDisparities: int = 0,
        blockSize: int = 3,
        P1: int = 0,
        P2: int = 0,
        disp12MaxDiff: int = 0,
        preFilterCap: int = 0,
        uniquenessRatio: int = 0,
        speckleWindowSize: int = 0,
        speckleRange: int = 0,
        mode: int | str = 0,
        *,
        minConfidence: float | None = None,
        settings: SettingsLike | None = None,
    ) -> StereoSlanted:
        """Make a matcher with the arguments of ``cv2.StereoSGBM.create``, in the same order.

        Parameters
        ----------
        minDisparity, numDisparities
            The range to search. With 0 disparities, the default, its end is that of the settings,
            by default found from each pair; other numbers need not be multiples of 16.
        blockSize, P1, P2, disp12MaxDiff, preFilterCap, uniquenessRatio, speckleWindowSize, \
        speckleRange
            Taken and kept, without effect: they belong to SGBM. Other values than OpenCV's defaults
            give a warning.
        mode
            A preset, such as ``"fast"`` or ``"best"``. OpenCV's own modes, which are numbers, all
            mean the preset ``"default"``.
        minConfidence
            Pixels whose confidence is below this get (minDisparity − 1) × 16, OpenCV's value for
            unknown. By default none do.
        settings
            Everything else, as for `slanted.estimate`.
        """
        sgbm = SgbmParameters(
            blockSize=blockSize,
            P1=P1,
            P2=P2,
            disp12MaxDiff=disp12MaxDiff,
            preFilterCap=preFilterCap,
            uniquenessRatio=uniquenessRatio,
            speckleWindowSize=speckleWindowSize,
            speckleRange=speckleRange,
        )
        sgbm.warn_of_changes()
        made = StereoSlanted(settings_from_user(settings, _preset(mode)), sgbm, mode)
        # What is not given of the range is that of the settings.
        if numDisparities:
            made._set_range(minDisparity, numDisparities)
        elif minDisparity:
            made._change({"matching.min_disparity": _whole("minDisparity", minDisparity)})
        if minConfidence is not None:
            made.setMinConfidence(minConfidence)
        return made

    def compute(
        self, left: ImageLike, right: ImageLike, disparity: NDArray[np.int16] | None = None
    ) -> NDArray[np.int16]:
        """Return the (H, W) disparity of the left image in sixteenths of a pixel.

        Parameters
        ----------
        left, right
            A rectified pair, grey or BGR; otherwise as for `slanted.estimate`.
        disparity
            An (H, W) int16 array to write to, instead of a new one.
        """
        import numpy as np

        from slanted.images.given import image_from_user, message_names

        names = message_names(left, right, ("left", "right"))
        one, other = (
            image_from_user(name, given, "bgr", own=True)
            for name, given in zip(names, (left, right), strict=True)
        )
        result = estimate(one, other, self.settings, names=names)
        shown = result.trusted_disparity()
        known = np.isfinite(shown)
        highest = float(shown[known].max(initial=0))
        if highest > MOST_DISPARITY:
            raise InputError(
                f"compute: expected disparities of at most {MOST_DISPARITY} px, which 16 bits can "
                f"hold in sixteenths, got {highest:.0f}; use slanted.estimate"
            )
        lowest = self.getMinDisparity()
        # Planes may reach below the range, where a value would mean that nothing is known.
        shown = np.where(known, np.maximum(shown, lowest), lowest - 1)
        values = np.rint(shown * SIXTEENTHS)
        self.result = result
        return _written(values.astype(np.int16), disparity)

    def setMinDisparity(self, minDisparity: int) -> None:
        """Start the search at another disparity; the number of disparities stays."""
        self._set_range(minDisparity, self.getNumDisparities())

    def getMinDisparity(self) -> int:
        """Return the disparity at which the search starts."""
        return self.settings.matching.min_disparity

    def setNumDisparities(self, numDisparities: int) -> None:
        """Search so many disparities; 0 finds the number from each pair."""
        self._set_range(self.getMinDisparity(), numDisparities)

    def getNumDisparities(self) -> int:
        """Return how many disparities are searched; 0 if the number is found from each pair."""
        end = self.settings.matching.max_disparity
        return 0 if end is None else end - self.getMinDisparity()

    def setMode(self, mode: int | str) -> None:
        """Take another preset, which replaces all settings but those in `KEPT`.

        From one of OpenCV's modes to another, no setting changes.
        """
        if _preset(mode) != _preset(self._mode):
            kept = {leaf.path: leaf.value for leaf in leaves(self.settings) if leaf.path in KEPT}
            self.settings = settings_from_user(None, _preset(mode)).updated(kept)
        self._mode = mode

    def getMode(self) -> int | str:
        """Return the mode that was set."""
        return self._mode

    def setMinConfidence(self, minConfidence: float) -> None:
        """Mark pixels below this confidence as unknown."""
        self._change({"confidence.min": minConfidence})

    def getMinConfidence(self) -> float:
        """Return the confidence below which pixels are unknown."""
        return self.settings.confidence.min

    def _set_range(self, start: Any, count: Any) -> None:
        first, count = _whole("minDisparity", start), _whole("numDisparities", count)
        if count < 0:
            raise InputError(
                f"numDisparities: expected at least 1, or 0 to find it from each pair, got {count}"
            )
        end = first + count if count else None
        self._change({"matching.min_disparity": first, "matching.max_disparity": end})

    def _change(self, values: dict[str, Any]) -> None:
        self.settings = self.settings.updated(values)


def _whole(name: str, value: Any) -> int:
    if not hasattr(value, "__index__") or isinstance(value, bool):
        raise InputError(f"{name}: expected a whole number of pixels, got {value!r}")
    return int(value)


def _preset(mode: int | str) -> str | None:
    return mode if isinstance(mode, str) else None


def _written(values: NDArray[np.int16], place: Any) -> NDArray[np.int16]:
    """Return values, in the array that the user gave for them if there is one."""
    import numpy as np

    if place is None:
        return values
    fits = isinstance(place, np.ndarray) and place.dtype == np.int16
    if not fits or place.shape != values.shape:
        raise InputError(
            f"disparity: expected an int16 array of shape {values.shape} to write to; leave it out "
            "to get a new one"
        )
    place[...] = values
    written: NDArray[np.int16] = place
    return written
