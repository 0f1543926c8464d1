"""Label images to test regions on."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from slanted.partition.label_image import label_image_from_user


def segments(array):
    return label_image_from_user(array, array.shape)


def voronoi(height, width, sites, seed):
    """Nearest site of each pixel, cut into 4-connected segments."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(0, width, sites), rng.uniform(0, height, sites)
    columns, rows = np.arange(width)[None, :, None], np.arange(height)[:, None, None]
    return segments(((columns - u) ** 2 + (rows - v) ** 2).argmin(axis=2))


def checks(height, width):
    """Segments of one pixel each: every junction is four-way."""
    return np.arange(height * width).reshape(height, width)


random_maps = st.integers(1, 4).flatmap(
    lambda highest: hnp.arrays(
        np.int32,
        st.tuples(st.integers(1, 12), st.integers(1, 14)),
        elements=st.integers(0, highest),
        fill=st.just(0),  # some maps are mostly background: few segments, with holes
    ).map(segments)
)
voronoi_maps = st.builds(
    voronoi, st.integers(4, 20), st.integers(4, 24), st.integers(1, 9), st.integers(0, 2**32 - 1)
)
# Long runs that two arms of one segment reach from both sides.
thick_maps = st.builds(
    lambda coarse, down, across: segments(coarse.repeat(down, axis=0).repeat(across, axis=1)),
    hnp.arrays(
        np.int32, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 2)
    ),
    st.integers(1, 4),
    st.integers(3, 6),
)
label_maps = st.one_of(random_maps, voronoi_maps, thick_maps)

SPECIAL_MAPS = {
    "one pixel": np.zeros((1, 1), int),
    "one segment": np.zeros((5, 7), int),
    "one row": segments(np.array([[0, 0, 1, 2, 2, 2, 2, 2, 3, 0, 0, 0, 0]])),
    "one column": segments(np.array([[0, 0, 1, 2, 2, 2, 2, 2, 3, 0, 0, 0, 0]]).T),
    "upright stripes": segments(np.arange(14)[None, :] // 3 + np.zeros((6, 1), int)),
    "level stripes": segments(np.arange(9)[:, None] // 2 + np.zeros((1, 5), int)),
    "pixels": checks(4, 5),
    "diagonal": segments(np.array([[0, 1], [1, 0]])),
    "ring": segments(np.pad(np.ones((3, 4), int), 3)),
    "comb": segments(np.array([[1, 1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0]])),
    "arch": segments(np.pad(np.zeros((5, 10), int), ((1, 0), (2, 2)), constant_values=1)),
    "bowl": segments(np.pad(np.zeros((5, 10), int), ((0, 1), (2, 2)), constant_values=1)),
    "fork": segments(np.array([[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [2, 0, 1, 0, 2]])),
}  # fmt: skip
