"""Which topics of a recording are the pair."""

from pathlib import Path

import pytest

from slanted.errors import FileError
from slanted.ros.messages import CAMERA, COMPRESSED, IMAGE
from slanted.ros.topics import find_topics

SOURCE = Path("recording.mcap")


def images(*topics, kind=IMAGE):
    return dict.fromkeys(topics, kind)


def test_the_only_pair_is_found_with_its_cameras():
    types = images("/stereo/left/image_rect", "/stereo/right/image_rect", "/webcam/image")
    types |= {"/stereo/left/camera_info": CAMERA, "/stereo/right/camera_info": CAMERA}
    found = find_topics(SOURCE, types)
    assert (found.left, found.right) == ("/stereo/left/image_rect", "/stereo/right/image_rect")
    assert (found.left_camera, found.right_camera) == (
        *("/stereo/left/camera_info", "/stereo/right/camera_info"),
    )
    assert found.namespace == "/stereo"


@pytest.mark.parametrize(
    ("types", "left", "namespace"),
    [
        (images("/left/image_rect", "/right/image_rect"), "/left/image_rect", ""),
        (images("/cam0/image_raw", "/cam1/image_raw"), "/cam0/image_raw", ""),
        (images("/d435/infra1/image_rect_raw", "/d435/infra2/image_rect_raw"),
         "/d435/infra1/image_rect_raw", "/d435"),
        (images("/left/image_raw", "/right/image_raw", "/left/image_rect", "/right/image_rect"),
         "/left/image_rect", ""),
        (images("/left/image_rect", "/right/image_rect")
         | images("/left/image_rect/compressed", "/right/image_rect/compressed", kind=COMPRESSED),
         "/left/image_rect", ""),
    ],
)  # fmt: skip
def test_rectified_and_whole_images_are_preferred(types, left, namespace):
    found = find_topics(SOURCE, types)
    assert found.left == left
    assert found.namespace == namespace
    assert found.left_camera is None


@pytest.mark.parametrize(
    ("topic", "is_rectified"),
    [
        ("/{}/image_rect", True),
        ("/{}/image_rect_color/compressed", True),
        ("/d435/{}/image_rect_raw", True),
        ("/{}/image_raw", False),
        ("/direct/{}/image_raw/compressed", False),  # the name of another thing
    ],
)
def test_the_last_name_says_whether_images_are_rectified(topic, is_rectified):
    sides = topic.format("left"), topic.format("right")
    assert find_topics(SOURCE, images(*sides)).are_rectified is is_rectified


def test_the_camera_of_a_compressed_topic_lies_beside_the_image():
    types = images("/left/image_rect/compressed", "/right/image_rect/compressed", kind=COMPRESSED)
    types |= {"/left/camera_info": CAMERA, "/right/image_rect/camera_info": CAMERA}
    found = find_topics(SOURCE, types)
    assert found.left_camera == "/left/camera_info"
    assert found.right_camera == "/right/image_rect/camera_info"


def test_named_topics_may_have_any_name():
    types = images("/one", "/two", "/three")
    found = find_topics(SOURCE, types, "/two", "/three")
    assert (found.left, found.right, found.namespace) == ("/two", "/three", "")


def test_one_named_topic_finds_its_partner():
    types = images("/a/left/image_rect", "/a/right/image_rect", "/b/left/image", "/b/right/image")
    assert find_topics(SOURCE, types, "/b/left/image", "/b/right/image").namespace == "/b"
    assert find_topics(SOURCE, types, left="/a/left/image_rect").right == "/a/right/image_rect"


@pytest.mark.parametrize(
    ("types", "named", "problem"),
    [
        (images("/left/image_rect", "/right/image_rect"), ("/left/image_rct", None),
         r"^recording\.mcap: --left: the topic /left/image_rct is not there; did you mean "
         r"/left/image_rect\?; the topics with images are /left/image_rect, /right/image_rect$"),
        (images("/left/image_rect", "/right/image_rect"), (None, "/tf"),
         "--right: the topic /tf is not there; the topics with images are /left"),
        ({**images("/left/image"), "/tf": "tf2_msgs/msg/TFMessage"}, (None, "/tf"),
         "--right: the topic /tf holds tf2_msgs/msg/TFMessage, no images; the topics"),
        (images("/webcam/image"), (None, None),
         "has no pair of cameras whose names belong together; name two topics with --left and --right; the topics with "
         "images are /webcam/image"),
        ({"/tf": "tf2_msgs/msg/TFMessage"}, (None, None), "it holds no images at all"),
        (images("/a/left/image", "/a/right/image", "/b/left/image", "/b/right/image"), (None, None),
         "has 2 pairs of cameras whose names belong together; name two topics"),
    ],
)  # fmt: skip
def test_topics_that_are_not_there_are_named_with_those_that_are(types, named, problem):
    with pytest.raises(FileError, match=problem):
        find_topics(SOURCE, types, *named)
