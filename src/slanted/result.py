"""What a run gives, and its form on disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from slanted.output.result_fields import ResultData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images.given import ImageLike
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.io.calibration_files import CalibrationLike
    from slanted.output.export import Cloud, Exportable, Surface


@dataclass(frozen=True, eq=False)
class Result(ResultData):
    """The outcome of `slanted.estimate` for one pair.

    Parameters
    ----------
    disparity
        Dense disparity of the left image, float32 pixels, inside the range of disparities that was
        searched: each pixel on its segment's plane, with relief where matches are sure
        (``model.relief``). In the strip at the left that the right view does not see it may be
        nearer (``model.strip_step``).
    matched
        The disparity D(p) that the planes explain, NaN outside F (paper §3.1): the matches of the
        matcher that are believed, or the user's.
    occluded
        Pixels of the left image that, by their planes, the right one does not show.
    regions
        The segments S_i, their boundaries B_ij and junctions.
    inference
        Planes and boundary labels, energies, bounds, margins.
    settings
        The settings that made it.
    seconds
        Wall time of each stage, in the order they ran.
    searched
        The disparities that were searched; None if the initial disparity was given.
    rectification
        What the check of the pair found; None if it was off or said nothing.
    pixel_weights
        How much each pixel of `matched` counts (``model.pixel_weights``); None if all count alike.
    census
        Census words of both views, if φ_pho has a weight; not kept on disk.
    confidence
        (H, W) float32, the probability that the disparity is within 3 px or 5 % of the truth;
        None if no model of confidence was there. It is rounded to 65535ths, as on disk.
    deviation
        (H, W) float32, the standard deviation in pixels of disparities that are not wrong, or
        None. It is rounded to float16, as on disk.
    sky
        (H, W) pixels that look like sky, which has no depth; None if ``model.sky`` is off.
    doubts
        What speaks against the result as a whole, a sentence each; empty for a good pair.
    finer
        How many times finer than the image the grid of its model is.
    coarser
        How many times smaller the pair was on which segments and planes were found
        (``model.coarser``).
    left, right
        The pair as it was given, as grey or RGB; None if it was saved without.
    calibration
        The cameras; None if they are not known.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = slanted.estimate(scene.left, scene.right, segments=scene.segments)
    >>> result
    Result of 96×64 pixels, 40 segments
      disparity   ... px, searched 0 to ...
      boundaries  ... % coplanar, ... % hinge, ... % occlusion
      matched     ... % of the pixels; ... % are hidden from the right view
      confidence  median ..., ... % of the pixels below ...
      energy      ..., at most ... % above the optimum over the last particles
      time        ... s
    >>> len(result.planes) == result.regions.count
    True
    >>> len(result.labels) == len(result.regions.edges)
    True
    """

    def previous_frame(self) -> PreviousFrame:
        """Return the planes of this frame as proposals for the next one of a video."""
        from slanted.inference.previous_frame import PreviousFrame

        return PreviousFrame(self.regions.label_image, self.regions.centre, self.planes)

    def local_planes(self) -> NDArray[np.float64]:
        """Return the (n, 3) planes fitted to the matches, for comparison."""
        from slanted.inference.pooled_fit import fit_initial_planes
        from slanted.model.evidence import Evidence
        from slanted.model.observations import observe
        from slanted.model.planes import lowest_disparity

        lowest = lowest_disparity(self.settings)
        evidence = Evidence(self.matched, self.pixel_weights)
        seen = observe(self.regions, evidence, lowest, with_census=False)
        K, share = self.model.truncation, self.settings.inference.pooled_fit
        planes = fit_initial_planes(self.regions, seen, K, share)
        planes[:, 2] += lowest
        return planes

    def boundary_owners(self) -> NDArray[np.int32]:
        """Return the segment that owns each of ``regions.boundary_pixels``.

        The front segment owns the pixels of an occlusion boundary (paper §3.1, "Boundary
        potential"); elsewhere each pixel belongs to its own segment.
        """
        import numpy as np

        from slanted.boundary_label import BoundaryLabel

        regions = self.regions
        edge = np.repeat(np.arange(len(self.labels)), np.diff(regions.boundary_start))
        label = self.labels[edge]
        owner = regions.label_image.reshape(-1)[regions.boundary_pixels]
        left, right = regions.edges[edge].T
        owner = np.where(label == BoundaryLabel.LEFT_OCCLUSION, left, owner)
        return np.where(label == BoundaryLabel.RIGHT_OCCLUSION, right, owner)

    def calibrated(self, calibration: CalibrationLike) -> Result:
        """Return the same result with the cameras given, as a `Calibration` or its file.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> cameras = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)
        >>> slanted.estimate(scene.left, scene.right).calibrated(cameras).depth().shape
        (64, 96)
        """
        from slanted.io.calibration_files import calibration_from_user

        height, width = self.disparity.shape
        return replace(self, calibration=calibration_from_user(calibration, (height, width)))

    def depth(self, min_confidence: float | None = None) -> NDArray[np.float32]:
        """Return the (H, W) depth in metres: NaN where it is unknown, infinite in the sky.

        Parameters
        ----------
        min_confidence
            Pixels below this confidence are unknown; by default the setting ``confidence.min``.

        Raises
        ------
        InputError
            If the cameras are not known.

        Examples
        --------
        >>> import numpy as np
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> cameras = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)
        >>> result = slanted.estimate(scene.left, scene.right, calibration=cameras)
        >>> bool(np.nanmax(abs(result.depth() - 100 * 0.1 / result.disparity)) < 1e-5)
        True
        """
        from slanted.errors import InputError
        from slanted.output.export import depth_map

        if self.calibration is None:
            raise InputError(
                "depth: expected a calibrated pair, got one without calibration; give calibration= "
                "to estimate, or use result.calibrated(…).depth()"
            )
        return depth_map(self, self.calibration, min_confidence)

    def points(self, min_confidence: float | None = None, max_depth: float | None = None) -> Cloud:
        """Return positions (N, 3) and colours (N, 3) of the pixels that have a depth.

        X is right, Y down, Z forward; in metres, or without a calibration in baselines, for cameras
        as wide as 53°. The sky is left out, and so are pixels below `min_confidence` and those
        farther than `max_depth`, by default the settings ``confidence.min`` and
        ``space.max_depth``.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> positions, colours = slanted.estimate(scene.left, scene.right).points()
        >>> positions.shape == colours.shape, positions.dtype, colours.dtype
        (True, dtype('float32'), dtype('uint8'))
        """
        return self._exportable(min_confidence, max_depth).cloud()

    def mesh(self, min_confidence: float | None = None, max_depth: float | None = None) -> Surface:
        """Return vertices (V, 3), triangles (F, 3) and colours (V, 3) of the planes.

        Surfaces are joined where they continue and cut where they end; see
        `slanted.output.mesh`. Units, and what is left out, are as for `points`; so are surfaces
        that calibrated cameras see at less than 1.9°.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> vertices, faces, colours = slanted.estimate(scene.left, scene.right).mesh()
        >>> int(faces.max()) < len(vertices) == len(colours)
        True
        """
        return self._exportable(min_confidence, max_depth).surface()

    def to_open3d(
        self,
        kind: Literal["points", "mesh"] = "points",
        min_confidence: float | None = None,
        max_depth: float | None = None,
    ) -> Any:
        """Return the points or the mesh as an object of Open3D, which must be installed.

        Raises
        ------
        slanted.errors.MissingExtraError
            If Open3D is not installed.
        """
        from slanted.output.other_libraries import open3d_of

        return open3d_of(self._exportable(min_confidence, max_depth), kind)

    def to_rerun(
        self,
        entity: str = "slanted",
        recording: Any = None,
        min_confidence: float | None = None,
        max_depth: float | None = None,
    ) -> None:
        """Log image, disparity, confidence, depth, points and mesh to Rerun.

        Parameters
        ----------
        entity
            The path below which everything is logged.
        recording
            The recording to log to; by default the one that ``rerun.init`` started.
        min_confidence, max_depth
            As for `points`.

        Raises
        ------
        slanted.errors.MissingExtraError
            If Rerun is not installed.
        """
        from slanted.output.other_libraries import log_to_rerun

        log_to_rerun(self._exportable(min_confidence, max_depth), entity, recording)

    def show(self) -> None:
        """Show pictures and figures: below the cell of a notebook, elsewhere in the browser.

        Raises
        ------
        InputError
            If there is no screen.
        """
        from slanted.output.card import show

        show(self)

    def _exportable(self, min_confidence: float | None, max_depth: float | None) -> Exportable:
        from slanted.output.export import Exportable

        return Exportable(self, self.left, self.calibration, min_confidence, max_depth)

    def save(
        self,
        folder: PathLike[str] | str,
        left: ImageLike | None = None,
        right: ImageLike | None = None,
    ) -> None:
        """Write the result to a folder; see ``docs/result.md`` for its files.

        The pair is written with it, for pictures and for the viewer, which needs it to run
        inference again, and so are depth and a point cloud if the cameras are known.

        Parameters
        ----------
        folder
            The folder; files of an earlier result in it are replaced.
        left, right
            Images to write in place of the pair that it was made of, of the same size.

        Raises
        ------
        InputError
            If an image is none, or of another size; nothing is written.
        FileError
            If the folder cannot be written to.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> slanted.estimate(scene.left, scene.right).save("out")
        >>> slanted.read_disparity("out/disparity.pfm").shape
        (64, 96)
        """
        from slanted.images.checks import check_view
        from slanted.images.given import message_names
        from slanted.output.folder import whole_folder, write_result

        names = message_names(left, right, ("left", "right"))
        views = [
            None if given is None else check_view(name, given, self.disparity)
            for name, given in zip(names, (left, right), strict=True)
        ]
        with whole_folder(Path(folder), fsync=self.settings.fsync) as staging:
            write_result(staging, self, views[0], right=views[1])

    @classmethod
    def load(cls, folder: PathLike[str] | str) -> Result:
        """Read a result that `save` wrote, with its pair and calibration.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> result = slanted.estimate(scene.left, scene.right)
        >>> result.save("out")
        >>> slanted.Result.load("out").energy == result.energy
        True
        """
        from slanted.io.replacement import read_settled
        from slanted.output.result_data import read_result

        return cls(**read_settled(Path(folder), lambda: read_result(Path(folder))))

    def summary(self) -> dict[str, Any]:
        """Return what ``slanted run --json`` prints: counts, energy, bound, gap, seconds."""
        from slanted.output.result_data import summarise

        return summarise(self)

    def __repr__(self) -> str:
        from slanted.output.card import text_card

        return text_card(self)

    def _repr_html_(self) -> str:
        """Return pictures and figures, which notebooks show."""
        from slanted.output.card import html_card

        return html_card(self)
