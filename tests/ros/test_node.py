"""The node in examples/ros2: with stand-ins for ROS everywhere, and with ROS where it is."""

import array
import json
import re
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import slanted
from ros import bags
from slanted.errors import SettingsError
from slanted.ros.messages import result_messages
from slanted.settings import leaves
from slanted.synthetic import make_video

FOLDER = Path(__file__).parents[2] / "examples" / "ros2"
CAMERAS = slanted.Calibration(100.0, 100.0, 47.5, 31.5, 0.1, 0.0, (96, 64))
STAMP = 1_700_000_000_123_456_789
OUTPUTS = {"disparity", "depth/image_rect", "depth/camera_info", "points"}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] == "slanted_ros"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def frames():
    return list(make_video(96, 64, frames=2, seed=1))


class StandInNode:
    """As much of rclpy's Node as the node uses."""

    given: dict = {}  # noqa: RUF012

    def __init__(self, name):
        self.values, self.published, self.errors = {}, {}, []
        self.fixed, self.profiles = set(), {}

    def declare_parameter(self, name, value, descriptor=None):
        self.values[name] = self.given.get(name, value)
        if getattr(descriptor, "read_only", False):
            self.fixed.add(name)
        return SimpleNamespace(value=self.values[name])

    def get_parameter(self, name):
        return SimpleNamespace(value=self.values[name])

    def add_on_set_parameters_callback(self, call):
        self.changed = call

    def create_publisher(self, kind, topic, qos):
        self.published[topic], self.profiles[topic] = [], qos
        return SimpleNamespace(publish=self.published[topic].append)

    def get_logger(self):
        return SimpleNamespace(error=lambda text, **_: self.errors.append(text))


class StandInSynchronizer:
    def __init__(self, inputs, queue, slop):
        self.inputs, self.slop = inputs, slop

    def registerCallback(self, call):  # noqa: N802 - message_filters' own name
        self.call = call


@pytest.fixture
def ros(monkeypatch):
    """Modules of ROS 2; messages are of the classes that rosbags makes of their definitions."""
    modules = {
        "rclpy": {},
        "rclpy.node": {"Node": StandInNode},
        "rclpy.qos": {"qos_profile_sensor_data": "sensor data"},
        "rcl_interfaces": {},
        "rcl_interfaces.msg": dict.fromkeys(
            ("ParameterDescriptor", "SetParametersResult"), SimpleNamespace
        ),
        "rosidl_runtime_py": {},
        "rosidl_runtime_py.utilities": {"get_message": bags.TYPES.__getitem__},
        "sensor_msgs": {},
        "sensor_msgs.msg": {"Image": "Image", "CameraInfo": "CameraInfo"},
        "message_filters": {
            "Subscriber": lambda node, kind, topic, qos_profile: (topic, qos_profile),
            "ApproximateTimeSynchronizer": StandInSynchronizer,
        },
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(StandInNode, "given", {"matching.max_disparity": 48})
    from slanted_ros import stereo_node

    return stereo_node


def pair_of(frame, stamp=STAMP):
    cameras = (bags.camera(stamp, side=side) for side in ("left", "right"))
    return bags.image(frame.left, stamp), bags.image(frame.right, stamp), *cameras


def waited(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_node_publishes_what_a_stream_gives(ros, frames):
    node = ros.StereoNode()
    assert node._pairs.inputs == [
        (topic, "sensor data")
        for topic in (
            "left/image_rect",
            "right/image_rect",
            "left/camera_info",
            "right/camera_info",
        )
    ]
    settings = slanted.Settings.preset("fast").updated({"matching.max_disparity": 48})
    stream = slanted.Stream(settings, CAMERAS)
    for number, frame in enumerate(frames):
        node._pairs.call(*pair_of(frame))
        waited(lambda count=number + 1: len(node.published["points"]) == count)
        result = stream(frame.left, frame.right)
        header = ros.header_of(bags.header(STAMP))
        for topic, message in result_messages(result, CAMERAS, header).items():
            expected = message.made(lambda kind, fields: bags.TYPES[kind](**fields))
            sent = node.published[topic][number]
            assert sent.header == expected.header
            if topic == "disparity":
                sent, expected = sent.image, expected.image
            if topic != "depth/camera_info":
                assert isinstance(sent.data, array.array)
                assert sent.data.tobytes() == expected.data.tobytes()
    node.close()
    assert set(node.published) == OUTPUTS
    assert not node.errors


def test_a_bad_pair_is_told_and_the_next_one_is_estimated(ros, frames):
    node = ros.StereoNode()
    left, right, *cameras = pair_of(frames[0])
    small = bags.image(frames[0].right[::2, ::2], STAMP)
    node._pairs.call(left, small, *cameras)
    waited(lambda: node.errors)
    assert node.errors[0].startswith("right/image_rect: expected the size of the left image")
    node._pairs.call(left, right, *cameras)
    waited(lambda: node.published["points"])
    node.close()


def test_parameters_change_the_settings_or_are_refused(ros, frames):
    node = ros.StereoNode()
    changed = SimpleNamespace(name="matching.max_disparity", value=-5)
    refused = node.changed([changed])
    assert not refused.successful
    assert refused.reason.startswith("matching.max_disparity: expected more than")
    assert node._settings.matching.max_disparity == 48
    accepted = [SimpleNamespace(name="matching.max_disparity", value=40),
                SimpleNamespace(name="use_sim_time", value=True)]  # fmt: skip
    assert node.changed(accepted).successful
    node._pairs.call(*pair_of(frames[0]))
    waited(lambda: node.published["disparity"])
    assert node._stream.settings.matching.max_disparity == 40
    node.close()


def test_results_are_published_reliably_and_what_cannot_change_is_read_only(ros):
    node = ros.StereoNode()
    node.close()
    assert node.fixed == {"preset", "slop_seconds"}
    # A number is rclpy's reliable profile of that depth; that of sensor data is best effort.
    assert {type(profile) for profile in node.profiles.values()} == {int}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"matching.max_disparity": -5}, "slanted: matching.max_disparity: expected more than"),
        ({"preset": "quick"}, "slanted: preset: "),
    ],
)
def test_a_wrong_setting_at_the_start_is_told_in_a_sentence(ros, monkeypatch, given, problem):
    monkeypatch.setattr(StandInNode, "given", given)
    ended = []
    monkeypatch.setattr(sys.modules["rclpy"], "init", lambda: None, raising=False)
    monkeypatch.setattr(
        sys.modules["rclpy"], "try_shutdown", lambda: ended.append(1), raising=False
    )
    with pytest.raises(SystemExit) as left:
        ros.main()
    assert str(left.value).startswith(problem)
    assert ended


def test_parameters_are_all_settings():
    from slanted_ros.parameters import parameters, settings_of

    for preset in ("default", "fast"):
        declared = list(parameters(preset))
        chosen = slanted.Settings.preset(preset)
        assert [each.name for each in declared] == [leaf.path for leaf in leaves(chosen)]
        assert all(type(each.value) in (bool, int, float, str) for each in declared)
        assert settings_of({each.name: each.value for each in declared}, preset) == chosen
    with pytest.raises(SettingsError, match=r"segmentation\.count"):
        settings_of({"segmentation.count": "many"}, "fast")


def test_only_the_newest_frame_waits():
    from slanted_ros.latest import Latest

    latest = Latest()
    for number in range(5):
        latest.put(number)
    assert (latest.take(), latest.dropped) == (4, 4)
    taken = []
    worker = threading.Thread(target=lambda: taken.append(latest.take()))
    worker.start()
    latest.close()
    worker.join(60)
    assert taken == [None]


def test_the_layout_shows_the_topics_of_a_recording(frames, tmp_path):
    layout = json.loads((FOLDER / "foxglove_layout.json").read_text("utf-8"))

    def panels(node):
        return [node] if isinstance(node, str) else panels(node["first"]) + panels(node["second"])

    assert sorted(panels(layout["layout"])) == sorted(layout["configById"])
    text = json.dumps(layout["configById"])
    ours = {f"/stereo/{name}" for name in OUTPUTS}
    assert all(f'"{topic}' in text for topic in ours)
    named = set(re.findall(r'"(/[\w/]+)', text))
    assert named == ours | {"/stereo/left/image_rect", "/stereo/left/camera_info"}


def test_the_package_names_what_it_imports():
    text = (FOLDER / "package.xml").read_text("utf-8")
    named = set(re.findall(r"<exec_depend>(\w+)<", text))
    sources = [*FOLDER.glob("slanted_ros/*.py"), *FOLDER.glob("launch/*.py")]
    code = "\n".join(file.read_text("utf-8") for file in sources)
    imported = set(re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE))
    ours = {"slanted", "slanted_ros", "numpy"} | sys.stdlib_module_names
    assert imported - ours <= named


def test_the_package_names_its_files():
    text = (FOLDER / "setup.py").read_text("utf-8")
    for name in ("launch/stereo.launch.py", "package.xml", "foxglove_layout.json"):
        assert name in text
        assert (FOLDER / name).is_file()
    assert (FOLDER / "resource" / "slanted_ros").is_file()


def test_the_node_runs_in_ros(frames):
    """Publish a pair until the node answers."""
    rclpy = pytest.importorskip(
        "rclpy", reason="rclpy is not installed, so the node of examples/ros2 was not run in ROS"
    )
    from rosidl_runtime_py.utilities import get_message
    from slanted_ros.stereo_node import INPUTS, OUTPUTS, StereoNode, real_message

    from slanted.ros.messages import Message

    def as_message(message):
        fields = {name: getattr(message, name) for name in message.__dataclass_fields__}
        inner = {n: as_message(v) if hasattr(v, "__msgtype__") else v for n, v in fields.items()}
        inner.pop("__msgtype__", None)
        return Message(message.__msgtype__, inner)

    rclpy.init()
    node, tester = StereoNode(), rclpy.create_node("tester")
    try:
        found = {}
        for topic, kind in OUTPUTS.items():
            tester.create_subscription(
                get_message(kind), topic, lambda m, t=topic: found.setdefault(t, m), 1
            )
        outputs = [tester.create_publisher(kind, topic, 1) for topic, kind in INPUTS.items()]
        pair = [as_message(each).made(real_message) for each in pair_of(frames[0])]
        deadline = time.monotonic() + 120
        while len(found) < len(OUTPUTS) and time.monotonic() < deadline:
            for publisher, message in zip(outputs, pair, strict=True):
                publisher.publish(message)
            for each in (node, tester):
                rclpy.spin_once(each, timeout_sec=0.1)
        assert set(found) == set(OUTPUTS)
        values = np.frombuffer(found["disparity"].image.data, "<f4")
        assert values.size == 96 * 64
    finally:
        node.close()
        node.destroy_node()
        tester.destroy_node()
        rclpy.shutdown()
