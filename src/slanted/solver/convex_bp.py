"""Convex belief propagation on a whole graph.

The solver is block-coordinate ascent on the dual of `slanted.solver.dual`: it goes from variable to
variable and sets all messages of one to their maximiser, which has a closed form. This is
norm-product belief propagation with non-negative counting numbers [1]_, with which the paper solves
its discretised MRFs [2]_. The dual never falls. With ε > 0 it reaches its maximum; with ε = 0,
which the paper's MAP problem has, it may come to rest slightly below the value of the linear
program. Annealing ε repairs that at several times the cost. Three things differ from the paper:

* the run stops on a certified gap or on lack of progress, and says which;
* the labelling is polished, and an incumbent is never lost (`slanted.solver.decoder`);
* threads work on blocks of the graph that share no factor (`slanted.solver.topology`) instead of on
  parts that exchange messages, which is the paper's way [3]_ and that of
  `slanted.solver.distributed`.

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
    messages: Messages | None = None,
    incumbent: Incumbent | None = None,
    topology: Topology | None = None,
) -> Solution:
    """Minimise the energy of a factor graph, and bound it from below.

    Parameters
    ----------
    graph
        Structure and costs.
    options
        When to stop, and what to ascend; the defaults seek the least energy.
    messages
        Start from these. Any are valid, also those of a graph with other costs.
    incumbent
        States and labels that the solution will not be worse than.
    topology
        Of the graph, from `build_topology`, to save time: graphs that differ in their costs alone
        share it.

    Raises
    ------
    InputError
        If costs are not finite or arguments do not fit the graph.
    """
    options = options or SolverOptions()
    sweeper = Sweeper(build_problem(graph, options.counting), topology or build_topology(graph))

    def advance(messages: Messages, epsilons: list[float]) -> Messages:
        for epsilon in epsilons:
            sweeper.sweep(messages, epsilon)
        return messages

    return Run(sweeper, options, messages, incumbent).minimise(advance)
