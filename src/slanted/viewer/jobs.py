"""Inference in the background: one run at a time, with progress, which can be cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from slanted.errors import SlantedError

if TYPE_CHECKING:
    from slanted.inference.outcome import Snapshot
    from slanted.result import Result
    from slanted.settings import Settings

SHARE_BEFORE = {"segmentation": 0.02, "regions": 0.1, "inference": 0.15}
"""Rough fraction of a run that is done when a stage starts."""
CANCELLED = "cancelled; the last result stays"


class Cancelled(Exception):  # noqa: N818 - it is not an error
    """Raised inside a run to end it."""


@dataclass(frozen=True)
class JobState:
    """The state of the newest run."""

    number: int = 0  # from 1; 0 if there was no run
    status: str = "idle"  # ``idle``, ``running``, ``done``, ``cancelled`` or ``failed``
    text: str = ""  # what it is doing, or why it ended
    share: float = 0.0  # how much is done, 0 … 1


Work = Callable[[Callable[[str], None], "Callable[[Snapshot], None]"], "Result"]
"""A run; its arguments are called at each stage and after each iteration."""


@dataclass(frozen=True, eq=False)
class _Run:
    """A requested run, and whether it should stop."""

    number: int
    work: Work
    iterations: int
    stop: Event = field(default_factory=Event)

    def check(self) -> None:
        if self.stop.is_set():
            raise Cancelled


class Jobs:
    """Runs the newest requested work in a thread of its own.

    At most one run waits for another to end; the callers never wait. The result of a run that was
    cancelled or replaced is not published. `on_done` is called on that thread with the number of
    the run, its result and its snapshots, and must be quick; `on_change` is called whenever the
    state changes.
    """

    def __init__(
        self,
        on_done: Callable[[int, Result, list[Snapshot]], None],
        on_change: Callable[[], None],
    ) -> None:
        self._on_done, self._on_change = on_done, on_change
        self._lock = Lock()
        self._thread: Thread | None = None
        self._under_way: _Run | None = None
        self._pending: _Run | None = None
        self.state = JobState()

    def start(self, work: Work, settings: Settings, *, replace: bool = False) -> bool:
        """Start a run; return whether it was accepted.

        A run that is under way or waits is replaced if `replace` is true; otherwise nothing starts.
        """
        with self._lock:
            if self.state.status == "running" and not replace:
                return False
            run = _Run(self.state.number + 1, work, iterations_of(settings))
            self._pending = run
            text = "starting"
            if self._under_way is not None:
                self._under_way.stop.set()
                text = "waiting for the last run to end"
            self.state = JobState(run.number, "running", text, 0.0)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="slanted-run", daemon=True)
                self._thread.start()
        self._on_change()
        return True

    def cancel(self, number: int | None = None) -> None:
        """Stop the newest run: at once if it waits, otherwise at its next step.

        With a `number`, only if that is the newest run.
        """
        with self._lock:
            if number is not None and number != self.state.number:
                return
            if self._under_way is not None:
                self._under_way.stop.set()
            if self._pending is not None:
                self._pending = None
                self.state = replace(self.state, status="cancelled", text=CANCELLED, share=0.0)
        self._on_change()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no run is under way."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _work(self) -> None:
        """Do one run after another until none waits."""
        while True:
            with self._lock:
                run, self._pending = self._pending, None
                self._under_way = run
                if run is None:
                    self._thread = None
                    return
            self._run(run)

    def _set(self, run: _Run, **changes: Any) -> None:
        """Change the state, unless it now belongs to a newer run."""
        with self._lock:
            if run.number != self.state.number:
                return
            self.state = replace(self.state, **changes)
        self._on_change()

    def _run(self, run: _Run) -> None:
        snapshots: list[Snapshot] = []

        def stage(name: str) -> None:
            run.check()
            self._set(run, text=name, share=max(self.state.share, SHARE_BEFORE.get(name, 0.0)))

        def watch(snapshot: Snapshot) -> None:
            run.check()
            snapshots.append(snapshot)
            if snapshot.iteration is None:
                return
            done = sum(each.iteration is not None for each in snapshots)
            start = SHARE_BEFORE["inference"]
            share = start + (1 - start) * min(done / max(run.iterations, 1), 1)
            energy = f"{snapshot.iteration.energy:,.0f}"
            text = f"iteration {done} of {run.iterations}, energy {energy}"
            self._set(run, text=text, share=share)

        try:
            self._publish(run, run.work(stage, watch), snapshots)
        except Cancelled:
            self._set(run, status="cancelled", text=CANCELLED, share=0.0)
        except SlantedError as error:
            self._set(run, status="failed", text=str(error), share=0.0)
        except Exception as error:
            import traceback

            traceback.print_exc()  # to the server's log; the thread goes on
            self._set(run, status="failed", text=f"{type(error).__name__}: {error}", share=0.0)

    def _publish(self, run: _Run, result: Result, snapshots: list[Snapshot]) -> None:
        """Publish the result of a run, unless it was cancelled before."""
        with self._lock:  # so that a run cannot be both cancelled and published
            run.check()
            self._on_done(run.number, result, snapshots)
            text = f"{sum(result.seconds.values()):.1f} s"
            self.state = replace(self.state, status="done", text=text, share=1.0)
        self._on_change()


def iterations_of(settings: Settings) -> int:
    """Return the number of outer iterations of a run."""
    refinement = settings.refinement
    return settings.inference.iterations + refinement.rounds * refinement.iterations
