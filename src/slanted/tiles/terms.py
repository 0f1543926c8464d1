"""The energy of an image in tiles: `slanted.inference.terms.Terms` that workers compute."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from slanted.errors import SlantedError
from slanted.inference.local_fit import fill_unknown, fit_sets, noise_of_residuals
from slanted.inference.particles import propose
from slanted.inference.pooled_fit import few_matches, neighbourhoods, pool
from slanted.inference.terms import solver_options
from slanted.model.build import graph_of_tables
from slanted.model.energy import Features, junction_features
from slanted.model.planes import lowest_disparity
from slanted.runtime.workers import Backend, run_each
from slanted.solver.convex_bp import solve
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.tiles.passes import Costs, LocalFit, Moments, Pass, Residuals, TileFeatures, run_pass
from slanted.tiles.tile import Tile, make_tiles, matches_of, tile_data

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.model.evidence import Evidence
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Flags, Floats, Ints, Starts
    from slanted.settings import Settings
    from slanted.solver.run import Incumbent
    from slanted.solver.solution import Solution
    from slanted.solver.topology import Topology

MOST_PARTS = 16
"""Most parts of the distributed solver; more tiles are joined, because parts exchange messages."""
SWEEPS_PER_EXCHANGE = 2
ATTEMPTS = 3
"""How often a tile is tried if its worker dies."""


@dataclass(frozen=True, eq=False)
class TiledImage:
    """The energy of all segments, computed tile by tile."""

    regions: Regions
    evidence: Evidence
    tiles: list[Tile]
    settings: Settings
    backend: Backend
    """The workers of tiles."""
    lowest: float
    """Disparity of the model's 0, in pixels of the images."""
    factor: float = 1.0
    """Factor of every pixel in the data potentials."""
    matches: list[Starts] = field(default_factory=list)
    """The number of matches of each segment, appended by `local_planes`."""

    @classmethod
    def of(
        cls, regions: Regions, evidence: Evidence, settings: Settings, backend: Backend
    ) -> TiledImage:
        """Cut the segments into tiles of ``tiles.pixels``."""
        tiles = make_tiles(regions, settings.tiles.pixels)
        return cls(regions, evidence, tiles, settings, backend, lowest_disparity(settings))

    def local_planes(self) -> Floats:
        """Fit planes tile by tile, then fill in segments with too few matches."""
        planes = np.zeros((self.regions.count, 3))
        known = np.zeros(self.regions.count, np.bool_)
        matched = np.zeros(self.regions.count, np.int64)
        for tile, found in self._each(lambda tile: (LocalFit, ())):
            own = tile.segments[: tile.own]
            planes[own], known[own], matched[own] = found
        self.matches.append(matched)
        self._pool(planes, known, matched)
        return fill_unknown(self.regions, planes, known, matched)

    def _pool(self, planes: Floats, known: Flags, matched: Starts) -> None:
        """Replace planes of segments with few matches by pooled fits, one tile at a time."""
        regions, settings = self.regions, self.settings
        chosen = few_matches(regions, matched, settings.inference.pooled_fit)
        for tile in self.tiles:
            some = np.intersect1d(chosen, tile.segments[: tile.own])
            if some.size:
                pools = neighbourhoods(regions, some, matched)
                members = np.unique(pools.indices)
                matches = matches_of(regions, self.evidence, members, self.lowest)
                pooled = pool(regions, matches, some, pools)
                fits = fit_sets(pooled, regions.covariance[some], settings.model.truncation)
                planes[some], known[some] = fits

    def noise(self, planes: Floats) -> float:
        """Estimate the noise from the same sample as for the whole image."""
        number = np.cumsum(self.matches[-1]) - self.matches[-1]
        found = self._each(lambda t: (Residuals, (planes[t.segments], number[t.segments])))
        return noise_of_residuals(np.concatenate([residuals for _, residuals in found]))

    def scaled(self, factor: float) -> Self:
        """Scale the pixels of every tile."""
        return replace(self, factor=self.factor * factor)

    def particles(
        self, planes: Floats, labels: Ints, iteration: int, previous_frame: PreviousFrame | None
    ) -> Floats:
        """Draw particles for all segments, with moments from the tiles."""
        moments = np.zeros((self.regions.count, 9))
        for tile, found in self._each(lambda tile: (Moments, (planes[tile.segments],))):
            moments[tile.segments[: tile.own]] = found
        return propose(
            self.regions, None, planes, labels, iteration, self.settings, previous_frame, moments
        )

    def graph(self, particles: Floats) -> FactorGraph:
        """Tabulate the energy tile by tile."""
        count, edges = particles.shape[1], self.regions.number_of_edges
        plane_costs = np.empty((self.regions.count, count))
        label_costs = np.empty((edges, LABELS))
        edge_costs = np.empty((edges, LABELS, count, count))
        for tile, found in self._each(lambda tile: (Costs, (particles[tile.segments],))):
            plane_costs[tile.segments[: tile.own]] = found[0]
            label_costs[tile.edges], edge_costs[tile.edges] = found[1:]
        tables = plane_costs, label_costs, edge_costs
        return graph_of_tables(self.regions, *tables, self.settings.model)

    def solve(
        self, graph: FactorGraph, topology: Topology, incumbent: Incumbent | None, *, last: bool
    ) -> Solution:
        """Pass messages tile by tile, with an exchange between tiles every few sweeps."""
        part = np.empty(self.regions.count, np.int32)
        parts = min(len(self.tiles), MOST_PARTS)
        for number, tile in enumerate(self.tiles):
            part[tile.segments[: tile.own]] = number * parts // len(self.tiles)
        # Tiles learn of each other in exchanges only, so `inference.sweeps` counts exchanges.
        most = self.settings.inference.sweeps * SWEEPS_PER_EXCHANGE
        gap = self.settings.inference.gap if last else 0.0
        options = solver_options(self.settings, most, SWEEPS_PER_EXCHANGE, gap)
        return solve(graph, options, parts=part, incumbent=incumbent, topology=topology)

    def features(self, planes: Floats, labels: Ints) -> Features:
        """Add up the energies of tiles and of all junctions."""
        jct, crs = junction_features(self.regions, labels, self.settings.model)
        whole = {"jct": jct, "crs": crs}
        tiles = self._each(lambda t: (TileFeatures, (planes[t.segments], labels[t.edges])))
        found = [features for _, features in tiles]
        # Tiles come in the order in which workers end them, on which an exact sum does not depend.
        return Features(
            **{
                each.name: math.fsum(
                    [whole.get(each.name, 0.0), *(getattr(one, each.name) for one in found)]
                )
                for each in fields(Features)
            }
        )

    def _each(
        self, pass_of: Callable[[Tile], tuple[type[Pass], tuple[Any, ...]]]
    ) -> Iterator[tuple[Tile, Any]]:
        """Run a pass over every tile, and yield the results in any order."""

        def task(number: int) -> Pass:
            tile = self.tiles[number]
            kind, arguments = pass_of(tile)
            data = tile_data(tile, self.regions, self.evidence, self.lowest)
            model, threads = self.settings.model, self.backend.threads
            return kind(data, tile.own, model, self.factor, threads, *arguments)

        for number, answer in ask_each(self.backend, run_pass, task, len(self.tiles)):
            yield self.tiles[number], answer


def ask_each(
    backend: Backend, function: Callable[[Any], Any], task: Callable[[int], Any], count: int
) -> Iterator[tuple[int, Any]]:
    """Run a function on the tasks 0 … count−1, each made when a worker is free.

    Raises
    ------
    SlantedError
        If the workers of a task die `ATTEMPTS` times.
    """
    for ended in run_each(backend, function, deque(range(count)), task, ATTEMPTS):
        if ended.died:
            raise SlantedError(
                f"tile {ended.key}: its worker died each time ({ended.died}), perhaps for lack of "
                "memory; lower tiles.pixels, or use fewer workers"
            )
        yield ended.key, ended.result()
