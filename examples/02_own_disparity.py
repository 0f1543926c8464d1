"""Start from a disparity map of your own, here that of OpenCV's StereoSGBM.

Mind the two pitfalls in the middle: OpenCV's values are sixteenths of a pixel, and pixels it could
not match have a number below the range, not NaN.
"""

import cv2
import numpy as np

import slanted
from slanted.evaluation.metrics import evaluate
from slanted.matching.interpolation import interpolate_background
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=2)

matcher = cv2.StereoSGBM_create(minDisparity=0, numDisparities=64, blockSize=5, P1=200, P2=800)
sixteenths = matcher.compute(scene.left, scene.right)
mine = sixteenths.astype(np.float32) / 16
mine[sixteenths < 0] = np.nan

result = slanted.estimate(scene.left, scene.right, disparity=mine)

filled = interpolate_background(mine)  # as KITTI does: along rows, by the farther end
print(f"SGBM knows {100 * np.isfinite(mine).mean():.0f} % of the pixels")
for name, disparity in (("SGBM, filled", filled), ("slanted from SGBM", result.disparity)):
    wrong = evaluate(disparity, scene.disparity)["out-3px-all"]
    print(f"{name}: {wrong:.1f} % of all pixels off by more than 3 px")
