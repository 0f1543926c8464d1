"""The Numba kernel of a sweep over a block: what `node_kernels` and `label_kernels` do there."""

from __future__ import annotations

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.label_kernels import Junctions, edges_to_labels, update_labels
from slanted.solver.node_kernels import reduce_labels, update_nodes
from slanted.solver.topology import Incidence


@kernel
def update_block(
    nodes: Ints, edges: Ints, labels: Ints, star: Incidence, touching: Incidence,
    node_costs: Floats, label_costs: Floats, edge_costs: Floats, edge_counts: Floats,
    node_count: float, label_count: float, three: Junctions, four: Junctions,
    to_first: Floats, to_second: Floats, to_label: Floats, reduced: Floats, from_edges: Floats,
    epsilon: float,
) -> None:  # fmt: skip
    """Replace the messages of a block's nodes, then of its labels.

    One call from Python: of four, threads would wait for each other at each, as only one of them
    can prepare a call at a time.

    Parameters
    ----------
    nodes, edges, labels
        The members of the `Block`.
    star, touching
        Those of the `Topology`.
    node_costs, label_costs, edge_costs, edge_counts, node_count, label_count
        The fields of the `Problem`.
    three, four
        Junctions, with their messages.
    to_first, to_second, to_label
        The other messages.
    reduced, from_edges
        (E, N²) and (E, 4) working memory; blocks of a phase share no row of it.
    epsilon
        ε.
    """
    reduce_labels(edges, edge_costs, to_label, edge_counts, epsilon, reduced)
    update_nodes(
        nodes, star, node_costs, reduced, edge_counts, node_count, epsilon, to_first, to_second
    )
    edges_to_labels(labels, edge_costs, to_first, to_second, edge_counts, epsilon, from_edges)
    update_labels(
        labels, touching, label_costs, from_edges, edge_counts, three, four, label_count, epsilon,
        to_label,
    )  # fmt: skip
