"""Scenes as files in the layout of KITTI 2015, to try out commands that need a dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

import numpy as np

from slanted.io import write_disparity, write_image
from slanted.synthetic.scene import Scene


def write_kitti(folder: Path, splits: Mapping[str, Iterable[Scene]]) -> Path:
    """Write scenes as frames 000000_10, 000001_10, …, and the split of each to ``split.json``.

    Parameters
    ----------
    folder
        The dataset's folder; created if missing.
    splits
        The scenes of each split, such as ``train`` and ``validation``.

    Returns
    -------
    Path
        The folder, which `slanted.evaluation.datasets.find_frames` reads as ``kitti2015``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from slanted.evaluation.datasets import find_frames
    >>> from slanted.synthetic import make_scene, write_kitti
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> folder = write_kitti(Path("made-up"), {"train": [scene]})
    >>> [frame.name for frame in find_frames("kitti2015", folder, "train")]
    ['000000_10']
    """
    numbers = count()
    names: dict[str, list[str]] = {}
    for split, scenes in splits.items():
        for scene in scenes:
            name = f"{next(numbers):06}_10"
            names.setdefault(split, []).append(name)
            visible = np.where(scene.occluded, np.float32(np.nan), scene.disparity)
            images = {"image_2": scene.left, "image_3": scene.right}
            truths = {"disp_occ_0": scene.disparity, "disp_noc_0": visible}
            for kind, image in images.items():
                write_image(folder / "training" / kind / f"{name}.png", image)
            for kind, truth in truths.items():
                write_disparity(folder / "training" / kind / f"{name}.png", truth)
    (folder / "split.json").write_text(json.dumps(names), "utf-8")
    return folder
