"""The origin of numbers: date, code, presets, versions and machine."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from slanted import __version__
from slanted.io.files import digest
from slanted.runtime.threads import core_count
from slanted.runtime.versions import opencv_package
from slanted.settings import Settings

PACKAGE = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "numba", opencv_package(), "higra")
PRESETS = ("default", "paper", "paper+")
"""The presets that experiments measure."""


def provenance() -> dict[str, str]:
    """Return what a reader needs to judge or repeat a run."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "slanted": __version__,
        "commit": commit() or "not in a repository",
        "presets": presets_digest(),
        "Python": platform.python_version(),
        **{package: version_of(package) for package in (*PACKAGES, "pyelas")},
        "machine": f"{processor()}, {core_count()} cores, {platform.system()}",
    }


def commit() -> str:
    """Return the commit of the code, marked if files differ; empty outside a repository."""
    described = _git("describe", "--always", "--dirty", "--exclude=*")
    # An installed copy may lie inside another repository.
    tracked = _git("ls-files", "--error-unmatch", str(PACKAGE / "__init__.py"))
    return described if described and tracked else ""


def presets_digest() -> str:
    """Return a digest of the presets with all their settings, so that a changed default counts."""
    return digest(*(f"{name}\n{Settings.preset(name).to_toml()}" for name in PRESETS))


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(PACKAGE), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:  # no git
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
