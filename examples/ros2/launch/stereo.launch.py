"""Start the node in the namespace of a stereo camera.

ros2 launch slanted_ros stereo.launch.py namespace:=/stereo preset:=fast max_disparity:=128
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description() -> LaunchDescription:
    """Return the node with its arguments."""
    defaults = {"namespace": "/stereo", "preset": "fast", "max_disparity": "auto"}
    given = {name: LaunchConfiguration(name) for name in defaults}
    node = Node(
        package="slanted_ros",
        executable="stereo_node",
        name="slanted",
        namespace=given["namespace"],
        parameters=[{"preset": given["preset"], "matching.max_disparity": given["max_disparity"]}],
        output="screen",
    )
    arguments = [
        DeclareLaunchArgument(name, default_value=value) for name, value in defaults.items()
    ]
    return LaunchDescription([*arguments, node])
