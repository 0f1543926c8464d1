"""Discrete factor graphs, minimised by convex belief propagation with a certified lower bound.

The package knows nothing of stereo and can be used alone: `solve` takes a `FactorGraph` and returns
a `Solution`.

>>> import numpy as np
>>> from slanted.solver import FactorGraph, SolverOptions, certified_bound, solve
>>> edge_costs = np.zeros((1, 4, 2, 2))
>>> edge_costs[0, 0] = [[0, 10], [10, 0]]  # label 0 favours equal states
>>> graph = FactorGraph(
...     edges=np.array([[0, 1]], np.int32),
...     node_costs=np.array([[0.0, 2.0], [1.0, 0.0]]),
...     label_costs=np.array([[0.0, 0.5, 5.0, 5.0]]),
...     edge_costs=edge_costs,
... )
>>> solution = solve(graph, SolverOptions(max_sweeps=50))
>>> solution.states.tolist(), solution.labels.tolist(), solution.energy
([0, 1], [1], 0.5)
>>> solution.gap <= 1e-6  # no other choice costs less than the bound
True
>>> certified_bound(graph, solution.messages) == solution.bound  # the messages alone prove it
True

The modules, in the order in which a graph becomes a solution:

1. `factor_graph`: the problem as a user states it; `options`: how to solve it.
2. `problem` and `topology`: its costs and its structure in the layout that kernels read.
3. `messages`; `dual`: the lower bound that any messages give.
4. `sweeps`, on `node_kernels` and `label_kernels`: updates of messages that raise the dual.
5. `decoder`, on `decoder_kernels`, `star_kernels`, `chain_kernels`: from messages to a labelling.
6. `run`: sweeps, decoding and checks until the gap closes; `solution`: what is returned.
7. `convex_bp.solve` puts these together; `distributed` lets it work part by part.

The names in ``__init__.pyi`` are imported when first used, so that ``import slanted.solver`` does
not load Numba.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
