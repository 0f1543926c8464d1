"""The whole Python interface with types, as a strict type checker sees it.

python examples/13_typed.py
mypy --strict examples/13_typed.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import slanted
from slanted.synthetic import make_scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

CAMERAS = slanted.Calibration(
    fx_pixels=300, fy_pixels=300, cx_pixels=159.5, cy_pixels=119.5, baseline_meters=0.1
)


def make_files(folder: Path) -> tuple[Path, Path]:
    """Write a synthetic pair."""
    scene = make_scene(320, 240, seed=6)
    left, right = folder / "typed-left.png", folder / "typed-right.png"
    slanted.write_image(left, scene.left)
    slanted.write_image(right, scene.right)
    return left, right


def nearest_meters(result: slanted.Result, min_confidence: float) -> float:
    """Return the distance of the nearest point that can be trusted."""
    depth: NDArray[np.float32] = result.depth(min_confidence)
    return float(np.nanmin(depth))


def share_of_occlusions(result: slanted.Result) -> float:
    """Return the share of boundaries where one surface hides another."""
    kinds = slanted.BoundaryLabel.LEFT_OCCLUSION, slanted.BoundaryLabel.RIGHT_OCCLUSION
    return float(np.isin(result.labels, kinds).mean())


def as_opencv(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return sixteenths of a pixel, as ``cv2.StereoSGBM`` would."""
    stereo = slanted.StereoSlanted.create(minDisparity=0, numDisparities=64, mode="fast")
    return stereo.compute(left, right)


def main() -> None:
    """Estimate one pair from files and from arrays, and look at all that comes out."""
    left, right = make_files(Path())
    result = slanted.estimate(
        left, str(right), preset="fast", max_disparity=64, calibration=CAMERAS
    )
    print(result)
    print(
        f"nearest {nearest_meters(result, 0.9):.2f} m, occlusions {share_of_occlusions(result):.0%}"
    )

    positions, colours = result.points()
    vertices, faces, _ = result.mesh()
    print(f"{len(positions)} points, {len(colours)} colours, {len(vertices)} vertices")
    assert faces.max() < len(vertices)

    settings = slanted.Settings.preset("fast").updated({"matching.max_disparity": 64})
    floats: NDArray[np.float64] = slanted.read_image(left) / 255
    again = slanted.estimate(floats, slanted.read_image(right), settings)
    assert (again.disparity == result.disparity).all()

    bgr = [slanted.read_image(path)[..., ::-1].astype(np.uint8) for path in (left, right)]
    sixteenths = as_opencv(bgr[0], bgr[1])
    print(f"as OpenCV has it: {sixteenths.dtype}, up to {sixteenths.max()} sixteenths")

    try:
        slanted.estimate(left, right, preset="fasst")
    except slanted.SlantedError as error:
        print(f"a misspelt name: {error}")


if __name__ == "__main__":
    main()
