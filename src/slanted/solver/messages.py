"""Messages λ from variables to factors; `slanted.solver.dual` defines them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from slanted.errors import InputError
from slanted.runtime.arrays import Floats
from slanted.solver.factor_graph import LABELS, FactorGraph


@dataclass(frozen=True, eq=False)
class Messages:
    """One array for each kind of factor and slot in it."""

    to_first: Floats
    to_second: Floats
    """(E, N) from the states of the first and the second node of an edge to its factor."""
    to_label: Floats
    """(E, 4) from an edge's label to its factor."""
    to_junctions3: Floats
    to_junctions4: Floats
    """(J3, 3, 4) and (J4, 4, 4) from labels to junctions."""

    @classmethod
    def zeros(cls, graph: FactorGraph) -> Messages:
        """Return zero messages, which leave all costs unchanged."""
        edges, states = len(graph.edges), graph.node_costs.shape[1]
        return cls(
            to_first=np.zeros((edges, states)),
            to_second=np.zeros((edges, states)),
            to_label=np.zeros((edges, LABELS)),
            to_junctions3=np.zeros((len(graph.junctions3), 3, LABELS)),
            to_junctions4=np.zeros((len(graph.junctions4), 4, LABELS)),
        )

    @classmethod
    def start(cls, graph: FactorGraph, given: Messages | None) -> Messages:
        """Return messages that may be written to: zeros, or a copy of those given.

        Raises
        ------
        InputError
            If the given ones are not finite or do not fit the graph.
        """
        zeros = cls.zeros(graph)
        if given is None:
            return zeros
        start = given.copy()
        for name, value in vars(zeros).items():
            found = getattr(start, name)
            if found.shape != value.shape or not np.isfinite(found).all():
                raise InputError(
                    f"messages: expected finite {name} of shape {value.shape}, got shape "
                    f"{found.shape}; start from messages of a graph of the same structure"
                )
        return start

    def copy(self) -> Messages:
        """Return a copy with arrays of its own."""
        return Messages(*(np.array(getattr(self, f.name), np.float64) for f in fields(self)))
