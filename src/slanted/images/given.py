"""Images as users have them: files, Pillow images, arrays and what can become one.

The rule, which `slanted.estimate` documents and every sentence here repeats in part:

- a path is read as a file, a Pillow image by its mode;
- arrays are uint8 or uint16, or floats on one of two scales, 0 … 1 or 0 … 255, which become uint8;
- they are grey or in colour, with the channels last or first; alpha is dropped.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import refuse_masked

if TYPE_CHECKING:
    from slanted.images import Image

Channels = Literal["rgb", "bgr"]
"""The order of colours in arrays; OpenCV's is "bgr"."""
COUNTS = (1, 3, 4)
"""Numbers of channels: grey, colour, colour with alpha."""
NO_SCALE = 2.0
"""A largest value from 1 to this is refused: it is 0 … 1 after a filter, not a black 0 … 255."""
VALUES_AT_A_TIME = 2**15
"""Floats that are scaled at once."""
EXPECTED = "expected a path, a Pillow image or an array"
SHAPES = "(H, W), (H, W, 3) or (3, H, W)"
_PLAIN_MODES = ("L", "RGB")
_CONVERTED = {
    **{"P": "RGBA", "PA": "RGBA", "RGBa": "RGBA", "La": "LA"},  # their alpha is then dropped
    **dict.fromkeys(("CMYK", "YCbCr", "HSV", "RGBX"), "RGB"),
    "1": "L",  # black and white, as from a file of one bit
}
"""Pillow's modes that are brought to others first, and these."""


class HasArray(Protocol):
    """What NumPy can make an array of, such as a tensor of PyTorch in main memory."""

    def __array__(self) -> NDArray[Any]:
        """Return the values."""
        ...


class HasArrayInterface(Protocol):
    """What NumPy can make an array of, such as an image of Pillow."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Return the description of the values."""
        ...


@dataclass(frozen=True, eq=False)
class GivenImage:
    """An image of the user's in the form that all stages work on."""

    pixels: Image
    """(H, W) grey or (H, W, 3) RGB, uint8 or uint16."""
    float_white: float | None = None
    """The white of the floats that it was given as, 1 or 255; None for whole numbers."""


ImageLike = str | os.PathLike[str] | HasArray | HasArrayInterface | GivenImage
"""What `slanted.estimate` takes for an image; one that is checked already is taken as it is."""


def is_path(given: Any) -> bool:
    """Return whether something names a file."""
    return isinstance(given, str | os.PathLike)


def message_names(left: Any, right: Any, names: tuple[str, str]) -> tuple[str, str]:
    """Return what messages call the images: their files, if paths were given."""
    one, other = (
        str(given) if is_path(given) and os.fspath(given) else name
        for given, name in zip((left, right), names, strict=True)
    )
    return one, other


def channels_from_user(given: Any) -> Channels:
    """Return the order of colours that a user gave, or raise an InputError."""
    if given not in ("rgb", "bgr"):
        raise InputError(f"channels: expected 'rgb' or 'bgr', got {given!r}")
    return given  # type: ignore[no-any-return]


def image_from_user(
    name: str, given: Any, channels: Channels = "rgb", *, own: bool = False
) -> GivenImage:
    """Return an image of the user's as grey or RGB of 8 or 16 bits.

    Parameters
    ----------
    name
        What messages call it.
    given
        A path, a Pillow image, an array, or what NumPy can make one of.
    channels
        The order of the colours of an array.
    own
        Whether it must be a copy, which does not change if the caller's array does.

    Raises
    ------
    InputError
        If it is no image by the rule of the module.
    slanted.errors.FileError
        If a file cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> image_from_user("left", np.ones((3, 20, 30), np.float32)).pixels.shape
    (20, 30, 3)
    """
    channels_from_user(channels)
    if isinstance(given, GivenImage):
        return given
    if is_path(given):
        from slanted.io import read_image

        if not os.fspath(given):
            raise InputError(f"{name}: {EXPECTED}, got an empty path; name the file")
        read: Any = read_image(os.fspath(given))
        return GivenImage(read)
    if _is_pillow(given):
        return _from_pillow(name, given)
    array = _as_array(name, given)
    values, white = _as_whole_numbers(name, array)
    shaped = _channels_last(name, values)
    if shaped.ndim == 3:
        # Alpha goes with the fourth channel.
        shaped = shaped[..., 2::-1] if channels == "bgr" else shaped[..., :3]
    # Kernels are compiled for arrays that may be written to.
    pixels = np.require(shaped, requirements=["C", "W"])
    if own and np.may_share_memory(pixels, array):
        pixels = pixels.copy()
    return GivenImage(pixels, white)


def refuse_bgr(name: str, given: Any, image: Image) -> None:
    """Refuse ``channels="bgr"`` where it can only be a mistake: for files, Pillow's images, grey.

    Raises
    ------
    InputError
        If the image is one of these.
    """
    if is_path(given) or _is_pillow(given):
        kind = "a file" if is_path(given) else "a Pillow image"
        raise InputError(
            f"channels: expected arrays for 'bgr', but {name} is {kind}, which knows the order of "
            "its channels; leave out channels"
        )
    if image.ndim == 2:
        raise InputError(
            f"channels: expected images in colour for 'bgr', but {name} is grey; leave out channels"
        )


def _as_array(name: str, given: Any) -> NDArray[Any]:
    if given is None:
        raise InputError(
            f"{name}: {EXPECTED}, got None, which cv2.imread returns for a file that it cannot "
            "read; check its path"
        )
    if not hasattr(given, "__array__") and not hasattr(given, "__array_interface__"):
        raise InputError(
            f"{name}: {EXPECTED}, got {type(given).__name__}; make it an array of uint8 or uint16"
        )
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except Exception as error:  # whatever another library raises, such as for a tensor on a GPU
        raise InputError(
            f"{name}: {EXPECTED}, got {type(given).__name__}, of which NumPy cannot make one "
            f"({error}); copy it to main memory first"
        ) from error


def _as_whole_numbers(name: str, values: NDArray[Any]) -> tuple[NDArray[Any], float | None]:
    """Return values as uint8 or uint16, and the white of the floats that they were."""
    if values.dtype.kind == "u" and values.dtype.itemsize <= 2:
        return values.astype(values.dtype.newbyteorder("="), copy=False), None
    if values.dtype.kind != "f":
        cure = "it looks like a mask" if values.dtype == np.bool_ else "convert it first"
        raise InputError(
            f"{name}: expected an image of type uint8, uint16 or float, got {values.dtype}; {cure}"
        )
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if not (isfinite(low) and isfinite(high)):  # NaN anywhere is both
        raise InputError(
            f"{name}: expected finite floats, got NaN or infinity; fill the unknown pixels first"
        )
    if low >= 0 and (high <= 1 or NO_SCALE < high <= 255):
        white = 1.0 if high <= 1 else 255.0
        return _as_levels(values, 255 / white), white
    cure = "undo its normalisation" if low < 0 else "scale or clip it"
    if high > 255 and low >= 0:
        cure = "convert it to uint16, or scale it"
    raise InputError(
        f"{name}: expected floats on the scale 0 to 1 or 0 to 255, got {low:.4g} to {high:.4g}; "
        f"{cure}"
    )


def _as_levels(values: NDArray[Any], factor: float) -> NDArray[np.uint8]:
    """Return floats as levels of 8 bits.

    They are rounded in parts: a whole copy in float64 would take eight times the image's memory.
    """
    levels = np.empty_like(values, np.uint8)
    parts = np.nditer(
        [values, levels],
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly"], ["writeonly"]],
        op_dtypes=[np.float64, np.uint8],
        casting="same_kind",
        buffersize=VALUES_AT_A_TIME,
    )
    with parts:
        for some, rounded in parts:
            rounded[...] = np.rint(some * factor)
    return levels


def _channels_last(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return (H, W), or (H, W, 3 or 4)."""
    shape = values.shape
    if values.ndim == 4:
        if shape[0] != 1:
            raise InputError(
                f"{name}: expected one image, got a batch of shape {shape}; estimate its pairs one "
                "by one"
            )
        values = values[0]
    if values.ndim == 2:
        return values
    first, last = (values.shape[0], values.shape[-1]) if values.ndim == 3 else (0, 0)
    if first in COUNTS and last in COUNTS and values.shape[1] > max(COUNTS):
        raise InputError(
            f"{name}: expected an image of shape {SHAPES}, got {shape}, whose channels could be "
            "the first or the last axis; transpose it to (H, W, 3)"
        )
    if first not in COUNTS and last not in COUNTS:
        raise InputError(
            f"{name}: expected an image of shape {SHAPES}, got {shape}; pass one image, with 1, 3 "
            "or 4 channels"
        )
    moved = values if last in COUNTS else np.moveaxis(values, 0, -1)
    return moved[..., 0] if moved.shape[-1] == 1 else moved


def _is_pillow(given: Any) -> bool:
    # Nobody has an image of Pillow's without having imported it.
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(given, pillow.Image)


def _from_pillow(name: str, given: Any) -> GivenImage:
    """Return an image of Pillow's as `slanted.io.read_image` would return its file."""
    mode = given.mode
    try:
        if mode in _CONVERTED:
            given = given.convert(_CONVERTED[mode])
        values = np.asarray(given)
    except (OSError, ValueError, SyntaxError) as error:  # it reads its file only now
        raise InputError(f"{name}: the Pillow image cannot be read ({error})") from error
    if given.mode in ("RGBA", "LA"):
        values = values[..., :3] if given.mode == "RGBA" else values[..., 0]
    elif mode == "I" and values.min(initial=0) >= 0 and values.max(initial=0) <= 65535:
        values = values.astype(np.uint16)  # how older versions of Pillow read 16-bit PNG
    elif given.mode not in _PLAIN_MODES and not mode.startswith("I;16") and mode != "F":
        raise InputError(
            f"{name}: expected a Pillow image in grey or colour, got one of mode {mode!r}; convert "
            "it with image.convert('RGB')"
        )
    whole, white = _as_whole_numbers(name, values)
    return GivenImage(np.require(whole, requirements=["C", "W"]), white)
