"""A synthetic scene of the paper's test of robustness (§4, "Robustness to noise")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.research.experiments.jobs.frames import settings_text
from slanted.research.experiments.measurements import Scores

if TYPE_CHECKING:
    from slanted.learning.sources import TrainingPair
    from slanted.settings import Settings


@dataclass(frozen=True)
class NoisySource:
    """Scene `number` of a seed, to learn from, with its exact labels."""

    seed: int
    number: int
    sigma: float  # of the noise, in pixels

    @property
    def name(self) -> str:
        """Return the noise and the scene."""
        return f"σ = {self.sigma:g}, scene {self.number} of seed {self.seed}"

    def digest(self) -> str:
        """Return the name, on which all depends."""
        return self.name

    def load(self) -> TrainingPair:
        """Make the scene."""
        from slanted.learning.sources import TrainingPair
        from slanted.synthetic import noisy_scene

        noisy = noisy_scene(self.sigma, self.seed, self.number)
        scene = noisy.scene
        return TrainingPair(
            scene.left,
            scene.right,
            scene.disparity,
            disparity=noisy.disparity,
            segments=scene.segments,
            edges=scene.edges,
            labels=scene.labels.astype(np.int32),
        )


@dataclass(frozen=True)
class NoiseJob:
    """Local fits, our result and the oracle on scene `number` of a seed."""

    seed: int
    number: int
    sigma: float  # of the noise, in pixels
    settings: Settings

    @property
    def name(self) -> str:
        """Return the noise and the scene."""
        return NoisySource(self.seed, self.number, self.sigma).name

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the scene, the noise and the settings."""
        scene = str(self.seed), str(self.number), str(self.sigma)
        return *scene, settings_text(self.settings)

    def run(self) -> Scores:
        """Return RMS errors in pixels, and wrong boundary labels in percent.

        ``limit`` are the labels that φ_bdy2 alone gets wrong with the true planes.
        """
        from slanted.boundary_label import BoundaryLabel
        from slanted.evaluation.metrics import evaluate
        from slanted.evaluation.oracle import oracle_disparity
        from slanted.inference.pcbp import infer
        from slanted.inference.terms import WholeImage
        from slanted.model.drawing import draw_disparity
        from slanted.model.energy import cheapest_labels
        from slanted.model.evidence import Evidence
        from slanted.regions import build_regions
        from slanted.runtime.threads import thread_limit
        from slanted.synthetic import noisy_scene

        noisy = noisy_scene(self.sigma, self.seed, self.number)
        scene = noisy.scene
        with thread_limit(1):
            regions = build_regions(scene.segments, scene.left)
            found = infer(WholeImage.of(regions, Evidence(noisy.disparity), self.settings))
            maps = {
                "local fit": draw_disparity(regions, found.initial_planes),
                "ours": draw_disparity(regions, found.planes),
                "oracle": oracle_disparity(scene.segments, scene.disparity),
            }
            limit = cheapest_labels(regions, scene.planes, self.settings.model) != scene.labels
        wrong = found.labels != scene.labels
        flattened = (scene.labels == BoundaryLabel.HINGE) & (found.labels == BoundaryLabel.COPLANAR)
        errors = {name: evaluate(d, scene.disparity)["rms-all"] for name, d in maps.items()}
        shares = {"wrong": wrong, "limit": limit, "flattened": flattened}
        return {**errors, **{name: 100 * float(share.mean()) for name, share in shares.items()}}
