"""Convex belief propagation: the solver.

The solver is block-coordinate ascent on the dual of `slanted.solver.dual`: it goes from variable to
variable and sets all its messages to their maximiser, which has a closed form. This is
norm-product belief propagation with non-negative counting numbers [1]_, with which the paper solves
its discretised MRFs [2]_. The dual never falls. With ε > 0 it reaches its maximum; with ε = 0, as
in the paper's MAP problem, it may stall slightly below the optimum of the linear program. Annealing
ε repairs that at several times the cost. Three things differ from the paper:

* the run stops on a certified gap or on lack of progress, and says which;
* the labelling is polished, and an incumbent is never lost (`slanted.solver.decoder`);
* unless parts are given, threads work on blocks of the graph that share no factor
  (`slanted.solver.topology`) instead of on parts that exchange messages [3]_.

References
----------
.. [1] T. Hazan, A. Shashua, "Norm-product belief propagation: primal-dual message-passing for
   approximate inference", IEEE Trans. Information Theory 56 (12), 2010.
.. [2] K. Yamaguchi, T. Hazan, D. McAllester, R. Urtasun, "Continuous Markov random fields for
   robust stereo estimation", ECCV 2012, Section 3.2.
.. [3] A. Schwing, T. Hazan, M. Pollefeys, R. Urtasun, "Distributed message passing for large scale
   graphical models", CVPR 2011.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.solver.distributed import advance_parts
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages import Messages
from slanted.solver.options import SolverOptions
from slanted.solver.problem import build_problem
from slanted.solver.run import Incumbent, Run
from slanted.solver.solution import Solution
from slanted.solver.sweeps import Sweeper
from slanted.solver.topology import Topology, build_topology


def solve(
    graph: FactorGraph,
    options: SolverOptions | None = None,
    *,
    parts: NDArray[np.integer] | None = None,
    messages: Messages | None = None,
    incumbent: Incumbent | None = None,
    topology: Topology | None = None,
) -> Solution:
    """Minimise the energy of a factor graph, and bound it from below.

    Parameters
    ----------
    graph, options
        The problem, and when to stop; the default options seek the least energy.
    parts
        (n,) part of each node, numbered from 0. Parts are swept alone and exchange messages at each
        check (`slanted.solver.distributed`). By default the graph is swept as a whole.
    messages
        Messages to start from. Any are valid, even those of a graph with other costs.
    incumbent
        States and labels that the solution will not be worse than.
    topology
        From `build_topology`, to save time; graphs that differ only in their costs can share it.

    Raises
    ------
    InputError
        If costs are not finite or arguments do not fit the graph.

    Examples
    --------
    >>> edges, labels = np.array([[0, 1]], np.int32), np.array([[0.0, 1.0, 9.0, 9.0]])
    >>> apart = np.array([[[[0.0, 5.0], [5.0, 0.0]], *[[[0.0, 0.0], [0.0, 0.0]]] * 3]])
    >>> graph = FactorGraph(edges, np.array([[0.0, 2.0], [3.0, 0.0]]), labels, apart)
    >>> solution = solve(graph)
    >>> solution.states.tolist(), solution.labels.tolist(), solution.energy
    ([0, 1], [1], 1.0)
    """
    options = options or SolverOptions()
    sweeper = Sweeper(build_problem(graph, options.counting), topology or build_topology(graph))
    advance = sweeper.advance if parts is None else advance_parts(sweeper, parts)
    return Run(sweeper, options, messages, incumbent).minimise(advance)
