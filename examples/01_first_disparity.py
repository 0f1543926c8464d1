"""From a rectified pair to a dense disparity map.

Run it with two images of your own, or without arguments for a synthetic pair:

    python examples/01_first_disparity.py [LEFT RIGHT]
"""

import sys

import slanted
from slanted.synthetic import make_scene

if len(sys.argv) == 3:
    left, right = (slanted.read_image(path) for path in sys.argv[1:])
else:
    scene = make_scene(320, 240, seed=1)
    left, right = scene.left, scene.right

result = slanted.estimate(left, right)

print(result)
print(f"disparities from {result.disparity.min():.1f} to {result.disparity.max():.1f} px")
print(f"the matcher knew {100 * (result.matched == result.matched).mean():.0f} % of the pixels")
print(f"energy {result.energy:.0f}, at most {100 * result.gap:.2f} % above the best choice")

result.save("first-disparity", left, right)  # the same files that `slanted run` writes
print("look at first-disparity/disparity_colour.png, or run: slanted view first-disparity")
