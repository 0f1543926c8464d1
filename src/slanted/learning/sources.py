"""What weights are learned from: pairs with ground truth, from files or made up."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.io.files import read_bytes

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Ints


@dataclass(frozen=True, eq=False)
class TrainingPair:
    """A pair, its ground truth, and what is known of it besides."""

    left: Any
    right: Any
    """The images."""
    truth: Any
    """(H, W) true disparity of the left view, NaN where unknown."""
    visible: Any = None
    """The same for the pixels that are visible in both views."""
    disparity: Any = None
    segments: Any = None
    """An initial disparity and a label image, as for `slanted.pipeline.estimate`."""
    edges: Ints | None = None
    labels: Ints | None = None
    """(E, 2) pairs i < j of these segments that touch, and their exact boundary labels; by default
    labels follow from the true planes."""

    def labels_in(self, regions: Regions) -> Ints | None:
        """Return the exact label of every edge of regions that number the segments differently."""
        if self.edges is None or self.labels is None:
            return None
        number = np.empty(regions.count, np.int64)  # as in `segments`
        number[regions.label_image] = self.segments
        known = {
            (int(i), int(j)): BoundaryLabel(int(o))
            for (i, j), o in zip(self.edges, self.labels, strict=True)
        }
        pairs = number[regions.edges].tolist()
        found = [known[i, j] if i < j else known[j, i].flipped() for i, j in pairs]
        return np.array(found, np.int32)


class Source(Protocol):
    """A pair that can be loaded where it is needed."""

    @property
    def name(self) -> str:
        """The name of the pair."""

    def digest(self) -> str:
        """Return a digest of the content."""

    def load(self) -> TrainingPair:
        """Load the pair."""


@dataclass(frozen=True)
class FrameSource:
    """A frame of a dataset."""

    frame: Frame

    @property
    def name(self) -> str:
        """The name of the frame."""
        return self.frame.name

    def digest(self) -> str:
        """Return a digest of the frame's files."""
        digest = hashlib.sha256()
        for path in (self.frame.left, self.frame.right, self.frame.ground_truth):
            digest.update(hashlib.sha256(read_bytes(path)).digest())
        return digest.hexdigest()

    def load(self) -> TrainingPair:
        """Read images and ground truth.

        Raises
        ------
        InputError
            If the ground truth is not the size of the left image.
        """
        from slanted.io import read_image

        truth, visible = self.frame.load_ground_truth()
        left = read_image(self.frame.left)
        if truth.shape != left.shape[:2]:
            raise InputError(
                f"{self.name}: ground truth: expected the size of the left image, {left.shape[1]}×"
                f"{left.shape[0]}, got {truth.shape[1]}×{truth.shape[0]} "
                f"({self.frame.ground_truth}); use files of one resolution"
            )
        return TrainingPair(left, read_image(self.frame.right), truth, visible)


def as_source(frame: Frame | Source) -> Source:
    """Return a frame as a source; other sources are returned as they are."""
    from slanted.evaluation.datasets import Frame

    return FrameSource(frame) if isinstance(frame, Frame) else frame
