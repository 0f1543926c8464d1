"""Named subsets of a dataset, such as its frames for training and for validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slanted.errors import FileError, InputError
from slanted.evaluation.datasets.frame import Frame
from slanted.evaluation.datasets.middlebury import SCENES_FILE
from slanted.io.texts import read_json_object

SPLIT_FILE = "split.json"


@dataclass(frozen=True)
class Splits:
    """The frame names of each split of a dataset, and the file that they come from."""

    path: Path
    names: dict[str, tuple[str, ...]]


def select_split(
    frames: Sequence[Frame], root: Path, split: str, problems: dict[str, str] | None = None
) -> list[Frame]:
    """Return the frames of one split, in the order of `frames`.

    With `problems`, missing frames of the split are recorded there instead of raising an error, and
    problems of frames outside the split are removed.

    Raises
    ------
    InputError
        If there is no split of that name.
    FileError
        If the dataset has no splits, or the split names a frame that is not in `frames`.
    """
    splits = read_splits(root)
    if split not in splits.names:
        known = ", ".join(f'"{name}"' for name in splits.names) or "none"
        raise InputError(
            f'split: expected one of the splits in {splits.path} ({known}), got "{split}"; choose '
            'one of them, or "all" for all frames.'
        )
    wanted = set(splits.names[split])
    missing = sorted(wanted - {frame.name for frame in frames})
    if problems is not None:
        gone = f"no left image, or no ground truth of it, in {root}"
        found = {name: problems.get(name, gone) for name in missing}
        problems.clear()
        problems |= found
    elif missing:
        raise FileError(
            splits.path,
            f'expected the files of each frame of the split "{split}" under {root}, found none of '
            f'"{missing[0]}" ({len(missing)} missing in all); restore them or correct the split.',
        )
    return [frame for frame in frames if frame.name in wanted]


def has_splits(root: Path) -> bool:
    """Return whether a dataset has a file that names splits."""
    files = [folder / SPLIT_FILE for folder in _split_folders(root)]
    return any(file.is_file() for file in (*files, root / SCENES_FILE))


def _split_folders(root: Path) -> tuple[Path, ...]:
    # The root may be KITTI's training folder, whose split file lies one level up.
    return (root, root.resolve().parent) if root.resolve().name == "training" else (root,)


def read_splits(root: Path) -> Splits:
    """Read ``split.json``, or else the field ``split`` of each scene in ``scenes.json``.

    Raises
    ------
    FileError
        If neither file exists, or it is malformed.
    """
    for folder in _split_folders(root):
        if (folder / SPLIT_FILE).is_file():
            return _from_split_file(folder / SPLIT_FILE)
    if (root / SCENES_FILE).is_file():
        return _from_scenes_file(root / SCENES_FILE)
    raise FileError(
        root / SPLIT_FILE,
        "expected this file to name the frames of each split, found none; write it as "
        '{"train": ["name", ...], "validation": [...]}, or choose the split "all".',
    )


def _from_split_file(path: Path) -> Splits:
    content = read_json_object(path)
    for split, names in content.items():
        is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not is_list or not names:
            raise FileError(
                path,
                f'expected a list of frame names as strings for the split "{split}", got '
                f"{_shortened(names)}; correct the list.",
            )
    return Splits(path, {split: tuple(names) for split, names in content.items()})


def _from_scenes_file(path: Path) -> Splits:
    names: dict[str, tuple[str, ...]] = {}
    for name, scene in read_json_object(path).items():
        split = scene.get("split") if isinstance(scene, dict) else None
        if isinstance(split, str):
            names[split] = (*names.get(split, ()), name)
    return Splits(path, names)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
