"""What a run gives, and its form on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.output.result_fields import ResultData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.inference.previous_frame import PreviousFrame


@dataclass(frozen=True, eq=False)
class Result(ResultData):
    """The outcome of `slanted.estimate` for one pair.

    Parameters
    ----------
    disparity
        Dense disparity of the left image, float32 pixels: each pixel on its segment's plane,
        inside the range of disparities that was searched. In the strip at the left that the right
        view does not see it may be nearer; see ``model.strip_step``.
    matched
        The disparity D(p) that the planes explain, NaN outside F (paper §3.1): the matches of the
        matcher that are believed, or the user's.
    occluded
        Pixels of the left image that, by this disparity, the right one does not show.
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
        How many times finer than the image the grid was on which it was matched.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = slanted.estimate(scene.left, scene.right, segments=scene.segments)
    >>> result
    <Result of 96×64 pixels, 40 segments>
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

    def save(self, folder: Path | str, left: Any = None, right: Any = None) -> None:
        """Write the result to a folder; see ``docs/result.md`` for its files.

        Parameters
        ----------
        folder
            The folder; files of an earlier result in it are replaced.
        left
            The left image, for pictures; without it the pictures that need it are left out.
        right
            The right image, kept for the viewer, which needs it to run inference again.

        Examples
        --------
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> slanted.estimate(scene.left, scene.right).save("out", scene.left)
        >>> slanted.read_disparity("out/disparity.pfm").shape
        (64, 96)
        """
        from slanted.output.folder import whole_folder, write_result

        with whole_folder(Path(folder), fsync=self.settings.fsync) as staging:
            write_result(staging, self, left, right=right)

    @classmethod
    def load(cls, folder: Path | str) -> Result:
        """Read a result that `save` wrote.

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
        height, width = self.disparity.shape
        return f"<Result of {width}×{height} pixels, {self.regions.count} segments>"
