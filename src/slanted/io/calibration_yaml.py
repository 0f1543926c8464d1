"""YAML as ROS and OpenCV write it, with nothing in it that could run or explode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from slanted.errors import FileError

LARGEST_YAML = 2**17
DEEPEST = 20
"""PyYAML takes seconds for a thousand brackets, and minutes for a megabyte of anything."""

_ERRORS = (
    *(yaml.YAMLError, ValueError, RecursionError),
    # What its constructors let through of ``!!int ''``, ``!!bool x``, ``!!timestamp x`` and such.
    *(IndexError, KeyError, AttributeError, TypeError, OverflowError),
)


class _CalibrationLoader(yaml.SafeLoader):
    """A safe loader that knows OpenCV's matrices and refuses aliases.

    Aliases make a short file stand for billions of nodes; no calibration needs one.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def _construct_matrix(loader: _CalibrationLoader, node: yaml.Node) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise yaml.YAMLError("an opencv-matrix must be a mapping")
    return loader.construct_mapping(node, deep=True)


_CalibrationLoader.add_constructor("tag:yaml.org,2002:opencv-matrix", _construct_matrix)


def load_yaml(path: Path, text: str) -> Mapping[str, Any]:
    """Parse a YAML file whose top level is a mapping.

    Parameters
    ----------
    path
        The file, for messages.
    text
        Its content.

    Returns
    -------
    Mapping[str, Any]
        Its fields.
    """
    # OpenCV writes "%YAML:1.0", which is no YAML directive.
    body = re.sub(r"\A%YAML[^\n]*\n", "", text)
    if len(body) > LARGEST_YAML or _depth(body) > DEEPEST:
        raise FileError(
            path,
            f"expected a YAML calibration of at most {LARGEST_YAML} characters and {DEEPEST} "
            "nested brackets, but it has more; is it another file?",
        )
    try:
        # The loader descends from SafeLoader, which builds plain data only.
        content = yaml.load(body, Loader=_CalibrationLoader)
    except _ERRORS as error:
        raise FileError(
            path, f"expected a YAML calibration, but it cannot be parsed ({_where(error)})"
        ) from error
    if not isinstance(content, Mapping):
        raise FileError(path, "expected a YAML mapping of calibration fields, but it has none")
    return content


def _depth(text: str) -> int:
    """Return how deep brackets are nested at most, counting those in strings too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _where(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem} in line {error.problem_mark.line + 1}"
    return str(error).splitlines()[0] if str(error) else "nested too deeply"
