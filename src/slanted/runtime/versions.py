"""The versions that results depend on, of this process and of others."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from slanted import __version__

OPENCV = (
    *("opencv-python-headless", "opencv-python"),
    *("opencv-contrib-python-headless", "opencv-contrib-python"),
)
"""Four packages of the same library; any will do."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of the packages that a result may depend on."""
    found = {"slanted": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", *OPENCV):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def opencv_package() -> str:
    """Return which of the four packages is installed; the first if none is."""
    return next((name for name in OPENCV if name in versions()), OPENCV[0])


@cache
def compared_versions() -> dict[str, str]:
    """Return what must be equal wherever parts of one job run.

    These are `versions` without the last number of Python's, which only names a bug fix, and with a
    digest of slanted's own code, because a development version changes without a new number.
    """
    found = dict(versions())
    found["slanted"] += f" with code {_code_digest()[:8]}"
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    for name in OPENCV:
        if name in found:
            found["opencv"] = found.pop(name)
    return found


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Return the versions that differ as text, "numpy 1.26.0 (here 2.4.6)"; empty if none do."""
    return ", ".join(
        f"{name} {there[name]} (here {ours})" if name in there else f"no {name} (here {ours})"
        for name, ours in here.items()
        if there.get(name) != ours
    )


@cache
def _code_digest() -> str:
    package = Path(__file__).resolve().parents[1]
    found = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        found.update(f"{file.relative_to(package).as_posix()}\n".encode())
        found.update(file.read_bytes())
    return found.hexdigest()
