"""A picture of one frame: image, disparity, labels and errors (the paper's figure "Examples")."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slanted.io.files import file_digest
from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import Scores
from slanted.research.experiments.provenance import PACKAGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 620
"""Pixels of each of the pictures side by side."""
QUALITY = 85


@dataclass(frozen=True)
class ExampleJob(FrameJob):
    """A picture of a frame, and how good it is."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return what the pictures are painted with too."""
        return *super().parts, file_digest(PACKAGE / "output" / "pictures.py")

    def run(self) -> Scores:
        """Return the scores, and ``picture``, a JPEG file in base 64."""
        from slanted.evaluation.metrics import evaluate
        from slanted.images.checks import check_pair
        from slanted.images.colour import as_rgb8
        from slanted.io import read_image
        from slanted.output.pictures import colour_disparity, colour_error, paint_labels
        from slanted.pipeline import estimate

        left, right = check_pair(read_image(self.frame.left), read_image(self.frame.right))
        truth, visible = self.frame.load_ground_truth()
        result = estimate(left, right, replace(self.settings, threads=1))
        pictures = (
            as_rgb8(left),
            colour_disparity(result.disparity),
            paint_labels(left, result.regions, result.labels),
            colour_error(result.disparity, truth),
        )
        scores = evaluate(result.disparity, truth, ground_truth_noc=visible)
        return {**scores, "picture": _encode(pictures)}


def _encode(pictures: tuple[NDArray[np.uint8], ...]) -> str:
    import cv2
    import numpy as np

    from slanted.output.pictures import mosaic

    height, width = pictures[0].shape[:2]
    size = (min(WIDTH, width), round(height * min(WIDTH, width) / width))
    small = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in pictures]
    bgr = np.ascontiguousarray(mosaic([np.asarray(p, np.uint8) for p in small])[..., ::-1])
    _, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return base64.b64encode(encoded.tobytes()).decode()
