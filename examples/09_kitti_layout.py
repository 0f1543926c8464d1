"""Measure errors on data laid out as KITTI 2015's, here made up: two frames with ground truth.

On the command line this is `slanted evaluate kitti2015 my-dataset --split validation`.
"""

import json
from pathlib import Path

import numpy as np

import slanted
from slanted.evaluation.datasets import find_frames
from slanted.research.methods import evaluate_frames
from slanted.synthetic import make_scene

root = Path("my-dataset")
for number in range(2):
    scene = make_scene(320, 120, seed=40 + number)
    visible = np.where(scene.occluded, np.nan, scene.disparity).astype(np.float32)
    images = {"image_2": scene.left, "image_3": scene.right}
    truths = {"disp_occ_0": scene.disparity, "disp_noc_0": visible}
    for folder in (*images, *truths):
        (root / "training" / folder).mkdir(parents=True, exist_ok=True)
    for folder, image in images.items():
        slanted.write_image(root / "training" / folder / f"{number:06}_10.png", image)
    for folder, truth in truths.items():  # 16-bit PNG: pixels × 256, 0 for unknown
        slanted.write_disparity(root / "training" / folder / f"{number:06}_10.png", truth)
(root / "split.json").write_text(json.dumps({"train": ["000000_10"], "validation": ["000001_10"]}))

frames = find_frames("kitti2015", root, split="validation")
for method in ("sgbm", "census", "slanted"):
    mean = evaluate_frames(frames, method, slanted.Settings())["mean"]
    print(f"{method:8} out-3px {mean['out-3px-noc']:.2f} / {mean['out-3px-all']:.2f} %, "
          f"D1-all {mean['D1-all']:.2f} %")  # fmt: skip
