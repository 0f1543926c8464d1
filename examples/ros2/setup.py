"""The ROS 2 package, for colcon."""

from setuptools import setup

setup(
    name="slanted_ros",
    version="0.1.0",
    packages=["slanted_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/slanted_ros"]),
        ("share/slanted_ros", ["package.xml", "foxglove_layout.json"]),
        ("share/slanted_ros/launch", ["launch/stereo.launch.py"]),
    ],
    install_requires=["setuptools", "slanted"],
    entry_points={"console_scripts": ["stereo_node = slanted_ros.stereo_node:main"]},
)
