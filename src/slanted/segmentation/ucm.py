"""Ultrametric contour map: a hierarchy of regions, cut at a strength or a number of regions.

higra computes the oriented watershed and the hierarchy of mean boundary strengths.

References
----------
.. [1] P. Arbeláez, M. Maire, C. Fowlkes, J. Malik, "Contour detection and hierarchical image
   segmentation", TPAMI 33 (5), 2011, §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import higra
import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints


@dataclass(frozen=True)
class Ucm:
    """A hierarchy of regions of an image; make one with `build_ucm`."""

    shape: tuple[int, int]
    tree: Any
    altitudes: Floats

    def cut_regions(self, count: int) -> Ints:
        """Return the label image of the cut whose number of regions is nearest to `count`."""
        if self._is_one_region():
            return np.zeros(self.shape, np.int32)
        explorer = higra.HorizontalCutExplorer(self.tree, self.altitudes)
        # Contours of equal strength disappear together, so not every number is possible.
        numbers = np.asarray(explorer.num_regions_cuts())
        nearest = int(numbers[np.argmin(np.abs(numbers - count))])
        cut = explorer.horizontal_cut_from_num_regions(nearest)
        return self._numbered(cut.labelisation_leaves(self.tree))

    def cut_threshold(self, threshold: float) -> Ints:
        """Return the label image of the regions separated by contours stronger than `threshold`."""
        if self._is_one_region():
            return np.zeros(self.shape, np.int32)
        explorer = higra.HorizontalCutExplorer(self.tree, self.altitudes)
        cut = explorer.horizontal_cut_from_altitude(threshold)
        return self._numbered(cut.labelisation_leaves(self.tree))

    def picture(self) -> NDArray[np.float32]:
        """Return the (H, W) strength at which the contour through each pixel disappears."""
        if self._is_one_region():
            return np.zeros(self.shape, np.float32)
        strengths = higra.saliency(self.tree, self.altitudes)  # per edge of the pixel grid
        sources, targets = higra.get_4_adjacency_graph(self.shape).edge_list()
        picture = np.zeros(self.shape[0] * self.shape[1], np.float32)
        np.maximum.at(picture, sources, strengths)
        np.maximum.at(picture, targets, strengths)
        return picture.reshape(self.shape)

    def _is_one_region(self) -> bool:
        # There is no contour; higra's cuts and saliency fail on a tree of one leaf.
        return bool(self.tree.num_leaves() == 1)

    def _numbered(self, leaves: NDArray[Any]) -> Ints:
        _, numbers = np.unique(leaves, return_inverse=True)
        return numbers.reshape(self.shape).astype(np.int32)


def build_ucm(strength: NDArray[np.float32], angles: NDArray[np.float32]) -> Ucm:
    """Build the hierarchy from contours.

    Parameters
    ----------
    strength
        (H, W) strength of contours, 0 where there is none.
    angles
        (H, W) angle of the gradient across the contour, from the x axis towards the y axis.
    """
    shape = (int(strength.shape[0]), int(strength.shape[1]))
    grid = higra.get_4_adjacency_graph(shape)
    strengths = higra.weight_graph(grid, strength.astype(np.float64), higra.WeightFunction.mean)
    orientations = higra.weight_graph(grid, angles.astype(np.float64), higra.WeightFunction.source)
    tree, altitudes = higra.mean_pb_hierarchy(grid, strengths, shape, orientations)
    return Ucm(shape, tree, altitudes)
