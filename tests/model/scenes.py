"""Random problems to test the model on."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from partition.label_maps import label_maps, segments
from slanted.boundary_label import BoundaryLabel
from slanted.images.census import CensusPair
from slanted.model import Observations, observe
from slanted.model.evidence import Evidence
from slanted.regions import Regions, build_regions


@dataclass(frozen=True)
class Scene:
    labels: NDArray[np.integer]
    image: NDArray[np.uint8]
    disparity: NDArray[np.float64]
    particles: NDArray[np.float64]
    edge_labels: NDArray[np.integer]
    regions: Regions
    census: CensusPair
    observations: Observations

    @property
    def planes(self):
        return self.particles[:, 0]

    @property
    def labels_of_pairs(self):
        pairs = [tuple(pair) for pair in self.regions.edges.tolist()]
        return dict(zip(pairs, map(BoundaryLabel, self.edge_labels.tolist()), strict=True))


def scene(labels, seed, particles=3, mean=4.0):
    """Planes of about `mean` pixels; with the default many are negative somewhere."""
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (*labels.shape, 3)).astype(np.uint8) // 96 * 96
    regions = build_regions(labels, image)
    # As matchers do: whole patches without matches, so that some segments have none.
    known = rng.random(labels.shape) < rng.choice([0.2, 0.7, 1.0])
    known &= rng.random(regions.count)[labels] < 0.8
    disparity = np.where(known, rng.normal(mean, 3, labels.shape), np.nan)
    planes = rng.normal(0, 1, (regions.count, particles, 3)) * [0.3, 0.3, 2] + [0, 0, mean]
    # The last particle is one plane for all: neighbours touch everywhere but for rounding.
    slope = rng.normal(0, 0.2, 2)
    planes[:, -1] = np.column_stack(
        [np.broadcast_to(slope, (regions.count, 2)), regions.centre @ slope + mean]
    )
    edge_labels = rng.integers(0, 4, regions.number_of_edges)
    census = CensusPair(*rng.integers(0, 2**62, (2, *labels.shape), np.uint64))
    observations = observe(regions, Evidence(disparity, census=census))
    return Scene(labels, image, disparity, planes, edge_labels, regions, census, observations)


def blocks(rows, columns, size, seed):
    """Blocks of random labels: many edges, and junctions of both kinds, of numbers in any order."""
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 6, (rows, columns))
    labels = segments(few.repeat(size, axis=0).repeat(size, axis=1))
    return rng.permutation(labels.max() + 1)[labels]


seeds = st.integers(0, 2**32 - 1)
crowded_maps = st.builds(blocks, st.integers(2, 5), st.integers(2, 6), st.integers(1, 4), seeds)
maps = st.one_of(crowded_maps, label_maps)
scenes = st.builds(scene, maps, seeds)
