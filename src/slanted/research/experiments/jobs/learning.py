"""A measurement of learning: the weights learned from some frames."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.errors import plural
from slanted.research.experiments.jobs.frames import settings_text
from slanted.research.experiments.measurements import Scores, key_of

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.learning.sources import Source
    from slanted.settings import Settings


@dataclass(frozen=True)
class LearningJob:
    """Weights learned from some frames."""

    frames: tuple[Frame | Source, ...]
    settings: Settings
    checkpoints: Path = field(compare=False)  # the folder from which a stopped run continues

    @property
    def name(self) -> str:
        """Return the number of frames, ε and the loss."""
        learning = self.settings.learning
        frames = plural(len(self.frames), "frame")
        return f"learning from {frames}, ε {learning.epsilon:g}, loss {learning.loss}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Return digests of the frames, and the settings."""
        from slanted.learning.sources import as_source

        contents = [as_source(frame).digest() for frame in self.frames]
        return *contents, settings_text(self.settings)

    def run(self) -> Scores:
        """Return the weights by name, the number of evaluations and the seconds."""
        from slanted.learning import learn_weights
        from slanted.learning.checkpoint import Checkpoint
        from slanted.learning.examples import NAMES
        from slanted.learning.learn import run_identity

        alone = replace(
            self.settings, threads=1, learning=replace(self.settings.learning, workers=1)
        )
        folder = self.checkpoints / key_of(self)
        found = learn_weights(self.frames, alone, checkpoint=folder)
        Checkpoint(folder, run_identity(self.frames, alone)).remove()
        steps = {"evaluations": len(found.evaluations), "seconds": sum(found.seconds.values())}
        return {**dict(zip(NAMES, found.weights.tolist(), strict=True)), **steps}
