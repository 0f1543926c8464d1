"""A picture of one frame: image, disparity, labels and errors (the paper's Figure 4)."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace

from slanted.io.files import file_digest
from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import Scores
from slanted.research.experiments.provenance import PACKAGE
from slanted.research.methods import read_frame

WIDTH = 620
"""Largest width of each of the four pictures, in pixels."""
QUALITY = 85


@dataclass(frozen=True)
class ExampleJob(FrameJob):
    """A picture of a frame, and its scores."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the code that paints the pictures as well."""
        painters = (PACKAGE / "output" / f"{name}.py" for name in ("pictures", "overlays"))
        return *super().parts, *map(file_digest, painters)

    def run(self) -> Scores:
        """Return the scores, and as ``picture`` a JPEG file in base 64."""
        from slanted.evaluation.metrics import evaluate
        from slanted.images.colour import as_rgb8
        from slanted.output.overlays import paint_labels
        from slanted.output.pictures import colour_disparity, colour_error, jpeg, mosaic, shrunk
        from slanted.pipeline import estimate

        left, right = read_frame(self.frame)
        truth, visible = self.frame.load_ground_truth()
        result = estimate(left, right, replace(self.settings, threads=1))
        pictures = (
            as_rgb8(left),
            colour_disparity(result.disparity),
            paint_labels(left, result.regions, result.labels),
            colour_error(result.disparity, truth),
        )
        scores = evaluate(result.disparity, truth, ground_truth_noc=visible)
        whole = mosaic([shrunk(picture, WIDTH) for picture in pictures])
        encoded = jpeg(whole, 2 * WIDTH, QUALITY)
        return {**scores, "picture": base64.b64encode(encoded).decode()}
