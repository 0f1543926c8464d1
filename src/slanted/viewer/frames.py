"""Frames: the states of a run that the viewer shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.output.export import Exportable
from slanted.output.mesh import PlaneMesh, hidden_from_mesh, labels_apart, mesh_without
from slanted.output.mesh_outlines import step_for
from slanted.output.space import Space
from slanted.result import Result
from slanted.viewer.cache import Cache

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.inference.outcome import Inference, Snapshot
    from slanted.io import Calibration

SIMPLIFIED = 3
"""How many times fewer triangles a mesh has, at least, once its outlines are simplified; in real
images it is about four."""
MOST_DRAWN = 3
"""Number of states whose maps are kept; the others keep only planes and labels."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The data of a session that inference does not change."""

    name: str
    # without the left image grey is shown, and without both nothing can be run again
    left: Image | None
    right: Image | None
    calibration: Calibration | None
    truth: NDArray[np.float32] | None  # ground truth, if there is any; NaN where unknown
    # ends of the scale of disparities, shared by all frames so that they can be compared
    scale: tuple[float, float]
    # ends of the scale of depths, in metres, shared in the same way
    depths: tuple[float, float] = (1.0, 10.0)

    def source(self, result: Result, least: float = 0.0) -> Exportable:
        """Return a result, down to a least confidence, with the left image and the calibration."""
        return Exportable(result, self.left, self.calibration, least)


@dataclass(frozen=True, eq=False)
class Frame:
    """A state of a run."""

    key: str  # what the page asks for; no other state, even of another server, has the same key
    title: str
    final: Result  # result of the run
    segments: int
    energy: float | None  # the weighted energy, if known
    snapshot: Snapshot | None = None  # the state, if it is not the final one
    # recently shown states, shared by the frames of a run: the maps of one take 60 MB at 12
    # megapixels
    drawn: Cache[Result] | None = None
    iteration: int | None = None  # number of outer iterations, None right after segments changed

    @property
    def disparity(self) -> NDArray[np.float32]:
        """The disparity of this state."""
        return self.result.disparity

    @property
    def is_final(self) -> bool:
        """Whether this is the result of a run; only a result has energies and confidence."""
        return self.snapshot is None

    @property
    def result(self) -> Result:
        """Planes, labels and disparity of this state, drawn when needed."""
        snapshot, drawn = self.snapshot, self.drawn
        if snapshot is None or drawn is None:
            return self.final
        return drawn.get(self.key, "state", lambda: _state(self.final, snapshot))

    def least(self, percent: int) -> float:
        """Return the confidence below which pixels are hidden; 0 if this state has none."""
        return 0.0 if self.result.confidence is None else min(percent, 100) / 100

    def mesh(self, space: Space, most_triangles: int, percent: int = 0) -> PlaneMesh:
        """Return the planes as a mesh, with outlines coarse enough for at most `most_triangles`.

        The sky, pixels whose confidence is below `percent`, and what is too far or too oblique are
        left out.
        """
        result, least = self.result, self.least(percent)
        hidden = hidden_from_mesh(result, space, least)
        step = step_for(labels_apart(result.regions, hidden), SIMPLIFIED * most_triangles)
        mesh = mesh_without(hidden, result, space, step)
        while len(mesh.faces) > most_triangles and step < max(result.disparity.shape):
            step = step + max(1, step // 4)
            mesh = mesh_without(hidden, result, space, step)
        return mesh

    def summary(self) -> dict[str, Any]:
        """Return what the page shows about the state."""
        names = ("key", "title", "segments", "energy", "iteration")
        named = {name: getattr(self, name) for name in names}
        return {**named, "final": self.is_final}


def final_frame(key: str, result: Result, title: str = "result") -> Frame:
    """Return the frame of a whole result."""
    done = len(result.inference.iterations)
    return Frame(key, title, result, result.regions.count, result.energy, iteration=done)


def frames_of_run(run: str, result: Result, snapshots: list[Snapshot]) -> list[Frame]:
    """Return the states of a run in order; the last is its result.

    Keys are the run's key with a number. A state before the first iteration on refined segments
    shows what refinement did.
    """
    frames, iteration, rounds = [], 0, 0
    drawn: Cache[Result] = Cache(MOST_DRAWN)
    for number, snapshot in enumerate(snapshots):
        if snapshot.iteration is None:
            title = "local fits" if number == 0 else f"segments refined, round {rounds + 1}"
            rounds += number > 0
        else:
            iteration += 1
            title = f"iteration {iteration}"
        energy = None if snapshot.iteration is None else snapshot.iteration.energy
        if number == len(snapshots) - 1:
            frames.append(final_frame(f"{run}-{number}", result, f"{title}, the result"))
        else:
            count, done = snapshot.regions.count, None if energy is None else iteration
            state = count, energy, snapshot, drawn, done
            frames.append(Frame(f"{run}-{number}", title, result, *state))
    return frames or [final_frame(f"{run}-0", result)]


def _state(result: Result, snapshot: Snapshot) -> Result:
    """Return a result as it stood at a snapshot: planes, without the relief of the result."""
    from slanted.model.drawing import draw_result, hidden_pixels

    made = result.settings, result.searched, result.matched
    disparity = draw_result(snapshot.regions, snapshot.planes, *made)
    inference: Inference = replace(
        result.inference,
        planes=snapshot.planes,
        labels=snapshot.labels,
        margins=np.full(snapshot.regions.count, np.inf),
    )
    return replace(
        result,
        disparity=disparity,
        occluded=hidden_pixels(disparity),
        regions=snapshot.regions,
        inference=inference,
        confidence=None,
        deviation=None,
    )
