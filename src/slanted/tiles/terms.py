"""The energy of an image in tiles: `slanted.inference.terms.Terms` whose pixels come in parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from slanted.errors import SlantedError
from slanted.inference.local_fit import fill_unknown, noise_of_residuals
from slanted.inference.particles import propose
from slanted.inference.terms import solver_options
from slanted.model.energy import Energies, junction_energies
from slanted.model.junctions import junction4_kinds
from slanted.model.planes import lowest_disparity
from slanted.model.potentials import junction3_cost, junction4_cost
from slanted.runtime.workers import Backend, run_each
from slanted.solver.convex_bp import solve
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.tiles.passes import Costs, Features, LocalFit, Moments, Pass, Residuals, run_pass
from slanted.tiles.tile import Tile, make_tiles, tile_data

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.inference.terms import Incumbent
    from slanted.model.evidence import Evidence
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Floats, Ints, Starts
    from slanted.settings import Settings
    from slanted.solver.solution import Solution
    from slanted.solver.topology import Topology

MOST_PARTS = 16
"""Of the distributed solver; tiles beyond are joined, for each part costs an exchange."""
SWEEPS_PER_EXCHANGE = 2
ATTEMPTS = 3
"""How often a tile is tried whose worker dies."""


@dataclass(frozen=True, eq=False)
class TiledImage:
    """Segments, tiles of them, and workers that know what a tile costs.

    Parameters
    ----------
    regions
        All segments.
    evidence
        What is known of all pixels.
    tiles
        Of the segments.
    settings
        Sections ``model`` and ``inference``, and the seed.
    backend
        Where tiles are worked on.
    lowest
        The disparity from which the model counts.
    factor
        By which pixels count.
    matches
        How many each segment has; known once planes were fitted to them.
    """

    regions: Regions
    evidence: Evidence
    tiles: list[Tile]
    settings: Settings
    backend: Backend
    lowest: float
    factor: float = 1.0
    matches: list[Starts] = field(default_factory=list)

    @classmethod
    def of(
        cls, regions: Regions, evidence: Evidence, settings: Settings, backend: Backend
    ) -> TiledImage:
        """Cut the segments into tiles of ``tiles.pixels``."""
        tiles = make_tiles(regions, settings.tiles.pixels)
        return cls(regions, evidence, tiles, settings, backend, lowest_disparity(settings))

    def local_planes(self) -> Floats:
        """Fit tile by tile, then fill what has too few matches from all neighbours."""
        planes = np.zeros((self.regions.count, 3))
        known = np.zeros(self.regions.count, np.bool_)
        matched = np.zeros(self.regions.count, np.int64)
        for tile, found in self._each(lambda tile: (LocalFit, ())):
            own = tile.segments[: tile.own]
            planes[own], known[own], matched[own] = found
        self.matches.append(matched)
        return fill_unknown(self.regions, planes, known, matched)

    def noise(self, planes: Floats) -> float:
        """Estimate it from the sample that the whole image would give."""
        number = np.cumsum(self.matches[-1]) - self.matches[-1]
        found = self._each(lambda t: (Residuals, (planes[t.segments], number[t.segments])))
        return noise_of_residuals(np.concatenate([residuals for _, residuals in found]))

    def scaled(self, factor: float) -> Self:
        """Scale every tile."""
        return replace(self, factor=self.factor * factor)

    def particles(
        self, planes: Floats, labels: Ints, iteration: int, previous_frame: PreviousFrame | None
    ) -> Floats:
        """Draw them for all segments, with moments from the tiles."""
        moments = np.zeros((self.regions.count, 9))
        for tile, found in self._each(lambda tile: (Moments, (planes[tile.segments],))):
            moments[tile.segments[: tile.own]] = found
        return propose(
            self.regions, None, planes, labels, iteration, self.settings, previous_frame, moments
        )

    def graph(self, particles: Floats) -> FactorGraph:
        """Tabulate tile by tile."""
        regions, model = self.regions, self.settings.model
        count, edges = particles.shape[1], regions.number_of_edges
        node_costs = np.empty((regions.count, count))
        label_costs = np.empty((edges, LABELS))
        edge_costs = np.empty((edges, LABELS, count, count))
        for tile, found in self._each(lambda tile: (Costs, (particles[tile.segments],))):
            node_costs[tile.segments[: tile.own]] = found[0]
            label_costs[tile.edges], edge_costs[tile.edges] = found[1:]
        return FactorGraph(
            edges=regions.edges,
            node_costs=node_costs,
            label_costs=label_costs,
            edge_costs=edge_costs,
            junctions3=regions.junctions3_edges,
            junction3_costs=model.weights.jct * junction3_cost(model),
            junctions4=regions.junctions4_edges,
            junction4_kinds=junction4_kinds(regions.junctions4),
            junction4_costs=model.weights.crs * junction4_cost(model),
        )

    def solve(
        self, graph: FactorGraph, topology: Topology, incumbent: Incumbent, sweeps: int
    ) -> Solution:
        """Pass messages tile by tile, and make the tiles consistent every few sweeps."""
        part = np.empty(self.regions.count, np.int32)
        parts = min(len(self.tiles), MOST_PARTS)
        for number, tile in enumerate(self.tiles):
            part[tile.segments[: tile.own]] = number * parts // len(self.tiles)
        # Tiles learn of each other in exchanges only, so `sweeps` counts exchanges.
        options = solver_options(self.settings, sweeps * SWEEPS_PER_EXCHANGE, SWEEPS_PER_EXCHANGE)
        return solve(graph, options, parts=part, incumbent=incumbent, topology=topology)

    def energies(self, planes: Floats, labels: Ints) -> Energies:
        """Add up the tiles, and the junctions of all."""
        jct, crs = junction_energies(self.regions, labels, self.settings.model)
        total = {**dict.fromkeys(asdict(_NOTHING), 0.0), "jct": jct, "crs": crs}
        for _, found in self._each(lambda t: (Features, (planes[t.segments], labels[t.edges]))):
            total = {name: value + getattr(found, name) for name, value in total.items()}
        return Energies(**total)

    def _each(
        self, question: Callable[[Tile], tuple[type[Pass], tuple[Any, ...]]]
    ) -> Iterator[tuple[Tile, Any]]:
        """Ask every tile, as many at a time as there are workers; answers come in any order."""

        def task(number: int) -> Pass:
            tile = self.tiles[number]
            kind, arguments = question(tile)
            data = tile_data(tile, self.regions, self.evidence, self.lowest)
            model, threads = self.settings.model, self.backend.threads
            return kind(data, tile.own, model, self.factor, threads, *arguments)

        for number, answer in ask_each(self.backend, run_pass, task, len(self.tiles)):
            yield self.tiles[number], answer


def ask_each(
    backend: Backend, function: Callable[[Any], Any], task: Callable[[int], Any], count: int
) -> Iterator[tuple[int, Any]]:
    """Run a function on tasks 0 … count−1, each made when a worker is free for it.

    Raises
    ------
    SlantedError
        If the workers of a task die again and again.
    """
    for ended in run_each(backend, function, deque(range(count)), task, ATTEMPTS):
        if ended.died:
            raise SlantedError(
                f"tile {ended.key}: its worker died each time ({ended.died}), perhaps for want of "
                "memory; lower tiles.pixels, or use fewer workers"
            )
        yield ended.key, ended.result()


_NOTHING = Energies(0, 0, 0, 0, 0, 0, 0, 0)
