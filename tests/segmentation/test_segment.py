"""One interface for all methods."""

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.images.colour import lab_planes
from slanted.partition.connectivity import split_connected
from slanted.segmentation import number_of_segments, segment
from slanted.settings import (
    SegmentationSettings,
    Settings,
    SlicSettings,
    UcmSettings,
    preset_names,
)
from slanted.synthetic import make_scene

IMAGE, _, TRUTH = load_motorcycle()
METHODS = ("slic", "slic+disparity", "ucm", "slic+ucm")


def check_label_image(labels, shape):
    assert labels.shape == shape
    assert labels.dtype == np.int32
    sizes = np.bincount(labels.ravel())
    assert (sizes > 0).all()
    assert split_connected(labels).max() + 1 == len(sizes)
    return len(sizes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [60, 500, 1500])
def test_the_number_asked_for_is_met_within_15_percent(method, count):
    settings = SegmentationSettings(method=method, count=count)
    found = check_label_image(segment(IMAGE, settings, TRUTH), TRUTH.shape)
    assert abs(found / count - 1) <= 0.15


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["grey", "16 bit", "constant", "tiny", "narrow", "flat", "noise"])
def test_odd_images_are_segmented(method, kind):
    rng = np.random.default_rng(0)
    image = {
        "grey": IMAGE[:60, :80, 0],
        "16 bit": IMAGE[:60, :80].astype(np.uint16) * 16,
        "constant": np.full((60, 80, 3), 90, np.uint8),
        "tiny": IMAGE[:9, :9],
        "narrow": IMAGE[:200, :8],
        "flat": IMAGE[200:210, :400],
        "noise": rng.integers(0, 256, (60, 80, 3), dtype=np.uint8),
    }[kind]
    disparity = np.full(image.shape[:2], np.nan, np.float32)
    settings = SegmentationSettings(method=method, count=20)
    labels = segment(np.ascontiguousarray(image), settings, disparity)
    found = check_label_image(labels, image.shape[:2])
    if kind == "constant" and method == "ucm":
        assert found == 1  # no contour at all
    elif kind == "tiny" and method == "ucm":
        assert found <= 20  # no more basins than that
    else:
        assert abs(found / 20 - 1) <= 0.15


def test_one_segment_is_the_whole_image():
    assert segment(IMAGE[:40, :50], SegmentationSettings(method="slic", count=1)).max() == 0


def test_disparity_is_needed_where_it_is_seen():
    with pytest.raises(InputError, match=r"slic\+disparity needs the initial disparity"):
        segment(IMAGE[:40, :50], SegmentationSettings(method="slic+disparity", count=5))


def test_ucm_cut_by_threshold_and_by_regions():
    small = np.ascontiguousarray(IMAGE[:200, :300])
    counts = []
    for threshold in (0.1, 0.3):
        ucm = UcmSettings(threshold=threshold)
        labels = segment(small, SegmentationSettings(method="ucm", ucm=ucm))
        counts.append(check_label_image(labels, (200, 300)))
    assert counts[0] > counts[1] > 1
    labels = segment(small, SegmentationSettings(method="ucm", ucm=UcmSettings(regions=40)))
    assert abs(check_label_image(labels, (200, 300)) - 40) <= 2


def test_segments_of_the_intersection_lie_inside_both():
    """Before tiny pieces are merged; the merged share is small."""
    small = np.ascontiguousarray(IMAGE[:200, :300])
    settings = SegmentationSettings(method="slic+ucm", count=200)
    joint = segment(small, settings)
    regions = segment(small, SegmentationSettings(method="ucm", ucm=UcmSettings(regions=50)))
    pairs = joint.astype(np.int64) * (regions.max() + 1) + regions
    best = np.zeros(joint.max() + 1, np.int64)
    values, sizes = np.unique(pairs, return_counts=True)
    np.maximum.at(best, values // (regions.max() + 1), sizes)
    assert best.sum() / joint.size > 0.93


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bytes_every_time(method):
    settings = SegmentationSettings(method=method, count=300, slic=SlicSettings(iterations=4))
    one, two = (segment(IMAGE[:200], settings, TRUTH[:200]) for _ in range(2))
    assert one.tobytes() == two.tobytes()


def test_by_itself_the_number_follows_the_size():
    """One for 150 pixels in small images, for 600 in large ones, and never more than 2000."""
    for pixels, expected in (
        (120, 1),
        (72_000, 480),
        (200_000, 800),
        (600_000, 1000),
        (2 * 10**6, 2000),
    ):
        image = np.zeros((pixels // 10, 10), np.uint8)
        assert number_of_segments(image, SegmentationSettings()) == expected
    found = segment(IMAGE[:240, :300], SegmentationSettings(method="slic")).max() + 1
    assert abs(found - 480) <= 48
    assert segment(IMAGE[:12, :12], SegmentationSettings(method="slic")).max() == 0


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_has_a_number_for_small_images(preset):
    rules = Settings.preset(preset).segmentation
    assert number_of_segments(IMAGE[:17, :33], rules) <= 17 * 33 // 4
    assert number_of_segments(IMAGE, rules) == (rules.count or 800)  # where there is room, its own


@pytest.mark.parametrize(("count", "found"), [(139, 139), (141, 140), (99_999, 140)])
def test_there_are_no_more_segments_than_there_is_room_for(count, found):
    assert number_of_segments(IMAGE[:17, :33], SegmentationSettings(count=count)) == found


def test_unusable_arguments_are_refused():
    with pytest.raises(InputError, match="image: expected an image of type uint8, uint16 or float"):
        segment(IMAGE.astype(bool), SegmentationSettings())
    settings = SegmentationSettings(method="slic+disparity", count=5)
    with pytest.raises(InputError, match="disparity: expected the image's shape"):
        segment(IMAGE, settings, TRUTH[1:])


def test_planes_of_another_image_are_refused():
    image = make_scene(80, 60, segments=12, seed=1).left
    rules = SegmentationSettings(method="slic", count=12)
    expected = segment(image, rules)
    np.testing.assert_array_equal(segment(image, rules, lab=lab_planes(image)), expected)
    with pytest.raises(
        InputError, match=r"^lab: expected the planes of the image, .*\(3, 60, 80\)"
    ):
        segment(image, rules, lab=lab_planes(image[::2, ::2]))
