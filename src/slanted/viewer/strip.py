"""The pairs of a batch as a strip of small pictures, any of which the page can show."""

from __future__ import annotations

import functools
import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from slanted.errors import FileError, SlantedError
from slanted.images.checks import check_image
from slanted.images.colour import as_rgb8
from slanted.io import read_image
from slanted.io.names import LEFT
from slanted.output.pictures import grey_image, jpeg
from slanted.output.strangers import only_inside
from slanted.viewer.cache import Cache
from slanted.viewer.session import NotThereError, Session

METRICS = {
    "seconds": "time, s",
    "matched_percent": "matched, %",
    "confidence_median": "median confidence",
    "gap_percent": "energy gap, %",
    "energy": "energy",
    "bound": "lower bound",
    "segments": "segments",
    "noise": "noise",
    "vertical_shift": "vertical shift, px",
    "vertical_turn": "vertical turn",
    "vertical_rms": "rows off, px",
    "width": "width, px",
    "height": "height, px",
}
"""Numbers of a batch's summary by which its pairs can be sorted, and their names."""
PICTURES = {"disparity": "disparity_colour.png", "image": LEFT}
"""What the small pictures show, and the file in the folder of a result."""
THUMBNAIL = 240
"""Width of a small picture, in pixels; screens with fine pixels show it at half of that."""
THUMBNAIL_BYTES = 60_000_000
MOST_OPEN = 3
"""Results that are kept open, beside the first; one of 12 megapixels takes up to a gigabyte."""


@dataclass(frozen=True)
class Pair:
    """A pair of a batch: its row of the summary, and the folder of its result if it has one."""

    row: Mapping[str, Any]
    place: Path | None

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the summary that are known."""
        return _finite({name: self.row.get(name) for name in METRICS})

    def why_not(self) -> str:
        """Return why there is nothing to show; empty if there is a result."""
        if self.place is not None:
            return ""
        return str(self.row.get("error") or f"{self.row.get('status')}, without a result")


class Strip:
    """The pairs of a batch, and the sessions of those that are shown.

    All methods may be called from any thread.

    Parameters
    ----------
    pairs
        All pairs, in the order of the summary.
    first, session
        The number of the pair that is shown first, and its session.
    open_pair
        Opens the session of a pair, by its number.
    score
        Returns a pair's errors by name, empty without ground truth; None if there is none at all.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        first: int,
        session: Session,
        open_pair: Callable[[int], Session],
        score: Callable[[int], Mapping[str, float]] | None = None,
    ) -> None:
        self.pairs, self.first = pairs, first
        self.key = secrets.token_hex(6)
        self._session, self._open_pair, self._score = session, open_pair, score
        self._open: OrderedDict[int, Session] = OrderedDict()
        self._opening: dict[int, Lock] = {}
        self._lock = Lock()
        self._thumbnails: Cache[bytes] = Cache(THUMBNAIL_BYTES, len)
        self._errors: dict[int, dict[str, float]] = {}
        self._scoring: Thread | None = None
        self._ended = Event()

    def listing(self) -> dict[str, Any]:
        """Return all pairs with their numbers, and by what they can be sorted.

        The first call begins to measure the errors, if there is ground truth; `left` counts the
        pairs whose errors are not known yet.
        """
        self._begin()
        with self._lock:
            errors = dict(self._errors)
        pairs = [
            {
                "name": str(pair.row["name"]),
                "why": pair.why_not(),
                "values": {**pair.numbers(), **errors.get(number, {})},
            }
            for number, pair in enumerate(self.pairs)
        ]
        known = {name for pair in pairs for name in pair["values"]}
        metrics = [[name, text] for name, text in METRICS.items() if name in known]
        metrics += [[name, name] for name in sorted(known - METRICS.keys())]
        with_result = sum(pair.place is not None for pair in self.pairs)
        left = 0 if self._score is None else with_result - len(errors)
        return {
            **{"key": self.key, "first": self.first, "pairs": pairs},
            **{"metrics": metrics, "pictures": list(PICTURES), "left": left},
        }

    def session(self, number: int) -> Session:
        """Return the session of a pair, opened if it is not; a NotThereError if there is none."""
        if number >= len(self.pairs):
            raise NotThereError("pair")
        place, why = self.pairs[number].place, self.pairs[number].why_not()
        if place is None:
            raise FileError(Path(str(self.pairs[number].row["name"])), why)
        if number == self.first:
            return self._session
        with self._lock:
            turn = self._opening.setdefault(number, Lock())
        with turn:  # of several requests for a pair, one opens it and the others wait
            with self._lock:
                if number in self._open:
                    self._open.move_to_end(number)
                    return self._open[number]
            session = self._open_pair(number)
            with self._lock:
                self._open[number] = session
                others = ((old, each) for old, each in self._open.items() if old != number)
                spare = [old for old, each in others if not each.is_running()]
                too_many = max(0, len(self._open) - MOST_OPEN)
                closed = [self._open.pop(old) for old in spare[:too_many]]
            for old in closed:
                old.close()
            return session

    def is_open(self, session: Session) -> bool:
        """Return whether a session is one of those that are kept."""
        with self._lock:
            return session is self._session or session in self._open.values()

    def thumbnail(self, number: int, kind: str) -> bytes:
        """Return the small picture of a pair as JPEG; plain grey if it has none."""
        if number >= len(self.pairs) or kind not in PICTURES:
            raise NotThereError("picture")
        pair, name = self.pairs[number], PICTURES[kind]
        height = pair.numbers().get("height")
        rows = None if height is None or height < 1 else int(height)
        made = functools.partial(small_picture, pair.place, name, rows)
        return self._thumbnails.get(str(number), kind, made)

    def close(self) -> None:
        """Stop background work."""
        self._ended.set()
        for session in [self._session, *self._open.values()]:
            session.close()
        if self._scoring is not None:
            self._scoring.join(10)

    def _begin(self) -> None:
        with self._lock:
            if self._scoring is not None or self._score is None:
                return
            self._scoring = Thread(target=self._measure, args=(self._score,), daemon=True)
        self._scoring.start()

    def _measure(self, score: Callable[[int], Mapping[str, float]]) -> None:
        for number, pair in enumerate(self.pairs):
            if self._ended.is_set():
                return
            if pair.place is None:
                continue
            found: Mapping[str, float] = {}
            try:
                found = score(number)
            except SlantedError:  # a damaged result must not stop the others
                pass
            except Exception:
                import traceback

                traceback.print_exc()  # to the server's log; the page must not wait for ever
            with self._lock:
                self._errors[number] = _finite(found)


def _finite(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the values that are numbers which a page can show; files may have any."""
    most = sys.float_info.max
    return {name: n for name, n in values.items() if type(n) in (int, float) and abs(n) <= most}


def small_picture(folder: Path | None, name: str, rows: int | None = None) -> bytes:
    """Return a picture in the folder of a result as a small JPEG; grey if it cannot be read.

    Pictures may have a legend below their `rows`, which is left out.
    """
    picture = grey_image((48, 160))
    if folder is not None:
        with suppress(SlantedError):  # a damaged picture must not stop the page
            only_inside(folder, name)
            picture = as_rgb8(check_image(name, read_image(folder / name)))[:rows]
    return jpeg(picture, THUMBNAIL)
