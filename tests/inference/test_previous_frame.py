"""Planes of the frame before are found under the segments of the next."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted import Settings, estimate
from slanted.inference.previous_frame import SAMPLE, PreviousFrame
from slanted.partition.label_image import label_image_from_user
from slanted.regions import build_regions
from slanted.synthetic import make_video


def blocks(rng, height, width, size):
    labels = np.repeat(np.repeat(rng.integers(0, 9, (9, 9)), size, 0), size, 1)[:height, :width]
    return label_image_from_user(labels, (height, width))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_planes_under_a_segment_by_how_much_of_it_they_cover(seed, count):
    rng = np.random.default_rng(seed)
    now, last = build_regions(blocks(rng, 20, 24, 5)), build_regions(blocks(rng, 20, 24, 4))
    planes = rng.normal(size=(last.count, 3))
    otherwise = rng.normal(size=(now.count, count, 3))
    found = PreviousFrame(last.label_image, last.centre, planes).at(now, count, otherwise)
    for segment in range(now.count):
        pixels = now.pixels(segment)
        seen = last.label_image.ravel()[[pixels[k * len(pixels) // SAMPLE] for k in range(SAMPLE)]]
        order = sorted(Counter(seen.tolist()).items(), key=lambda item: (-item[1], item[0]))
        for k in range(count):
            if k >= len(order):
                np.testing.assert_array_equal(found[segment, k], otherwise[segment, k])
                continue
            a, b, c = planes[order[k][0]]
            du, dv = now.centre[segment] - last.centre[order[k][0]]
            np.testing.assert_allclose(found[segment, k], (a, b, c + a * du + b * dv))


def test_a_video_is_better_for_its_past():
    options = Settings().with_text({"matching.max_disparity": "64"})
    energies, errors = np.zeros((2, 3)), np.zeros((2, 3))
    before = None
    for number, frame in enumerate(make_video(320, 200, frames=4, objects=5, seed=2)):
        alone = estimate(frame.left, frame.right, options)
        following = estimate(frame.left, frame.right, options, previous_frame=before)
        before = following.previous_frame()
        if number:
            for k, result in enumerate((alone, following)):
                energies[k, number - 1] = result.energy
                wrong = np.abs(result.disparity - frame.disparity) > 1
                errors[k, number - 1] = wrong.mean()
        else:
            np.testing.assert_array_equal(alone.disparity, following.disparity)
    assert energies[1].mean() < energies[0].mean()
    assert errors[1].mean() < errors[0].mean()


def test_planes_of_another_camera_are_not_used():
    options = Settings().with_text({"matching.max_disparity": "48"})
    frame = next(make_video(160, 96, frames=1, max_disparity=40, seed=1))
    small = estimate(frame.left[:64], frame.right[:64], options)
    alone = estimate(frame.left, frame.right, options)
    following = estimate(frame.left, frame.right, options, previous_frame=small.previous_frame())
    np.testing.assert_array_equal(alone.disparity, following.disparity)
