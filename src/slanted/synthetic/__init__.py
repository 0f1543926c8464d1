"""Scenes of slanted, textured planes whose disparity, occlusions and boundary labels are exact.

`geometry` defines surfaces and views, `sampling` draws random bodies, `render` paints both views,
`partition` cuts the left one into segments, `scene` combines all this and labels the boundaries,
`video` moves the cameras past a scene, `noise` makes the paper's dataset for robustness, and
`dataset` writes scenes to files in KITTI's layout.
"""

from slanted.synthetic.dataset import write_kitti
from slanted.synthetic.noise import NoisyScene, noise_set, noisy_scene
from slanted.synthetic.scene import Scene, SceneOptions, make_scene
from slanted.synthetic.video import VideoFrame, make_video

__all__ = [
    "NoisyScene",
    "Scene",
    "SceneOptions",
    "VideoFrame",
    "make_scene",
    "make_video",
    "noise_set",
    "noisy_scene",
    "write_kitti",
]
