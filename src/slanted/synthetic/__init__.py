"""Scenes of slanted, textured planes whose disparity, occlusions and boundary labels are exact.

`geometry` knows surfaces and views, `sampling` draws bodies at random, `render` paints both views,
`partition` cuts the left one into segments, `scene` puts all together and labels the boundaries,
`noise` makes the paper's data set for robustness.
"""

from slanted.synthetic.noise import NoisyScene, noise_set, noisy_scene
from slanted.synthetic.scene import Scene, make_scene

__all__ = ["NoisyScene", "Scene", "make_scene", "noise_set", "noisy_scene"]
