"""All targets, by name."""

from __future__ import annotations

from fuzz.target import Target
from fuzz.targets_files import FILES
from fuzz.targets_results import RESULTS
from fuzz.targets_ros import ROS
from fuzz.targets_viewer import VIEWER

TARGETS: dict[str, Target] = {target.name: target for target in (*FILES, *RESULTS, *ROS, *VIEWER)}
