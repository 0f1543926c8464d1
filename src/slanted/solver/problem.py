"""A factor graph in the layout that kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.solver.label_kernels import Junctions
from slanted.solver.options import CountingNumbers


@dataclass(frozen=True, eq=False)
class JunctionTables:
    """Junctions of one size."""

    kinds: Ints
    """(J,) which of the tables each junction uses."""
    tables: Floats
    """(kinds, k, 4, 4^(k−1)) costs, stored k times, each time with another slot's label first, so
    that every message reads its table contiguously."""
    counts: Floats
    """(J,) c_α."""

    @classmethod
    def of(cls, kinds: Ints, tables: Floats, count: float) -> JunctionTables:
        """Arrange (kinds, 4, …, 4) tables for junctions that all have one counting number."""
        slots = tables.ndim - 1
        turned = [np.moveaxis(tables, 1 + slot, 1) for slot in range(slots)]
        stacked = np.stack([t.reshape(len(tables), LABELS, -1) for t in turned], axis=1)
        return cls(
            np.array(kinds, np.int32),
            stacked.astype(np.float64),
            np.full(len(kinds), count, np.float64),
        )

    def with_messages(self, messages: Floats) -> Junctions:
        """Return the tuple that kernels take."""
        return self.kinds, self.tables, self.counts, messages


@dataclass(frozen=True, eq=False)
class Problem:
    """Costs and counting numbers; tables are flat."""

    graph: FactorGraph
    """The scopes of all factors."""
    node_costs: Floats
    label_costs: Floats
    """(n, N) and (E, 4) θ_i."""
    edge_costs: Floats
    edge_counts: Floats
    """(E, 4, N²) θ_α and (E,) c_α."""
    three: JunctionTables
    four: JunctionTables
    """Junctions."""
    node_count: float
    label_count: float
    """c_i of nodes and of labels."""

    def __post_init__(self) -> None:
        # Numba gives read-only arrays a type of their own. Callers may pass some, so all become
        # read-only: kernels compile once, and the large tables need no copy.
        for name in ("node_costs", "label_costs", "edge_costs"):
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)


def build_problem(
    graph: FactorGraph, counting: CountingNumbers | None = None, *, check: bool = True
) -> Problem:
    """Bring a graph into the kernels' layout; large tables are not copied.

    Raises
    ------
    InputError
        If `check` is true and a cost is not finite.
    """
    counting = counting or CountingNumbers()
    for name in ("node_costs", "label_costs", "edge_costs", "junction3_costs", "junction4_costs"):
        if check and not np.isfinite(getattr(graph, name)).all():
            raise InputError(
                f"{name}: expected finite costs, got NaN or infinity; use a large cost instead"
            )
    edges, (first, second) = len(graph.edges), graph.edge_costs.shape[2:]
    no_kinds = np.zeros(len(graph.junctions3), np.int32)
    return Problem(
        graph=graph,
        node_costs=_flat(graph.node_costs, graph.node_costs.shape),
        label_costs=_flat(graph.label_costs, (edges, LABELS)),
        edge_costs=_flat(graph.edge_costs, (edges, LABELS, first * second)),
        edge_counts=np.full(edges, counting.factor, np.float64),
        three=JunctionTables.of(no_kinds, graph.junction3_costs[None], counting.factor),
        four=JunctionTables.of(graph.junction4_kinds, graph.junction4_costs, counting.factor),
        node_count=float(counting.node),
        label_count=float(counting.label),
    )


def _flat(costs: Floats, shape: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(costs, np.float64).reshape(shape)
