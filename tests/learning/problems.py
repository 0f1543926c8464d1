"""Small examples to test learning on, and a small dataset on disk."""

import numpy as np

from partition.label_maps import voronoi
from slanted.learning.examples import NAMES, Example
from slanted.model.junctions import junction3_impossible, junction4_variants
from slanted.synthetic import make_scene, write_kitti
from solver.graphs import structure


def example(labels, particles, seed, size=1.0, losses=1.0):
    """Random features on the graph of a label image."""
    rng = np.random.default_rng(seed)
    _, scopes = structure(labels)
    edges, count = len(scopes["edges"]), labels.max() + 1
    return Example(
        name=f"random {seed}",
        **scopes,
        seg=size * rng.gamma(1.0, 2.0, (count, particles)),
        bdy1=size * rng.gamma(1.0, 2.0, (edges, 2, particles)),
        bdy2=(size * rng.gamma(1.0, 2.0, (edges, 4, particles**2))).astype(np.float32),
        jct=size * junction3_impossible().astype(np.float64),
        crs=size * junction4_variants().astype(np.float64),
        col=size * rng.gamma(1.0, 1.0, (edges, 4)),
        vis=size * rng.gamma(1.0, 1.0, (count, particles)),
        pho=rng.gamma(1.0, 1.0, (count, particles)),
        losses=losses * rng.random((count, particles)),
        labels=rng.integers(0, 4, edges).astype(np.int32),
        label_losses=losses * rng.random((edges, 4)),
    )


def weights(seed):
    return np.random.default_rng(seed).gamma(1.0, 1.0, len(NAMES))


def small_example(seed, particles=3, **options):
    return example(voronoi(14, 16, 4 + seed % 4, seed), particles, seed, **options)


def write_dataset(folder, scenes=2):
    """Synthetic pairs in KITTI 2015's layout, with a split named train."""
    options = {"segments": 24, "objects": 2, "max_disparity": 30.0, "noise": 4.0}
    return write_kitti(
        folder, {"train": [make_scene(160, 96, seed=k, **options) for k in range(scenes)]}
    )
