"""ROS 2: its messages, and its recordings (rosbag2).

`images` and `messages` turn messages into arrays and results into messages; they need no ROS, and
serve the recordings and the node in ``examples/ros2`` alike. `bags` and `bag_writer` read and write
recordings with the package rosbags, `topics` finds the pair in one, and `pairing` its frames. The
loop over the frames is in `slanted.batch.recording`.
"""
