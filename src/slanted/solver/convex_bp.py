"""Convex belief propagation: the discrete problem of an iteration, with a certified bound.

Block-coordinate ascent on the dual of `slanted.solver.messages`: the closed-form maximiser over
all messages of one variable, one variable after the other (norm-product belief propagation with
non-negative counting numbers [1]_, which solves each discretised MRF of the paper [2]_). The dual
never falls. With ε > 0 it reaches its maximum; with ε = 0, where the paper's MAP problem is, it may
come to rest slightly below the linear program's value. Annealing ε repairs that at several times
the cost. Differs from the paper in that

* the run stops on a certified gap or on lack of progress, and says which;
* the labelling is polished, and an incumbent is never lost; see `slanted.solver.decode`;
* variables are coloured instead of distributed; `slanted.solver.split` is the paper's way [3]_.

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

from math import inf

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.solver.convex_bp_run import Rule, Run, Solution, Trace, starting_messages
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages import Messages, build_problem, certified_bound, dual
from slanted.solver.messages_topology import Topology, build_topology

__all__ = ["Messages", "Solution", "Trace", "certified_bound", "dual", "solve"]

ANNEALING_START, ANNEALING_END = 0.3, 1e-3
"""First and least ε of annealing, in units of cost (with a hinge at 3 of them)."""
ANNEALING_RATE = 0.97**300
"""Of ε over all annealing sweeps: the least value is reached at three fifths of them."""


def solve(
    graph: FactorGraph,
    *,
    epsilon: float = 0.0,
    plane_count: float = 0.0,
    label_count: float = 0.0,
    factor_count: float = 1.0,
    max_sweeps: int = 200,
    check_every: int = 10,
    gap_tolerance: float = 1e-6,
    progress_tolerance: float = 1e-6,
    messages: Messages | None = None,
    incumbent: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
    topology: Topology | None = None,
    decode: bool = True,
    anneal: bool = False,
    anneal_sweeps: int = 300,
) -> Solution:
    """Minimise the energy of a factor graph, and bound it from below.

    Parameters
    ----------
    graph
        Costs of planes, labels, edges and junctions.
    epsilon
        ε: 0 seeks the labelling of least energy, more smooths the dual (and slows sweeps).
    plane_count, label_count, factor_count
        Counting numbers c_i of planes and labels and c_α of factors.
    max_sweeps
        After this many the run stops; annealing sweeps are not counted.
    check_every
        Sweeps between evaluations of dual and bound.
    gap_tolerance
        Stop when energy − bound is at most this, in units of cost: a relative gap would flatter,
        because most of the energy is data cost that no labelling avoids. The bound is rounded down
        by some 1e-13 of the energy, so a tolerance of 0 is never met.
    progress_tolerance
        Stop when the dual rose by at most this share of itself between two checks.
    messages
        Start from these; any are valid, such as those of a graph with other costs.
    topology
        Of the graph, if it is at hand: graphs that differ in their costs alone share it.
    incumbent
        Planes and labels that the solution will not be worse than.
    decode
        Whether to look for labellings. Without, only the incumbent, or else each variable's own
        choice at the end, is evaluated.
    anneal
        Precede the run by sweeps with ε falling from 0.3 to 0.001 units of cost: a tighter bound
        at several times the cost.
    anneal_sweeps
        How many; hard problems need more to come closer to the linear program.

    Raises
    ------
    InputError
        If costs are not finite or arguments do not fit the graph.
    """
    _check(epsilon, max_sweeps, check_every)
    epsilon = float(epsilon)  # kernels compile anew for integers
    problem = build_problem(
        graph, plane_count=plane_count, label_count=label_count, factor_count=factor_count
    )
    topology = topology or build_topology(graph)
    schedule = _annealing(anneal_sweeps) if anneal else []
    schedule += [epsilon] * max_sweeps
    settled = len(schedule) - max_sweeps  # from this sweep on ε stays, and progress means something
    run = Run(graph, problem, topology, starting_messages(graph, messages), gap_tolerance)
    if incumbent is not None:
        run.propose(run.decoder.labelling(*incumbent))
    # A run that looks at the bound once more only does not look at it before.
    closed = run.check(0, epsilon) if len(schedule) > check_every or not schedule else run.begin()
    rule: Rule = "gap" if closed else "sweeps"
    for sweep, current in enumerate(schedule if rule != "gap" else [], start=1):
        run.sweeper.sweep(run.messages, current)
        if sweep % check_every and sweep != len(schedule):
            continue
        if decode and sweep >= run.decode_at:
            run.decode(sweep, current)
        if run.check(sweep, current):
            rule = "gap"
            break
        if sweep > settled + check_every and run.progress() <= progress_tolerance:
            rule = "progress"
            break
    run.finish(decode, epsilon)
    return run.solution(epsilon, rule)


def _annealing(sweeps: int) -> list[float]:
    steps = np.arange(sweeps) / max(sweeps, 1)
    epsilons = np.maximum(ANNEALING_END, ANNEALING_START * ANNEALING_RATE**steps)
    return [float(epsilon) for epsilon in epsilons]


def _check(epsilon: float, max_sweeps: int, check_every: int) -> None:
    if not 0 <= epsilon < inf or max_sweeps < 0 or check_every < 1:
        raise InputError(
            "solve: expected epsilon >= 0, max_sweeps >= 0 and check_every >= 1, got "
            f"{epsilon}, {max_sweeps} and {check_every}; see its documentation"
        )
