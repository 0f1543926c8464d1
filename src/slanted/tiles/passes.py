"""What is computed of one tile at a time: plain functions of what travels to a worker.

Each returns the numbers of the tile's own segments, and of its edges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from slanted.inference.local_fit import fit_own_matches, moments_near, sampled_residuals
from slanted.model.build import build_factor_graph
from slanted.model.energy import Energies, energy
from slanted.runtime.threads import thread_limit

if TYPE_CHECKING:
    from slanted.runtime.arrays import Floats, Ints, Starts
    from slanted.settings import ModelSettings
    from slanted.tiles.tile import TileData


@dataclass(frozen=True, eq=False)
class Pass(ABC):
    """A question about a tile; `run` answers it.

    Parameters
    ----------
    data
        The tile.
    own
        How many of its segments are its own.
    model
        Settings of the energy.
    factor
        By which pixels count.
    threads
        That it may use.
    """

    large: ClassVar[bool] = True
    data: TileData
    own: int
    model: ModelSettings
    factor: float
    threads: int

    @abstractmethod
    def run(self) -> Any:
        """Answer it."""


def run_pass(task: Pass) -> Any:
    """Run a pass, as a worker does."""
    with thread_limit(task.threads):
        return task.run()


@dataclass(frozen=True, eq=False)
class LocalFit(Pass):
    """Planes that segments' own matches tell; see `fit_own_matches`."""

    def run(self) -> Any:
        """Fit them."""
        seen = self.data.observe(self.factor, with_census=False)
        found = fit_own_matches(self.data.regions, seen, self.model.truncation)
        return tuple(values[: self.own] for values in found)


@dataclass(frozen=True, eq=False)
class Residuals(Pass):
    """Residuals that tell the noise; `number` is that of each segment's first match."""

    planes: Floats
    number: Starts

    def run(self) -> Floats:
        """Measure them."""
        seen = self.data.observe(self.factor, with_census=False)
        return sampled_residuals(seen, self.planes, self.number)


@dataclass(frozen=True, eq=False)
class Moments(Pass):
    """Moments of the matches near planes, for joint fits."""

    planes: Floats

    def run(self) -> Floats:
        """Sum them up."""
        seen = self.data.observe(self.factor, with_census=False)
        return moments_near(seen.segments, self.planes, self.model.truncation)[: self.own]


@dataclass(frozen=True, eq=False)
class Costs(Pass):
    """Tables of the energy over particles: of planes, of labels and of edges."""

    particles: Floats

    def run(self) -> tuple[Floats, Floats, Floats]:
        """Tabulate them."""
        seen = self.data.observe(self.factor, with_census=bool(self.model.weights.pho))
        graph = build_factor_graph(self.data.regions, seen, self.particles, self.model)
        return graph.node_costs[: self.own], graph.label_costs, graph.edge_costs


@dataclass(frozen=True, eq=False)
class Features(Pass):
    """The tile's share of the energies of a solution, without its junctions."""

    planes: Floats
    labels: Ints

    def run(self) -> Energies:
        """Evaluate it."""
        seen = self.data.observe(self.factor, with_census=bool(self.model.weights.pho))
        return energy(self.data.regions, seen, self.planes, np.asarray(self.labels), self.model)
