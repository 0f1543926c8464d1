"""Ultrametric contour map: a hierarchy of regions, cut at a strength or a number of regions.

The oriented watershed and the hierarchy of mean boundary strengths are higra's.

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

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Ucm:
    """A hierarchy of regions of an image; make one with `build_ucm`."""

    shape: tuple[int, int]
    tree: Any
    altitudes: NDArray[np.float64]

    def cut_regions(self, count: int) -> Labels:
        """Return the cut whose number of regions is nearest to `count`."""
        if self._is_one_region():
            return np.zeros(self.shape, np.int32)
        explorer = higra.HorizontalCutExplorer(self.tree, self.altitudes)
        # Contours of equal strength disappear together, so not every number can be had.
        numbers = np.asarray(explorer.num_regions_cuts())
        nearest = int(numbers[np.argmin(np.abs(numbers - count))])
        cut = explorer.horizontal_cut_from_num_regions(nearest)
        return self._numbered(cut.labelisation_leaves(self.tree))

    def cut_threshold(self, threshold: float) -> Labels:
        """Return the regions that contours stronger than this separate."""
        if self._is_one_region():
            return np.zeros(self.shape, np.int32)
        explorer = higra.HorizontalCutExplorer(self.tree, self.altitudes)
        cut = explorer.horizontal_cut_from_altitude(threshold)
        return self._numbered(cut.labelisation_leaves(self.tree))

    def picture(self) -> NDArray[np.float32]:
        """Return (H, W), the strength at which the contour through each pixel disappears."""
        if self._is_one_region():
            return np.zeros(self.shape, np.float32)
        strengths = higra.saliency(self.tree, self.altitudes)  # of the edges of the pixel grid
        sources, targets = higra.get_4_adjacency_graph(self.shape).edge_list()
        picture = np.zeros(self.shape[0] * self.shape[1], np.float32)
        np.maximum.at(picture, sources, strengths)
        np.maximum.at(picture, targets, strengths)
        return picture.reshape(self.shape)

    def _is_one_region(self) -> bool:
        # No contour at all; higra's cuts and saliency fail on a tree of one leaf.
        return bool(self.tree.num_leaves() == 1)

    def _numbered(self, leaves: NDArray[Any]) -> Labels:
        _, numbers = np.unique(leaves, return_inverse=True)
        return numbers.reshape(self.shape).astype(np.int32)


def build_ucm(strength: NDArray[np.float32], angles: NDArray[np.float32]) -> Ucm:
    """Build the hierarchy from contours.

    Parameters
    ----------
    strength
        (H, W), 0 where there is no contour.
    angles
        (H, W), direction of the gradient across it, from the columns' direction towards the rows'.
    """
    shape = (int(strength.shape[0]), int(strength.shape[1]))
    grid = higra.get_4_adjacency_graph(shape)
    weights = higra.weight_graph(grid, strength.astype(np.float64), higra.WeightFunction.mean)
    orientations = higra.weight_graph(grid, angles.astype(np.float64), higra.WeightFunction.source)
    tree, altitudes = higra.mean_pb_hierarchy(grid, weights, shape, orientations)
    return Ucm(shape, tree, altitudes)
