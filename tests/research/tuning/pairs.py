"""A dataset of tiny synthetic pairs in KITTI's layout."""

import cv2
import numpy as np

from slanted.synthetic import make_scene

NAMES = ("000000_10", "000001_10", "000002_10", "000003_10")


def write_kitti(root, count=4, size=(128, 64)):
    """Write so many pairs, of which all but the last are the split ``train``."""
    for number, name in enumerate(NAMES[:count]):
        scene = make_scene(*size, seed=number)
        visible = np.where(scene.occluded, 0, scene.disparity)
        maps = {"disp_occ_0": scene.disparity, "disp_noc_0": visible}
        files = {folder: (256 * map_).astype(np.uint16) for folder, map_ in maps.items()}
        files |= {"image_2": scene.left[..., ::-1], "image_3": scene.right[..., ::-1]}
        for folder, array in files.items():
            (root / "training" / folder).mkdir(parents=True, exist_ok=True)
            path = root / "training" / folder / f"{name}.png"
            cv2.imwrite(str(path), np.ascontiguousarray(array))
    names = ", ".join(f'"{name}"' for name in NAMES[: count - 1])
    (root / "split.json").write_text(f'{{"train": [{names}]}}')
    return root
