"""Outlines: each side of a segment once, with the label of its boundary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.label_maps import label_maps
from slanted.errors import InputError
from slanted.regions import build_regions
from slanted.viewer.pixel import describe_pixel, outline


def naive_sides(regions, kinds, segment):
    """Every side of a pixel on the outline: its ends and its kind."""
    height, width = regions.label_image.shape
    kind_of = {frozenset(e): int(k) for e, k in zip(regions.edges.tolist(), kinds, strict=True)}
    found = set()
    for v in range(height):
        for u in range(width):
            if regions.label_image[v, u] != segment:
                continue
            for du, dv, side in (
                (-1, 0, (u, v, u, v + 1)),
                (1, 0, (u + 1, v, u + 1, v + 1)),
                (0, -1, (u, v, u + 1, v)),
                (0, 1, (u, v + 1, u + 1, v + 1)),
            ):
                inside = 0 <= u + du < width and 0 <= v + dv < height
                other = int(regions.label_image[v + dv, u + du]) if inside else None
                if other is None:
                    found.add((*side, -1))
                elif other != segment:
                    found.add((*side, kind_of[frozenset((segment, other))]))
    return found


def unit_sides(stretches):
    """Stretches cut into sides of pixels."""
    found = []
    for x0, y0, x1, y1, kind in stretches.tolist():
        steps = max(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) // steps, (y1 - y0) // steps
        found += [
            (x0 + k * dx, y0 + k * dy, x0 + (k + 1) * dx, y0 + (k + 1) * dy, kind)
            for k in range(steps)
        ]
    return found


@settings(max_examples=150, deadline=None)
@given(label_maps, st.integers(0, 2**32 - 1))
def test_outlines_are_those_of_the_slow_and_obvious_version(labels, seed):
    rng = np.random.default_rng(seed)
    regions = build_regions(labels)
    kinds = rng.integers(0, 4, regions.number_of_edges)
    segment = int(rng.integers(regions.count))
    found = unit_sides(outline(regions, kinds, segment))
    assert len(found) == len(set(found))
    assert set(found) == naive_sides(regions, kinds, segment)


def test_there_is_nothing_outside_the_image():
    from viewer.worlds import session

    made = session()
    with pytest.raises(InputError, match="pixel: expected one inside 160×120"):
        describe_pixel(made.scene, made.frame("0-0"), 160, 3)
