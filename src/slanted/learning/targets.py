"""Targets within reach, for images with segments that no weights can get right.

Where the matches of a segment are all wrong, every potential prefers the wrong plane, and the
surrogate loss of such segments alone can drive weights to zero. A target within reach gives these
segments up: it is the labelling of least energy plus task loss with the current weights, good but
near to what the model finds. With it, minimising the surrogate is a step of the concave-convex
procedure for the ramp loss [1]_, a bound that is close to the task loss. It is local, so it starts
from weights that are good already.

References
----------
.. [1] D. McAllester, J. Keshet, "Generalization bounds and consistency for latent structural probit
   and ramp loss", NIPS 2011; see also D. McAllester, T. Hazan, J. Keshet, "Direct loss minimization
   for structured prediction", NIPS 2010.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slanted.learning.examples import Example
from slanted.learning.soft_kernels import edge_costs
from slanted.runtime.arrays import Floats
from slanted.solver.convex_bp import solve
from slanted.solver.options import SolverOptions

SWEEPS = 60


def with_target_in_reach(example: Example, weights: Floats) -> Example:
    """Return an example whose target has the least energy plus task loss that a solver finds."""
    table = np.empty(example.bdy2.shape)
    edge_costs((example.bdy1, example.bdy2, float(weights[1]), float(weights[2])), table)
    states = example.seg.shape[1]
    graph = example.graph(weights, table.reshape(*example.bdy2.shape[:2], states, states))
    # The graph has the losses subtracted, as learning needs them.
    helped = replace(
        graph,
        node_costs=graph.node_costs + 2 * example.losses,
        label_costs=graph.label_costs + 2 * example.label_losses,
    )
    truth = np.zeros(len(example.seg), np.int32), example.labels
    found = solve(helped, SolverOptions(max_sweeps=SWEEPS), incumbent=truth)
    return replace(example, target=(found.states.astype(np.int32), found.labels.astype(np.int32)))
