"""Settings on a finer grid: the model of an image is that of the image enlarged."""

import numpy as np
import pytest

from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.model.potentials import compatibility_cost, disparity_cost
from slanted.regions import build_regions
from slanted.settings import Settings, leaves
from slanted.settings.grid import SMALL, on_finer_grid, times_finer

UNCHANGED = (
    "matching.",
    "rectification.",
    "confidence.",
    "tiles.",
    "learning.",
    "segmentation.ucm",
)


def test_small_images_are_matched_finer_and_others_are_not():
    settings = Settings()
    assert [times_finer(pixels, settings) for pixels in (SMALL, SMALL + 1)] == [2, 1]
    assert times_finer(SMALL + 1, settings.with_text({"matching.census.finer": "3"})) == 3
    assert times_finer(SMALL, settings.with_text({"matching.method": "sgbm"})) == 1
    assert times_finer(SMALL, settings.with_text({"tiles.above": "1"})) == 1
    for name in ("paper", "paper+"):
        assert times_finer(SMALL, Settings.preset(name)) == 1


def test_nothing_changes_on_the_same_grid():
    settings = Settings()
    assert on_finer_grid(settings, 1) is settings


def test_matching_and_confidence_stay_and_lengths_shrink():
    before, after = Settings(), on_finer_grid(Settings(), 2)
    for leaf, other in zip(leaves(before), leaves(after), strict=True):
        if leaf.path.startswith(UNCHANGED):
            assert leaf.value == other.value
        elif leaf.setting.unit == "px":
            assert other.value == pytest.approx(leaf.value / 2, abs=1) or leaf.path.endswith("size")
            assert other.value < leaf.value or leaf.value == 0


def test_what_is_off_stays_off():
    off = Settings().updated({"refinement": {"split_size": 0, "rim_width": 0}})
    found = on_finer_grid(off, 3).refinement
    assert found.split_size == found.rim_width == 0


@pytest.mark.parametrize("times", [2, 3])
def test_weighed_potentials_are_those_of_the_enlarged_image(times):
    rng = np.random.default_rng(times)
    label_image = np.kron(np.arange(6).reshape(2, 3), np.ones((8, 8), int)).astype(np.int32)
    disparity = rng.uniform(5, 9, label_image.shape).astype(np.float32)
    planes = rng.normal(0, [0.05, 0.05, 1], (6, 4, 3))
    planes[..., 2] += 7

    def enlarged(image):
        return image.repeat(times, axis=0).repeat(times, axis=1)

    settings = Settings()
    coarse = on_finer_grid(settings, times).model
    small = build_regions(label_image)
    large = build_regions(enlarged(label_image))
    wide = planes * [1, 1, times]
    costs = []
    for regions, seen, particles, model in (
        (small, disparity, planes, coarse),
        (large, times * enlarged(disparity), wide, settings.model),
    ):
        observations = observe(regions, Evidence(seen))
        costs.append(
            model.weights.seg * disparity_cost(regions, observations, particles, model.truncation)
        )
    # Slants inside an enlarged pixel, which the image itself does not have, make the difference.
    np.testing.assert_allclose(costs[0], costs[1], rtol=0.1)
    flat = planes * [0, 0, 1]
    tables = [
        model.weights.bdy2 * compatibility_cost(regions, particles, model)
        for regions, particles, model in (
            (small, flat, coarse),
            (large, flat * times, settings.model),
        )
    ]
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-9)
