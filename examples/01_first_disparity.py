"""From a rectified pair to a dense disparity map.

Run it with two images of your own, or without arguments for a synthetic pair:

    python examples/01_first_disparity.py [LEFT RIGHT]
"""

import sys

import slanted
from slanted.synthetic import make_scene

if len(sys.argv) == 3:
    left, right = sys.argv[1:]  # paths; arrays and images of Pillow will do as well
else:
    scene = make_scene(320, 240, seed=1)
    left, right = scene.left, scene.right

result = slanted.estimate(left, right)

print(result)
print(f"the largest disparity is {result.disparity.max():.1f} px")

result.save("first-disparity")  # the same files that `slanted run` writes
print("look at first-disparity/disparity_colour.png, or run: slanted view first-disparity")
