"""A video of a stereo pair that moves along its baseline past slanted planes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slanted.synthetic.geometry import cast, pixel_grid
from slanted.synthetic.render import Image, render, sample_textures
from slanted.synthetic.sampling import Stage, sample_surfaces

MIN_DISPARITY, TEXTURE = 4.0, 110.0
"""The defaults of `make_scene`."""


@dataclass(frozen=True)
class VideoFrame:
    """One pair of a video: both views, (H, W, 3), and the exact disparity of the left one."""

    left: Image
    right: Image
    disparity: npt.NDArray[np.float32]


def make_video(
    width: int,
    height: int,
    *,
    frames: int,
    step: float = 0.1,
    objects: int = 5,
    max_disparity: float = 60.0,
    noise: float = 4.0,
    seed: int,
) -> Iterator[VideoFrame]:
    """Draw a scene like `slanted.synthetic.make_scene`, and yield the frames of a drive past it.

    Parameters
    ----------
    width, height
        Size of the images, pixels.
    frames
        Number of frames.
    step
        Movement of the cameras to the right per frame, in baselines. A point moves to the left by
        `step` times its disparity.
    objects, max_disparity
        As for `make_scene`.
    noise
        Standard deviation of Gaussian noise, independent in all images, grey levels.
    seed
        The same seed gives the same video.

    Examples
    --------
    >>> from slanted.synthetic import make_video
    >>> frames = list(make_video(96, 64, frames=2, max_disparity=20, seed=1))
    >>> frames[0].left.shape
    (64, 96, 3)
    """
    rng = np.random.default_rng(seed)
    stage = Stage(width, height, MIN_DISPARITY, float(max_disparity))
    surfaces = sample_surfaces(rng, stage, objects=objects, background=None)
    textures = sample_textures(rng, len(surfaces), amplitude=TEXTURE, colour_contrast=1.0)
    u, v = pixel_grid(width, height)
    for number in range(frames):
        seen = [cast(surfaces, u, v, right=right, moved=number * step) for right in (False, True)]
        grain = noise * rng.standard_normal((2, height, width, 3))
        left, right_image = (render(seen[k], v, textures, grain[k]) for k in range(2))
        yield VideoFrame(left, right_image, seen[0].disparity.astype(np.float32))
