"""What a mesh or a point cloud holds, from the parts of its file that say so."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.texts import LARGEST_TEXT

NAMES = {"vertex": "vertices", "face": "faces"}
_DAMAGED = (
    *(struct.error, ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What a header of a stranger's can lead to."""


def describe_ply(data: bytes) -> dict[str, object]:
    """Tell a cloud from a mesh by how many of each element the header announces."""
    found = re.findall(rb"^element (\w+) (\d{1,18})\s*$", data[:4096], re.MULTILINE)
    counts = {NAMES.get(name.decode(), name.decode()): int(count) for name, count in found}
    return {"format": "PLY", "meaning": "mesh" if counts.get("faces") else "point cloud", **counts}


def describe_glb(path: Path, data: bytes) -> dict[str, object]:
    """Count what the JSON at the start of a binary glTF announces."""
    try:
        (length,) = struct.unpack_from("<I", data, 8)
        (size,) = struct.unpack_from("<I", data, 12)
        if length > len(data) or size > LARGEST_TEXT:
            raise ValueError(f"{length} bytes were announced, and others are there")
        content = json.loads(data[20 : 20 + size])
        parts = [part for mesh in content.get("meshes", ()) for part in mesh["primitives"]]
        counts = [_count(content["accessors"], part) for part in parts]
    except _DAMAGED as error:
        raise FileError(
            path, "expected a mesh (GLB), but it is damaged or cut off; export it again"
        ) from error
    vertices, corners = (sum(numbers) for numbers in zip((0, 0), *counts, strict=True))
    return {"format": "GLB", "meaning": "mesh", "vertices": vertices, "faces": corners // 3}


def _count(accessors: list[dict[str, Any]], part: dict[str, Any]) -> tuple[int, int]:
    """Return vertices and corners of triangles; without indices every vertex is a corner."""
    vertices = int(accessors[part["attributes"]["POSITION"]]["count"])
    return vertices, int(accessors[part["indices"]]["count"]) if "indices" in part else vertices


def describe_obj(data: bytes) -> dict[str, object]:
    """Count the lines that are vertices and faces."""
    lines = b"\n" + data
    return {
        "format": "OBJ",
        "meaning": "mesh",
        "vertices": lines.count(b"\nv "),
        "faces": lines.count(b"\nf "),
    }
