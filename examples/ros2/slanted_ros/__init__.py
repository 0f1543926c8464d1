"""A ROS 2 node around slanted."""
