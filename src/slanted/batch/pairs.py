"""Pairs of images, from a folder in one of the usual layouts or from a CSV manifest."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from slanted.errors import FileError
from slanted.io.names import ARRAYS, BATCH_MARKER, RECORD, SUMMARY_LINES, SUMMARY_TABLE

if TYPE_CHECKING:
    from slanted.io import Calibration

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".ppm", ".pgm", ".bmp")
FOLDERS = (
    ("image_2", "image_3"),
    ("image_02", "image_03"),
    ("colored_0", "colored_1"),
    ("image_0", "image_1"),
    ("image_00", "image_01"),
    ("left", "right"),
)
"""Sibling folders in which files of the same name are a pair; the first that exist are used."""
STEMS = (("im0", "im1"), ("im2", "im6"), ("view1", "view5"))
"""Names of the two images in Middlebury's layout, which has a folder for each scene."""
WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
LAYOUTS = (
    "image_2/ and image_3/ (KITTI; also colored_0/1, image_0/1, left/ and right/) with files of "
    "one name, im0 and im1 (Middlebury; also im2 and im6, view1 and view5), or names with left and "
    "right"
)
RESERVED = ("failures", SUMMARY_TABLE, SUMMARY_LINES, BATCH_MARKER)
"""Names in the output folder that no pair may have."""
COLUMNS = ("left", "right", "name", "calib")
"""Columns of a manifest; the last two may be missing."""
LARGEST_MANIFEST = 2**26
"""Bytes."""
MOST_PAIRS = 2**18
"""Pairs of a manifest; each takes a kilobyte of memory."""
DIGITS = r"\d{1,300}"
"""A number in a name, limited in length: Python refuses to convert thousands of digits."""
RESULT = (RECORD, ARRAYS)
"""Files that mark a folder as a result, whose images are not a new pair."""


@dataclass(frozen=True)
class Pair:
    """A pair to run."""

    name: str
    """Name of its result: a relative path with slashes."""
    left: Path
    right: Path
    """The images. If the right one does not exist, the pair is recorded as failed."""
    calibration_file: Path | None = None
    """Its calibration file, if the manifest names one."""
    calibration: Calibration | None = None
    """Its calibration, which adds depth and a point cloud; see `slanted.batch.calibrations`."""

    def frame(self) -> tuple[str, int] | None:
        """Return the sequence of the left file and its frame number, if its name has a number."""
        numbers = list(re.finditer(DIGITS, self.left.stem))
        if not numbers:
            return None
        first, last = numbers[-1].span()
        before, after = self.left.stem[:first], self.left.stem[last:]
        return str(self.left.parent / f"{before}#{after}"), int(numbers[-1].group())


def find_pairs(source: Path, output: Path | None = None) -> list[Pair]:
    """Return the pairs of a folder and all folders below it, or of a manifest, sorted by name.

    Parameters
    ----------
    source
        A folder, or a CSV file with a header ``left,right`` and, optionally, ``name`` and
        ``calib``; its paths are relative to the folder of the file.
    output
        A folder to leave out.

    Raises
    ------
    FileError
        If no pair is found, the manifest cannot be read, two pairs have the same name, or it is not
        clear which of several files belongs to a pair.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import slanted
    >>> for side in ("left", "right"):
    ...     slanted.write_image(f"desk_{side}.png", np.zeros((64, 96), np.uint8))
    >>> [(pair.name, pair.right.name) for pair in find_pairs(Path("."))]
    [('desk', 'desk_right.png')]
    """
    if source.is_dir():
        pairs = list(_apart(_search(source, output)))
        if not pairs:
            raise FileError(source, f"expected pairs of images, found none; expected {LAYOUTS}")
    elif source.is_file():
        pairs = _read_manifest(source)
    else:
        raise FileError(source, "expected a folder or a CSV manifest, found nothing; check it")
    check_names(source, pairs)
    return sorted(pairs, key=lambda pair: natural(pair.name))


def has_pairs(folder: Path) -> bool:
    """Return whether there are pairs in a folder or below it, as far as it can be searched."""
    return next(_search(folder, None), None) is not None


def natural(name: str) -> list[tuple[str, int]]:
    """Return a sort key by which frame_9 comes before frame_10."""
    return [(word, int(digits or 0)) for word, digits in re.findall(rf"(\D*)({DIGITS}|)", name)]


def output_folder(output: Path, name: str) -> Path:
    """Return the folder of a pair's result.

    Raises
    ------
    FileError
        If it is not inside the output folder, because of ``..`` in the name or a link.
    """
    parts = PurePosixPath(name).parts
    bad = not parts or name != "/".join(parts) or "\0" in name or "\\" in name
    if bad or parts[0] in RESERVED or any(part.startswith(".") or part == "/" for part in parts):
        raise FileError(
            name,
            "cannot be the name of a pair; expected a relative path with slashes, no part of which "
            f"starts with a dot or is one of {', '.join(RESERVED)}; rename it in the manifest",
        )
    folder = output.joinpath(*parts)
    try:
        inside = folder.resolve().is_relative_to(output.resolve())
    except (OSError, RuntimeError):  # a cycle of links
        inside = False
    if not inside:
        raise FileError(
            folder, f"leads out of {output} through a link; remove the link or rename the pair"
        )
    return folder


def _search(root: Path, output: Path | None) -> Iterator[Pair]:
    skipped = None if output is None else output.resolve()
    seen: set[Path] = set()
    for here, folders, files in os.walk(root, onerror=_cannot_search, followlinks=True):
        base = Path(here)
        real = base.resolve()
        # Links may form a cycle, and results hold a left and a right image.
        if real in seen or (real == skipped and base != root) or set(RESULT) <= set(files):
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        relative = "" if base == root else base.relative_to(root).as_posix() + "/"
        both = next((p for p in FOLDERS if set(p) <= set(folders)), None)
        if both is not None:
            # Other cameras show the same scene.
            folders[:] = [f for f in folders if all(f not in pair for pair in FOLDERS)]
            yield from _of_folders(base / both[0], base / both[1], relative)
        yield from _of_files(base, files, relative)


def _cannot_search(error: OSError) -> NoReturn:
    raise FileError(
        str(error.filename),
        f"cannot be searched for pairs ({error.strerror}); allow it, or name pairs in a manifest",
    ) from error


def _images(files: Iterable[str]) -> list[str]:
    """Return the names of images, without the hidden files that some systems add."""
    return sorted(f for f in files if f.lower().endswith(SUFFIXES) and not f.startswith("."))


def _by_stem(images: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in images:
        found.setdefault(Path(name).stem, []).append(name)
    return found


def _only(folder: Path, names: list[str]) -> Path:
    """Return the only image of a name; several are an error."""
    if len(names) > 1:
        raise FileError(
            folder,
            f"expected one image called {Path(names[0]).stem}, got {', '.join(names)}; keep one of "
            "them there, or name pairs in a manifest",
        )
    return folder / names[0]


def _of_folders(left: Path, right: Path, relative: str) -> Iterator[Pair]:
    """Find pairs in two folders: files of one name, or with left and right in their names."""
    if (left / "data").is_dir() and (right / "data").is_dir():  # KITTI's raw drives
        left, right = left / "data", right / "data"
    try:
        ours, theirs = (_images(p.name for p in f.iterdir()) for f in (left, right))
    except OSError as error:
        _cannot_search(error)
    names, by_stem = set(theirs), _by_stem(theirs)
    for name in ours:
        stem = Path(name).stem
        partner, rest = partner_of(stem, by_stem)
        others = [name] if name in names else by_stem.get(partner, [name])
        yield Pair(relative + (rest or stem), left / name, _only(right, others))


def partner_of(stem: str, there: Container[str]) -> tuple[str, str]:
    """Return the name of a left image's partner in another folder, and what both names share.

    It is the same name, unless only one with right instead of left is there.

    Examples
    --------
    >>> partner_of("left_07", {"right_07"})
    ('right_07', '07')
    """
    partner, rest = next(_in_words(stem), (stem, stem))
    return (stem, stem) if stem in there or partner not in there else (partner, rest)


def _of_files(base: Path, files: Iterable[str], relative: str) -> Iterator[Pair]:
    """Find pairs among the files of one folder."""
    images = _by_stem(_images(files))
    scene = relative.rstrip("/") or base.resolve().name
    for one, other in STEMS:
        if one in images and other in images:
            yield Pair(scene, _only(base, images[one]), _only(base, images[other]))
            return
    for stem, names in images.items():
        for partner, rest in _in_words(stem):
            if partner in images:
                both = _only(base, names), _only(base, images[partner])
                yield Pair(relative + rest if rest else scene, *both)


def _in_words(stem: str) -> Iterator[tuple[str, str]]:
    """Yield possible names of the right image of a left one, and what both names share."""
    for one, other in WORDS:
        if one in stem:
            rest = re.sub(r"^[-_. ]+|[-_. ]+$", "", stem.replace(one, ""))
            yield stem.replace(one, other), re.sub(r"([-_. ])[-_. ]+", r"\1", rest)


def _apart(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Add the left image's name to a pair whose folder would hold those of other pairs."""
    pairs = list(pairs)
    outer = {str(above) for pair in pairs for above in PurePosixPath(pair.name).parents}
    for pair in pairs:
        name = f"{pair.name}/{pair.left.stem}" if pair.name in outer else pair.name
        yield replace(pair, name=name)


def _read_manifest(path: Path) -> list[Pair]:
    from slanted.io.files import read_bytes

    try:
        text = read_bytes(path, LARGEST_MANIFEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"expected a CSV manifest in UTF-8, got other bytes ({error})") from (
            error
        )
    rows = csv.DictReader(io.StringIO(text), strict=True, skipinitialspace=True)
    try:
        columns = [column.strip() for column in rows.fieldnames or ()]
        needed = set(COLUMNS[:2])
        if len(set(columns)) < len(columns) or not needed <= set(columns) <= set(COLUMNS):
            raise FileError(
                path,
                "expected a CSV manifest whose first line is left,right or these with name and "
                f"calib, got {','.join(columns)[:80]!r}",
            )
        rows.fieldnames = columns
        pairs = [_from_row(path, rows.line_num, row) for row in islice(rows, MOST_PAIRS + 1)]
    except csv.Error as error:
        raise FileError(path, f"line {rows.line_num} is no CSV ({error}); correct it") from error
    if not pairs:
        raise FileError(path, "expected a line for each pair below the header, found none")
    if len(pairs) > MOST_PAIRS:
        raise FileError(
            path, f"expected at most {MOST_PAIRS} pairs, found more; split the manifest"
        )
    return pairs


def _from_row(path: Path, line: int, row: dict[str, str | None]) -> Pair:
    left, right = (row["left"] or "").strip(), (row["right"] or "").strip()
    calibration = (row.get("calib") or "").strip()
    if not left or not right or None in row:
        raise FileError(
            path, f"line {line}: expected two files, and a name and calib if the header has them"
        )
    if "\0" in left + right + calibration:
        raise FileError(path, f"line {line}: expected names of files, got one with a null byte")
    return Pair(
        (row.get("name") or "").strip() or Path(left).stem,
        path.parent / left,
        path.parent / right,
        path.parent / calibration if calibration else None,
    )


def check_names(source: Path | str, pairs: Iterable[Pair]) -> None:
    """Raise if two pairs would overwrite each other; `source` is where they come from."""
    by_name = sorted(pairs, key=lambda pair: PurePosixPath(pair.name).parts)
    for one, other in pairwise(by_name):
        inside = PurePosixPath(other.name).is_relative_to(PurePosixPath(one.name))
        if inside:
            raise FileError(
                source,
                f"two pairs would be written to one place, {one.name} ({one.left}) and "
                f"{other.name} ({other.left}); name them apart in a manifest",
            )
