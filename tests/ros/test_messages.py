"""Results as messages: their numbers, by the definitions that rosbags has of ROS 2's types."""

from dataclasses import replace

import numpy as np
import pytest

import slanted
from ros import bags
from slanted.errors import InputError
from slanted.ros.messages import (
    CAMERA,
    STEP,
    Message,
    cameras_of,
    disparity_message,
    header_at,
    header_of,
    result_messages,
    stamp_of,
)
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
CAMERAS = slanted.Calibration(100.0, 110.0, 47.5, 31.5, baseline_meters=0.1, doffs_pixels=2.25)
STAMP = 1_700_000_000_123_456_789


@pytest.fixture(scope="module")
def result():
    found = slanted.estimate(
        SCENE.left, SCENE.right, calibration=CAMERAS, preset="fast", max_disparity=48
    )
    sky = np.zeros((64, 96), bool)
    sky[:5, :7] = True
    doubtful = np.ones((64, 96), np.float32)
    doubtful[-3:] = 0.1
    settings = found.settings.updated({"confidence.min": 0.5})
    return replace(found, sky=sky, confidence=doubtful, settings=settings)


@pytest.fixture(scope="module")
def messages(result):
    """What a reader gets who has only the bytes and the definitions."""

    def sent(message):
        made = message.made(lambda kind, fields: bags.TYPES[kind](**fields))
        raw = bags.STORE.serialize_cdr(made, message.type)
        return bags.STORE.deserialize_cdr(raw, message.type)

    made = result_messages(result, CAMERAS, header_at(STAMP, "left_optical"))
    return {name: sent(message) for name, message in made.items()}


def test_every_message_has_the_stamp_and_frame(messages):
    assert set(messages) == {"disparity", "depth/image_rect", "depth/camera_info", "points"}
    headers = [message.header for message in messages.values()]
    headers.append(messages["disparity"].image.header)
    assert {(stamp_of(each), each.frame_id) for each in headers} == {(STAMP, "left_optical")}


def test_a_header_is_copied():
    copy = header_of(bags.header(STAMP, "left")).made(
        lambda kind, fields: bags.TYPES[kind](**fields)
    )
    assert copy == bags.header(STAMP, "left")


def test_disparity_obeys_the_definition_of_its_message(result, messages):
    message = messages["disparity"]
    values = bags.floats(message.image)
    known = np.isfinite(result.solid_disparity())
    np.testing.assert_array_equal(
        values[known], result.disparity[known] + np.float32(CAMERAS.doffs_pixels)
    )
    assert (values[~known] < message.min_disparity).all()
    assert 0 < (~known).sum() == 3 * 96 + 5 * 7
    assert message.min_disparity <= values[known].min()
    assert values[known].max() <= message.max_disparity
    assert (message.f, message.t) == (100.0, np.float32(0.1))
    assert message.delta_d == STEP
    window = message.valid_window
    assert (window.x_offset, window.y_offset, window.width, window.height) == (0, 0, 96, 64)
    # Z = f t / d, by the comment in DisparityImage.msg.
    depth = message.f * message.t / values[known]
    np.testing.assert_allclose(depth, result.depth()[known], rtol=1e-5)
    assert message.image.step == 4 * 96
    assert message.image.is_bigendian == 0


def test_the_range_is_that_which_was_searched(result, messages):
    low, high = result.searched.low, result.searched.high
    message = messages["disparity"]
    assert message.min_disparity <= low + 2.25
    assert message.max_disparity >= high + 2.25
    given = replace(result, searched=None)
    made = disparity_message(given, CAMERAS, header_at(0, "")).fields
    assert made["min_disparity"] <= made["max_disparity"]


def test_depth_is_that_of_the_result(result, messages):
    np.testing.assert_array_equal(bags.floats(messages["depth/image_rect"]), result.depth())
    assert np.isinf(result.depth()).any()
    assert np.isnan(result.depth()).any()


def test_the_cloud_has_a_point_for_each_pixel(result, messages):
    message = messages["points"]
    positions, colours = bags.points(message)
    known = np.isfinite(positions).all(axis=2)
    expected = result.points()
    np.testing.assert_array_equal(positions[known], expected.positions)
    np.testing.assert_array_equal(colours[known], expected.colours)
    assert np.isnan(positions[~known]).all()
    assert message.is_dense == known.all()
    assert (message.height, message.width) == (64, 96)
    assert message.row_step == message.width * message.point_step == len(message.data) // 64
    assert [field.datatype for field in message.fields] == [7] * 4


def test_the_camera_beside_the_depth_is_the_left_one(messages):
    camera = messages["depth/camera_info"]
    assert camera.k.tolist() == [100, 0, 47.5, 0, 110, 31.5, 0, 0, 1]
    assert camera.p.tolist() == [100, 0, 47.5, 0, 0, 110, 31.5, 0, 0, 0, 1, 0]
    assert (camera.height, camera.width) == (64, 96)


def test_cameras_come_from_two_messages():
    found = cameras_of(("/l", "/r"), bags.camera(0), bags.camera(0, side="right", doffs=3.0))
    assert found == slanted.Calibration(100.0, 100.0, 47.5, 31.5, 0.1, 3.0, (96, 64))


def test_binned_and_cropped_cameras_are_those_of_the_pixels():
    left, right = bags.camera(0, binning=2), bags.camera(0, side="right", binning=2)
    for each in (left, right):
        each.roi.x_offset, each.roi.y_offset, each.roi.width, each.roi.height = 10, 20, 60, 40
    found = cameras_of(("/l", "/r"), left, right)
    assert found == slanted.Calibration(50.0, 50.0, 18.75, 5.75, 0.1, 0.0, (30, 20))


@pytest.mark.parametrize(
    ("left", "right", "problem"),
    [
        ({"fx": 0.0}, {}, "^/l: expected the projection P of a calibrated camera, got none; calib"),
        ({}, {"fx": float("nan")}, "^/r: expected the projection P of a calibrated camera"),
        ({}, {"baseline": -0.1}, "^/l, /r: the cameras make no sense .*are left and right swapped"),
        ({}, {"baseline": 0.0}, "^/l, /r: the cameras make no sense"),
    ],
)
def test_cameras_that_make_no_sense_are_named(left, right, problem):
    with pytest.raises(InputError, match=problem):
        cameras_of(("/l", "/r"), bags.camera(0, **left), bags.camera(0, side="right", **right))


def test_inner_messages_are_made_first():
    made = []
    Message("a", {"b": Message("b", {}), "c": [Message("c", {}), 1]}).made(
        lambda kind, fields: made.append((kind, fields)) or kind
    )
    assert made == [("b", {}), ("c", {}), ("a", {"b": "b", "c": ["c", 1]})]


def test_a_camera_without_a_size_fits_any_image():
    cameras = [bags.camera(0, (0, 0), side) for side in ("left", "right")]
    assert cameras_of(("/l", "/r"), *cameras).image_size is None
    assert cameras[0].__msgtype__ == CAMERA
