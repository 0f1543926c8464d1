"""Reading and writing disparity maps: float32 pixels with NaN where unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slanted.errors import FileError, InputError
from slanted.io import disparity_formats as formats
from slanted.io.files import read_bytes, write_bytes

#: Disparities below this can be written in KITTI's format: they round to 65535/256 or less.
KITTI_LIMIT = 65535.5 / formats.KITTI_SCALE


def read_disparity(
    path: Path | str,
    *,
    format: str = "auto",
    scale: float | None = None,
    allow_negative: bool = False,
) -> NDArray[np.float32]:
    """Read a disparity map.

    Parameters
    ----------
    path
        The file.
    format
        ``"kitti"`` (16-bit PNG, disparity × 256, 0 unknown), ``"pfm"``, ``"npy"``, ``"tiff"``
        (floats, NaN or +inf unknown) or ``"middlebury"`` (8-bit PNG or PGM, disparity × `scale`,
        0 unknown). ``"auto"`` decides by suffix and, for PNG, by bit depth.
    scale
        Grey levels per pixel of disparity; required for ``"middlebury"``, and for it only. With
        ``"auto"`` it is ignored if the file turns out to be of another format.
    allow_negative
        Whether finite negative disparities are accepted; −inf never is.

    Returns
    -------
    NDArray[np.float32]
        ``(H, W)``, pixels, NaN where unknown, at least one pixel known.

    Raises
    ------
    FileError
        If the file cannot be read or is not a disparity map.
    InputError
        If `format` or `scale` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> slanted.write_disparity("kitti.png", np.array([[1.5, np.nan]]))
    >>> slanted.read_disparity("kitti.png")
    array([[1.5, nan]], dtype=float32)
    """
    path = Path(path)
    formats.known_format(format)
    data = read_bytes(path)
    name = formats.format_of_file(path, data) if format == "auto" else format
    stored = formats.decode(path, data, name, _scale(scale, format, name))
    problem = _shape_problem(stored)
    if problem:
        raise FileError(path, f"{problem}; is it a disparity map?")
    if name == "middlebury" and scale is None:
        raise FileError(
            path,
            "is an 8-bit map, which holds scale × disparity; give the scale with --scale, "
            "--disparity-scale or --ground-truth-scale, whichever the command has (scale= in "
            "Python): 1 for Middlebury at full size, 2 at half, 3 at third, 4 at quarter",
        )
    problem = _value_problem(stored, allow_negative=allow_negative)
    if problem:
        meant = "; if they are meant, set matching.min_disparity below 0 (allow_negative in Python)"
        raise FileError(path, problem + ("" if allow_negative else meant))
    disparity = _to_internal(stored)
    if disparity is None:
        raise FileError(path, f"a disparity of {np.nanmax(stored):.6g} pixels is beyond float32")
    if np.isnan(disparity).all():
        raise FileError(
            path,
            f"has no known pixel, all {disparity.size} are unknown; check its format or omit it",
        )
    return disparity


def write_disparity(
    path: Path | str, disparity: ArrayLike, *, format: str = "auto", scale: float | None = None
) -> None:
    """Write a disparity map.

    Parameters
    ----------
    path
        The file; its suffix must be one that the format uses.
    disparity
        ``(H, W)``, pixels, NaN or +inf where unknown. Float formats keep negative values.
    format
        As in `read_disparity`. ``"auto"`` writes ``.png`` as ``"kitti"``, or as ``"middlebury"`` if
        `scale` is given.
    scale
        Grey levels per pixel of disparity, for ``"middlebury"`` only; 1 by default.

    Raises
    ------
    FileError
        If the suffix does not fit or the file cannot be written.
    InputError
        If the array is not a disparity map or the format cannot hold its values.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> slanted.write_disparity("out.pfm", np.full((64, 96), 12.5))
    >>> slanted.write_disparity("middlebury.png", np.full((64, 96), 12.5), scale=4)
    >>> float(slanted.read_disparity("middlebury.png", scale=4).max())
    12.5
    """
    path = Path(path)
    name = _format_for_writing(path, formats.known_format(format), scale)
    values = np.asarray(disparity)
    is_float_format = name in ("pfm", "npy", "tiff")
    problem = _shape_problem(values) or _value_problem(values, allow_negative=is_float_format)
    if problem:
        hint = "" if is_float_format else f"; {name} cannot hold them, write .pfm, .npy or .tiff"
        raise InputError(f"disparity: {problem}{hint}")
    internal = _to_internal(values)
    if internal is None:
        raise InputError(f"disparity: {np.nanmax(values):.6g} pixels are beyond float32")
    grey_levels_per_pixel = _scale(scale, format, name)
    write_bytes(path, formats.encode(internal, path.suffix.lower(), name, grey_levels_per_pixel))


def _scale(scale: float | None, requested: str, format: str) -> float:
    # One scale may be given for several files of which only some are 8-bit maps, so it is an error
    # only where the caller named another format.
    if requested == "auto" and format != "middlebury":
        scale = None
    return formats.checked_scale(scale, format)


def _format_for_writing(path: Path, format: str, scale: float | None) -> str:
    if format == "auto":
        by_suffix = formats.format_by_suffix(path)
        return "middlebury" if by_suffix == "kitti" and scale is not None else by_suffix
    suffixes = formats.DISPARITY_FORMATS[format]
    if path.suffix.lower() not in suffixes:
        raise FileError(
            path, f"expected a {format} map to end in {' or '.join(suffixes)}, not {path.suffix!r}"
        )
    return format


def _shape_problem(values: NDArray[Any]) -> str:
    if values.dtype.kind not in "fiu" or values.dtype.itemsize > 8:
        return f"expected real numbers of up to 64 bits, but the dtype is {values.dtype}"
    if values.ndim != 2 or values.size == 0:
        return f"expected shape (H, W) with at least one pixel, but it is {values.shape}"
    return ""


def _value_problem(values: NDArray[Any], *, allow_negative: bool) -> str:
    """Describe values that cannot be disparities, or return an empty string."""
    is_refused = np.isneginf(values) if allow_negative else values < 0
    if not is_refused.any():
        return ""
    row, column = np.unravel_index(np.argmin(np.where(is_refused, values, 0)), values.shape)
    kind, bound = ("-inf", "above -inf") if allow_negative else ("negative", "≥ 0")
    return (
        f"expected disparities {bound}, but {is_refused.sum()} of {values.size} pixels are {kind}"
        f" (lowest {values[row, column]:.6g} at row {row}, column {column})"
    )


def _to_internal(values: NDArray[Any]) -> NDArray[np.float32] | None:
    """Convert to float32 with NaN for unknown, or return None if a value does not fit.

    An array that is float32 already is returned itself, unless it is read-only.
    """
    with np.errstate(over="ignore"):
        disparity = values.astype(np.float32, copy=not values.flags.writeable)
    is_infinite = np.isinf(disparity)
    if not is_infinite.any():
        return disparity
    # A stored infinity means unknown; one that the conversion made is a lost value.
    if np.any(is_infinite & np.isfinite(values)):
        return None
    return np.where(is_infinite, np.float32(np.nan), disparity)
