"""Inference in the background: one run at a time, with progress, and an end on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from slanted.errors import SlantedError

if TYPE_CHECKING:
    from slanted.inference.pcbp import Snapshot
    from slanted.result import Result
    from slanted.settings import Settings

SHARE_BEFORE = {"segmentation": 0.02, "regions": 0.1, "inference": 0.15}
"""About how much of a run is done when a stage starts."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """Raised inside a run to end it."""


@dataclass(frozen=True)
class JobState:
    """Where a run stands.

    Parameters
    ----------
    number
        Of the run, from 1; 0 if there was none.
    status
        ``idle``, ``running``, ``done``, ``cancelled`` or ``failed``.
    text
        What it does, or why it ended.
    share
        How much is done, 0 … 1.
    """

    number: int = 0
    status: str = "idle"
    text: str = ""
    share: float = 0.0

    def as_data(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


Work = Callable[[Callable[[str], None], "Callable[[Snapshot], None]"], "Result"]
"""A run, given what to call at each stage and after each iteration."""


class Jobs:
    """Runs work on a thread of its own.

    Parameters
    ----------
    on_done
        Called on that thread with the run's number, its result and its snapshots.
    on_change
        Called whenever the state changes.
    """

    def __init__(
        self,
        on_done: Callable[[int, Result, list[Snapshot]], None],
        on_change: Callable[[], None],
    ) -> None:
        self._on_done, self._on_change = on_done, on_change
        self._lock = Lock()
        self._stop = Event()
        self._thread: Thread | None = None
        self.state = JobState()

    def start(self, work: Work, settings: Settings, *, replace: bool = False) -> bool:
        """Start a run; return whether it was started.

        Parameters
        ----------
        work, settings
            The run, and its settings.
        replace
            Whether to end a run that is under way, and wait for that; otherwise nothing is started.
        """
        while not self._start(work, settings):
            if not replace:
                return False
            self.cancel()
            self.wait()
        self._on_change()
        return True

    def _start(self, work: Work, settings: Settings) -> bool:
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return False
            self._stop.clear()
            number = self.state.number + 1
            self.state = JobState(number, "running", "starting", 0.0)
            expected = iterations_of(settings)
            self._thread = Thread(
                target=self._run, args=(number, work, expected), name="slanted-run", daemon=True
            )
            self._thread.start()
        return True

    def cancel(self) -> None:
        """Ask the run to end; it does so at its next step."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no run is under way."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _set(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self._on_change()

    def _check(self) -> None:
        if self._stop.is_set():
            raise Cancelled

    def _run(self, number: int, work: Work, expected: int) -> None:
        snapshots: list[Snapshot] = []

        def stage(name: str) -> None:
            self._check()
            self._set(text=name, share=SHARE_BEFORE.get(name, self.state.share))

        def watch(snapshot: Snapshot) -> None:
            self._check()
            snapshots.append(snapshot)
            if snapshot.iteration is None:
                return
            done = sum(each.iteration is not None for each in snapshots)
            start = SHARE_BEFORE["inference"]
            share = start + (1 - start) * min(done / max(expected, 1), 1)
            energy = f"{snapshot.iteration.energy:,.0f}"
            self._set(text=f"iteration {done} of {expected}, energy {energy}", share=share)

        try:
            result = work(stage, watch)
            self._check()
            self._on_done(number, result, snapshots)
            self._set(status="done", text=f"{sum(result.seconds.values()):.1f} s", share=1.0)
        except Cancelled:
            self._set(status="cancelled", text="cancelled; the last result stays", share=0.0)
        except SlantedError as error:
            self._set(status="failed", text=str(error), share=0.0)
        except Exception as error:
            self._set(status="failed", text=f"{type(error).__name__}: {error}", share=0.0)
            raise  # the server's log has the rest


def iterations_of(settings: Settings) -> int:
    """Return how many outer iterations a run will make."""
    refinement = settings.refinement
    return settings.inference.iterations + refinement.rounds * refinement.iterations
