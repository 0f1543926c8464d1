"""Calibration files as named fields: the kind of a file, its text parsed, its numbers checked.

The kind is recognised by content, because half of all calibration files are called ``calib.txt``.
YAML, which ROS and OpenCV write, is parsed so that nothing in it can run code or take minutes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.files import read_bytes

LARGEST_CALIBRATION = 2**20
"""Bytes."""
LARGEST_SIDE = 2**31
LARGEST_YAML, DEEPEST_YAML = 2**17, 20
"""PyYAML takes seconds for a thousand nested brackets, and minutes for a megabyte of anything."""

_YAML_ERRORS = (
    *(yaml.YAMLError, ValueError, RecursionError),
    # What PyYAML's constructors raise for ``!!int ''``, ``!!bool x``, ``!!timestamp x`` and such.
    *(IndexError, KeyError, AttributeError, TypeError, OverflowError),
)
_KEYS_OF_ROS = r"^(projection_matrix|camera_matrix|camera_name|distortion_model)\s*:"

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class CalibrationFile:
    """The fields of a calibration file."""

    path: Path
    kind: str
    """``"KITTI"``, ``"Middlebury 2014"``, ``"ROS camera_info"`` or ``"OpenCV"``."""
    fields: Mapping[str, Any]
    """Values are text, or what YAML makes of it."""

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def number(self, name: str) -> float:
        """Return the single number of a field."""
        return float(self.matrix(name, 1)[0])

    def matrix(self, name: str, *shape: int) -> Matrix:
        """Return the numbers of a field, given as text, a list, or a mapping with ``data``."""
        count = math.prod(shape)
        numbers = self.numbers(name, f"{count} numbers")
        if numbers.size != count:
            expected = f"expected field {name} to hold {count} numbers"
            raise FileError(self.path, f"{expected}, but it has {numbers.size}")
        return numbers.reshape(shape)

    def numbers(self, name: str, expected: str = "numbers") -> Matrix:
        """Return the numbers of a field as `matrix` does, however many; messages name them."""
        if name not in self:
            raise FileError(self.path, f"the calibration lacks field {name}; use the complete file")
        value = self.fields[name]
        if isinstance(value, Mapping):
            value = value.get("data")
        if isinstance(value, str):
            value = re.sub(r"[\[\];,]", " ", value).split()
        values = value if isinstance(value, list) else [value]
        try:
            numbers = np.array([float(number) for number in values])
        except (TypeError, ValueError, OverflowError) as error:
            raise FileError(self.path, f"expected field {name} to hold {expected}") from error
        if not np.isfinite(numbers).all():
            raise FileError(self.path, f"expected field {name} to hold finite numbers; correct it")
        return numbers

    def image_size(self) -> tuple[int, int] | None:
        """Return the images' width and height if the file has them, as all but OpenCV's do."""
        for names in (("image_width", "image_height"), ("width", "height")):
            if all(name in self for name in names):
                width, height = (self.number(name) for name in names)
                return self._whole_size(" and ".join(names), width, height)
        for name in ("S_rect_02", "S_rect_00"):
            if name in self:
                return self._whole_size(name, *self.matrix(name, 2).tolist())
        return None

    def _whole_size(self, names: str, width: float, height: float) -> tuple[int, int]:
        if not (0 < width < LARGEST_SIDE and 0 < height < LARGEST_SIDE):
            raise FileError(
                self.path,
                f"expected {names} to be the size of an image, got {width:g} and {height:g};"
                " correct it",
            )
        return round(width), round(height)


def read_calibration_file(path: Path) -> CalibrationFile:
    """Recognise a calibration file and parse its fields."""
    try:
        text = read_bytes(path, LARGEST_CALIBRATION).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, "expected a calibration as text, but it is a binary file") from error
    if re.search(r"^[ \t]*cam0\s*=", text, re.MULTILINE):
        return CalibrationFile(path, "Middlebury 2014", _key_values(text, "="))
    if re.search(r"^P(_rect_0)?[0-3]:\s*[-+0-9.]", text, re.MULTILINE):
        return CalibrationFile(path, "KITTI", _key_values(text, ":"))
    # Recognised before the YAML parser runs, which is slow and accepts almost any text.
    if text.startswith("%YAML") or "opencv-matrix" in text:
        return CalibrationFile(path, "OpenCV", _load_yaml(path, text))
    if re.search(_KEYS_OF_ROS, text, re.MULTILINE):
        return CalibrationFile(path, "ROS camera_info", _load_yaml(path, text))
    raise FileError(
        path,
        "is a text of no known kind; expected the calibration of KITTI (P2:, P3:), Middlebury 2014"
        " (cam0=), ROS camera_info or OpenCV YAML",
    )


def _key_values(text: str, separator: str) -> dict[str, str]:
    pairs = (line.split(separator, 1) for line in text.splitlines() if separator in line)
    return {key.strip(): value.strip() for key, value in pairs}


class _CalibrationLoader(yaml.SafeLoader):
    """A safe loader that knows OpenCV's matrices and refuses aliases.

    With aliases a short file can stand for billions of nodes, and no calibration needs one.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def _construct_matrix(loader: _CalibrationLoader, node: yaml.Node) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise yaml.YAMLError("an opencv-matrix must be a mapping")
    return loader.construct_mapping(node, deep=True)


for _kind in ("opencv-matrix", "opencv-nd-matrix"):  # the second is OpenCV 5's for vectors
    _CalibrationLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _construct_matrix)


def _load_yaml(path: Path, text: str) -> Mapping[str, Any]:
    """Parse YAML whose top level is a mapping."""
    # OpenCV writes "%YAML:1.0", which is not a valid YAML directive.
    body = re.sub(r"\A%YAML[^\n]*\n", "", text)
    if len(body) > LARGEST_YAML or _depth(body) > DEEPEST_YAML:
        raise FileError(
            path,
            f"expected a YAML calibration of at most {LARGEST_YAML} characters and {DEEPEST_YAML} "
            "nested brackets, but it has more; is it another file?",
        )
    try:
        # The loader descends from SafeLoader, which builds plain data only.
        fields = yaml.load(body, Loader=_CalibrationLoader)
    except _YAML_ERRORS as error:
        raise FileError(
            path, f"expected a YAML calibration, but it cannot be parsed ({_where(error)})"
        ) from error
    if not isinstance(fields, Mapping):
        raise FileError(path, "expected a YAML mapping of calibration fields, but it has none")
    return fields


def _depth(text: str) -> int:
    """Return how deeply brackets are nested, counting those in strings too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _where(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem} in line {error.problem_mark.line + 1}"
    return str(error).splitlines()[0] if str(error) else "nested too deeply"
