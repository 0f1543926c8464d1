"""The stages of a run but for inference and refinement, and what they hand on.

`slanted.pipeline` calls them:

1. `pair_run.prepare` checks the pair and gives a `PairRun`: the options of its run and the `Views`
   of the pair, with what is made of them once. All other stages are functions that take it.
2. `matching.first_look` checks that the rows agree and finds the range of disparities: a
   `FirstLook`. From then on `PairRun.prepare_views` may use idle threads.
3. `matching.match` searches that range, or `matching.take_disparity` checks a disparity of the
   user's: `InitialMatches`.
4. `after_matching.judge_of`, `cut_segments` or `take_segments`, and `gather_evidence` give what
   planes are found with, in `slanted.inference` and `slanted.refinement`.
5. `after_matching.judge_disparity` and `follow_near_matches` complete the disparity that is drawn
   of the planes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.matching import DisparityRange, Matches
    from slanted.matching.rectification import RectificationCheck

Progress = Callable[[str], None]
"""Called with a stage's name when it starts."""


class Stages:
    """Names and times the stages of a run; a stage that runs again adds to its time."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time what the block does."""
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class FirstLook:
    """What is known of a pair before it is matched."""

    rectification: RectificationCheck | None
    """What its features show; None if there are too few, or nothing was checked."""
    searched: DisparityRange | None
    """The disparities to search; None if none are."""


@dataclass(frozen=True, eq=False)
class InitialMatches:
    """The initial disparity and how it was found."""

    disparity: NDArray[np.float32]
    """(H, W) D(p), NaN outside F."""
    pixel_weights: NDArray[np.float32] | None
    """(H, W) how much each match counts; None if all count alike."""
    searched: DisparityRange | None
    """The disparities that were searched; None for a disparity of the user's own."""
    rectification: RectificationCheck | None
    """What the check of the pair found."""
    found: Matches | None = None
    """What the matcher found before its filters; None for a disparity of the user's own."""
    doubts: tuple[str, ...] = ()
    """What speaks against the pair, a sentence each."""
    finer: float = 1
    """How many times finer than the image the grid of its model is."""

    def as_found(self) -> Matches:
        """Return these matches as a matcher would."""
        from slanted.matching import Matches

        return Matches(self.disparity, self.pixel_weights)
