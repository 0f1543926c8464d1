"""An image to learn from: its segments, observations, ground truth, and what inference made of it.

Weights are only as good as the wrong planes that they are learned to reject. Planes drawn around
the local fits do not include what the model's own inference ends with when its weights are bad,
such as an object on its background's plane with all its neighbours. So learning goes in rounds:
each runs inference with the last weights and adds its solution to the particles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.inference.particles import propose
from slanted.inference.pcbp import Start, data_scale, infer
from slanted.inference.terms import WholeImage
from slanted.learning.examples import Example, tabulate
from slanted.learning.ground_truth import find_truth
from slanted.learning.losses import particle_losses
from slanted.learning.targets import with_target_in_reach
from slanted.learning.weights_file import weighed, weights_in
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.model.planes import lowest_disparity
from slanted.runtime.arrays import Floats
from slanted.solver.factor_graph import LABELS

if TYPE_CHECKING:
    from slanted.result import Result
    from slanted.runtime.arrays import Ints
    from slanted.settings import Settings

KEPT = 0.25
"""Largest share of the particles that are solutions of earlier rounds."""
LABEL_LOSS = 2.0
"""Loss of a wrong boundary label where the true one is exact, in mean losses of a particle. Labels
that follow from fitted planes are guesses themselves and have no loss."""


class TrainingImage:
    """One image; segments and observations stay, solutions are added.

    Parameters
    ----------
    name
        Name of the frame.
    result
        Result of the frame, for its segments, matches and planes: the first solution.
    truth
        (H, W) ground truth, NaN where unknown.
    settings
        All settings; the weights are those that the result was made with.
    labels
        Exact labels of all boundaries; by default they follow from the true planes.

    Raises
    ------
    InputError
        If the ground truth cannot be used.
    """

    def __init__(
        self,
        name: str,
        result: Result,
        truth: Any,
        settings: Settings,
        labels: Ints | None = None,
    ) -> None:
        model, lowest = settings.model, lowest_disparity(settings)
        self.name, self.regions, self._settings = name, result.regions, settings
        self._lowest = np.array([0, 0, lowest])
        known = find_truth(self.regions, truth, model, settings.learning.boundary_labels, lowest)
        if labels is not None:
            exact = np.asarray(labels, np.int32)[known.kept.edge_numbers]
            known = replace(known, labels=exact)
        self.truth = known
        self._has_exact_labels = labels is not None
        self._label_loss = 0.0
        evidence = Evidence(result.matched, result.pixel_weights, census=result.census)
        self._seen = observe(self.regions, evidence, lowest)
        self._noise = result.inference.noise
        self._observations = self._seen.scaled(data_scale(self._noise, model))
        self._local = result.local_planes() - self._lowest
        self._solutions = [result.inference.planes - self._lowest]
        self._labels = result.inference.labels

    def search(self, weights: Floats) -> None:
        """Add the planes that inference finds with some weights."""
        self._settings = settings = weighed(self._settings, weights)
        start = Start(
            self._local + self._lowest, self._noise, 0, max(1, settings.inference.iterations)
        )
        terms = WholeImage(self.regions, self._seen, settings)
        found = infer(terms, start=start, with_features=False)
        self._solutions.append(found.planes - self._lowest)
        self._labels = found.labels

    def task_loss(self) -> float:
        """Return the loss of the last solution, over segments and boundaries with ground truth."""
        kept = self.truth.kept
        wrong = np.count_nonzero(self._labels[kept.edge_numbers] != self.truth.labels)
        planes = self._losses(self._solutions[-1][kept.segments, None])
        return float(planes.sum() + self._label_loss * wrong)

    def example(self, scale: float | None = None) -> Example:
        """Draw particles and tabulate their features and losses.

        Particle 0 is the ground truth's plane, 1 the local fit, 2 the last solution, followed by
        those before. Of the others, half are drawn around the local fits as in the first iteration
        of inference, half around the last solution as in its middle one. The target is the ground
        truth or, with a `scale`, one within reach of the last weights times this; see
        `slanted.learning.targets`.
        """
        count = self._settings.learning.particles
        kept = self._solutions[: -1 - max(1, int(KEPT * count)) : -1]
        chosen = np.stack([self.truth.planes, self._local, *kept], axis=1)[:, :count]
        rest = count - chosen.shape[1]
        middle = self._settings.inference.iterations // 2
        particles = np.concatenate(
            [
                chosen,
                self._draw(self._local, 0, rest // 2),
                self._draw(kept[0], max(1, middle), rest - rest // 2),
            ],
            axis=1,
        )
        losses = self._losses(particles[self.truth.kept.segments])
        if self._has_exact_labels:
            # The first particles fix it, so that the task losses of all rounds compare.
            self._label_loss = self._label_loss or LABEL_LOSS * float(losses.mean())
        wrong = np.arange(LABELS) != self.truth.labels[:, None]
        observed = (self.regions, self._observations, self.truth)
        all_losses = losses, self._label_loss * wrong
        made = tabulate(self.name, *observed, particles, all_losses, self._settings)
        if scale is None:
            return made
        return with_target_in_reach(made, scale * weights_in(self._settings))

    def _losses(self, particles: Floats) -> Floats:
        """Return the losses of (n, N) planes of the segments with ground truth, in units of φ_seg.

        A segment counts as if the matches of the image were spread evenly.
        """
        learning, segments = self._settings.learning, self.truth.kept.segments
        share = self._observations.segments.weight.sum() / self.regions.size.sum()
        losses = particle_losses(
            learning.loss,
            self.truth.pixels,
            segments,
            share * self.regions.size[segments],
            particles,
            self._settings.model.truncation,
        )
        return learning.loss_scale * losses

    def _draw(self, planes: Floats, iteration: int, count: int) -> Floats:
        """Return particles around planes; `propose` puts these planes themselves first."""
        kind = self._settings.learning.proposals
        inference = replace(self._settings.inference, particles=count + 1, proposals=kind)
        drawing = replace(self._settings, inference=inference)
        found = propose(self.regions, self._observations, planes, self._labels, iteration, drawing)
        return found[:, 1:]
