"""Passes over tiles: what workers compute for one tile at a time.

Each returns values of the tile's own segments and of its edges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from slanted.inference.local_fit import fit_own_matches, moments_near, sampled_residuals
from slanted.model.build import build_factor_graph
from slanted.model.energy import Features, energy
from slanted.runtime.threads import thread_limit

if TYPE_CHECKING:
    from slanted.model.observations import Observations
    from slanted.runtime.arrays import Floats, Ints, Starts
    from slanted.settings import ModelSettings
    from slanted.tiles.tile import TileData


@dataclass(frozen=True, eq=False)
class Pass(ABC):
    """A computation on a tile, which `run` does."""

    large: ClassVar[bool] = True
    data: TileData
    """The tile and its pixels."""
    own: int
    """Number of the tile's own segments, which come first."""
    model: ModelSettings
    """Section ``model`` of the settings."""
    factor: float
    """Factor of every pixel in the data potentials."""
    threads: int
    """Number of threads to use."""

    @abstractmethod
    def run(self) -> Any:
        """Return the result."""

    def observe(self, *, with_census: bool = False) -> Observations:
        """Return the observations of the tile, scaled by the factor."""
        return self.data.observe(self.factor, with_census=with_census)


def run_pass(task: Pass) -> Any:
    """Run a pass in a worker."""
    with thread_limit(task.threads):
        return task.run()


@dataclass(frozen=True, eq=False)
class LocalFit(Pass):
    """The local fits of segments."""

    def run(self) -> Any:
        """Return the result of `fit_own_matches`."""
        found = fit_own_matches(self.data.regions, self.observe(), self.model.truncation)
        return tuple(values[: self.own] for values in found)


@dataclass(frozen=True, eq=False)
class Residuals(Pass):
    """The residuals from which the noise is estimated."""

    planes: Floats
    number: Starts

    def run(self) -> Floats:
        """Return the result of `sampled_residuals`."""
        return sampled_residuals(self.observe(), self.planes, self.number)


@dataclass(frozen=True, eq=False)
class Moments(Pass):
    """The moments of the matches near planes, for joint fits."""

    planes: Floats

    def run(self) -> Floats:
        """Return the result of `moments_near`."""
        matches = self.observe().segments
        return moments_near(matches, self.planes, self.model.truncation)[: self.own]


@dataclass(frozen=True, eq=False)
class Costs(Pass):
    """The tables of the energy over particles."""

    particles: Floats

    def run(self) -> tuple[Floats, Floats, Floats]:
        """Return the costs of planes, of labels and of edges."""
        observations = self.observe(with_census=bool(self.model.weights.pho))
        graph = build_factor_graph(self.data.regions, observations, self.particles, self.model)
        return graph.node_costs[: self.own], graph.label_costs, graph.edge_costs


@dataclass(frozen=True, eq=False)
class TileFeatures(Pass):
    """The tile's share of the energies of a solution, without junctions."""

    planes: Floats
    labels: Ints

    def run(self) -> Features:
        """Return the result of `energy`."""
        observations = self.observe(with_census=bool(self.model.weights.pho))
        labels = np.asarray(self.labels)
        return energy(self.data.regions, observations, self.planes, labels, self.model)
