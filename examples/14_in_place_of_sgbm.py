"""slanted in a program that was written for OpenCV's StereoSGBM: one line changes."""

import cv2
import numpy as np

import slanted
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=2)
left, right = scene.left[..., ::-1], scene.right[..., ::-1]  # BGR, as cv2.imread returns images

wrong = {}
for name, stereo in (
    ("SGBM", cv2.StereoSGBM_create(minDisparity=0, numDisparities=64)),
    ("slanted", slanted.StereoSlanted.create(minDisparity=0, numDisparities=64)),
):
    sixteenths = stereo.compute(left, right)  # (H, W) int16
    known = sixteenths >= 0
    disparity = sixteenths / 16
    off = ~known | (np.abs(disparity - scene.disparity) > 3)
    wrong[name] = 100 * off.mean()
    print(f"{name}: {100 * known.mean():.0f} % known, {wrong[name]:.1f} % unknown or off by > 3 px")

doubting = slanted.StereoSlanted.create(0, 64, minConfidence=0.9)
holes = doubting.compute(left, right) < 0  # (minDisparity − 1) × 16, as OpenCV marks unknown pixels
print(f"below a confidence of 0.9: {100 * holes.mean():.0f} % of the pixels")
print(f"planes, boundaries and the rest are in stereo.result:\n{doubting.result}")
