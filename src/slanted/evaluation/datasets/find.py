"""From the name and folder of a dataset to its frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

from slanted.errors import FileError, InputError
from slanted.evaluation.datasets.frame import Candidate, Frame
from slanted.evaluation.datasets.kitti import KITTI2012, KITTI2015, find_kitti_frames
from slanted.evaluation.datasets.middlebury import (
    MIDDLEBURY2014_EXPECTED,
    MIDDLEBURY_EXPECTED,
    find_middlebury2014_frames,
    find_middlebury_frames,
)
from slanted.evaluation.datasets.splits import select_split


@dataclass(frozen=True)
class Layout:
    """The layout of a dataset, and the function that finds its frames.

    Attributes
    ----------
    find
        Returns candidate frames under a root, in any order.
    expected
        The layout in words, for messages.
    """

    find: Callable[[Path], list[Candidate]]
    expected: str


_LAYOUTS = {
    "kitti2012": Layout(partial(find_kitti_frames, folders=KITTI2012), KITTI2012.expected),
    "kitti2015": Layout(partial(find_kitti_frames, folders=KITTI2015), KITTI2015.expected),
    "middlebury": Layout(find_middlebury_frames, MIDDLEBURY_EXPECTED),
    "middlebury2014": Layout(find_middlebury2014_frames, MIDDLEBURY2014_EXPECTED),
}

ALL_FRAMES = "all"
"""The split that every dataset has."""
# One finder distinguishes these by their file names, so all these names are accepted.
_ALIASES = dict.fromkeys(
    ("middlebury2001", "middlebury2003", "middlebury2005", "middlebury2006"), "middlebury"
)

DATASETS: tuple[str, ...] = (*_LAYOUTS, *_ALIASES)
"""Names that :func:`find_frames` knows."""


def find_frames(
    dataset: str,
    path: Path | str,
    split: str | None = None,
    limit: int | None = None,
    *,
    problems: dict[str, str] | None = None,
) -> list[Frame]:
    """List the frames of a dataset that have ground truth.

    Parameters
    ----------
    dataset
        One of `DATASETS`.
    path
        The dataset's folder; for KITTI also its ``training`` folder.
    split
        A split named in ``split.json`` in that folder (for Middlebury also in ``scenes.json``);
        None or ``all`` for all frames.
    limit
        Largest number of frames, the first by name; None for all.
    problems
        If given, gets what is wrong with each unusable frame, by its name; without it, the first
        such frame is an error.

    Returns
    -------
    Frames sorted by name; at least one, unless `problems` says why there is none. No image is read,
    except for the width of official Middlebury scenes up to 2006, which gives their disparity
    scale.

    Raises
    ------
    InputError
        If the dataset or split is unknown, or the limit is not positive.
    FileError
        If the path is not a folder, holds no frames, or a frame in it is incomplete.

    Examples
    --------
    >>> from pathlib import Path
    >>> from slanted.synthetic import make_scene, write_kitti
    >>> folder = write_kitti(Path("kitti"), {"train": [make_scene(96, 64, segments=40, seed=1)]})
    >>> [frame.name for frame in find_frames("kitti2015", folder)]
    ['000000_10']
    """
    name = _ALIASES.get(dataset, dataset)
    if name not in _LAYOUTS:
        raise InputError(
            f'dataset: expected one of {", ".join(DATASETS)}, got "{dataset}"; choose one of them.'
        )
    if limit is not None and limit < 1:
        raise InputError(
            f"limit: expected at least 1 frame, got {limit}; leave it out for all frames."
        )
    root = Path(path)
    broken: dict[str, str] | None = None if problems is None else {}
    frames = _all_frames(dataset, root, _LAYOUTS[name], broken)
    if split is not None and split != ALL_FRAMES:
        frames = select_split(frames, root, split, broken)
    if problems is not None:
        problems |= broken or {}
    return frames[:limit]


def _all_frames(
    dataset: str, root: Path, layout: Layout, problems: dict[str, str] | None
) -> list[Frame]:
    """Return every frame under `root`, sorted by name; none is an error."""
    advice = f"pass the folder that holds {layout.expected}."
    try:
        if not root.is_dir():
            found = "a file" if root.exists() else "nothing"
            raise FileError(root, f"expected the folder of {dataset}, found {found}; {advice}")
        frames = _usable(layout.find(root), problems)
    except OSError as error:
        raise FileError(
            root, f"expected a folder that can be searched, got {error}; check its permissions."
        ) from error
    if not frames and not problems:
        raise FileError(
            root, f"expected frames of {dataset} with ground truth, found none; {advice}"
        )
    return frames


def _usable(candidates: list[Candidate], problems: dict[str, str] | None) -> list[Frame]:
    """Return the frames that can be made, sorted by name."""
    frames = []
    for name, make in candidates:
        try:
            frames.append(make())
        except FileError as error:
            if problems is None:
                raise
            problems[name] = str(error)
    return sorted(frames, key=attrgetter("name"))
