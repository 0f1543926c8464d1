"""OpenCV: slanted leaves each of its four packages as it is, and runs with any of them.

python benchmarks/opencv_wheels.py [--wheels opencv-python ...] [--python python3.12]

Each wheel gets a virtual environment, and slanted is built and installed beside it. In one more
environment slanted comes first: its demo must say what to install, and then each wheel comes and
goes in turn. Every file of the module `cv2` and of its libraries must be the same as without
slanted, its version too, and the demo must run. At last the check is checked: another of the four
installed on top must show up as other files. It needs a package index, and the exit code is 1 if
anything differs. With --smoke nothing is installed and only this environment is looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import ROOT, SMOKE, options, record, told
from slanted.runtime.versions import OPENCV, opencv_package

CURE = "pip install 'slanted[opencv]'"
LOOK = """
import json, re, sysconfig, cv2
screen = re.search(r"GUI: +(.+)", cv2.getBuildInformation())
print(json.dumps({
    "site": sysconfig.get_path("platlib"),
    "version": cv2.__version__,
    "windows": screen[1] if screen else "?",
    "contrib": hasattr(cv2, "ximgproc"),
}))
"""


class Environment:
    """A Python, and what is installed beside it."""

    def __init__(self, python: str | Path) -> None:
        self.python = str(python)

    @classmethod
    def make(cls, folder: Path, python: str) -> Environment:
        """Make a virtual environment."""
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        return cls.of(folder)

    @classmethod
    def of(cls, folder: Path) -> Environment:
        """Return the virtual environment in a folder."""
        return cls(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")

    def pip(self, *arguments: str) -> None:
        """Run pip, which says something only if it fails."""
        subprocess.run([self.python, "-m", "pip", "-q", *arguments], check=True, stderr=sys.stderr)

    def look(self) -> dict[str, Any]:
        """Return a digest of every file of OpenCV, its version and what it can do."""
        command = [self.python, "-P", "-c", LOOK]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        site = Path(found.pop("site"))
        folders = [site / "cv2", *sorted(site.glob("opencv*.libs"))]
        files = sorted(f for folder in folders for f in folder.rglob("*") if f.is_file())
        files = [file for file in files if file.suffix != ".pyc"]
        whole = hashlib.sha256()
        for file in files:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            whole.update(f"{file.relative_to(site).as_posix()} {content}\n".encode())
        return {**found, "files": len(files), "digest": whole.hexdigest()[:16]}

    def slanted(self, folder: Path, *arguments: str) -> tuple[int, str]:
        """Run a command of slanted in a folder; return its exit code and its last line."""
        command = [self.python, "-P", "-m", "slanted", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
        return done.returncode, lines[-1][:160] if lines else ""


def beside(wheel: str, built: str, python: str, folder: Path) -> dict[str, Any]:
    """Install slanted where a wheel is already, and compare."""
    environment = Environment.make(folder / wheel, python)
    environment.pip("install", wheel)
    before = environment.look()
    environment.pip("install", f"{built}[demo]")
    return _row(f"{wheel}, then slanted", environment, before, folder)


def without(wheels: dict[str, Any], built: str, python: str, folder: Path) -> list[dict[str, Any]]:
    """Install slanted where there is no OpenCV; then let each of the wheels come and go."""
    environment = Environment.make(folder / "none", python)
    environment.pip("install", built)
    code, line = environment.slanted(folder, "demo")
    both = CURE.replace("opencv", "opencv,demo") in line
    rows = [told({"case": "no OpenCV, no scikit-image", "says": line, "ok": code == 2 and both})]
    environment.pip("install", f"{built}[demo]")
    code, line = environment.slanted(folder, "demo")
    rows.append(told({"case": "no OpenCV", "says": line, "ok": code == 2 and CURE in line}))
    for wheel, before in wheels.items():
        environment.pip("install", wheel)
        rows.append(_row(f"slanted, then {wheel}", environment, before, folder))
        environment.pip("uninstall", "-y", wheel)
    return rows


def control(folder: Path, wheels: list[str]) -> dict[str, Any]:
    """Install a second wheel over a first one: this check must notice."""
    first, second = wheels[-1], wheels[0]
    environment = Environment.of(folder / first)
    before = environment.look()
    environment.pip("install", second)
    after = environment.look()
    case = f"check: {first}, then {second}"
    return told({"case": case, "before": before, "after": after, "ok": before != after})


def _row(case: str, environment: Environment, before: Any, folder: Path) -> dict[str, Any]:
    after = environment.look()
    code, line = environment.slanted(folder, "demo", "-o", str(folder / "demo"))
    row = {"case": case, "before": before, "after": after, "demo": code, "last line": line}
    return told({**row, "ok": before == after and code == 0})


def here() -> list[dict[str, Any]]:
    """Look at this environment before and after a command, which needs no package index."""
    environment = Environment(sys.executable)
    before = environment.look()
    code, line = environment.slanted(Path.cwd(), "settings")
    unchanged = environment.look() == before
    return [{"case": opencv_package(), **before, "last line": line, "ok": unchanged and not code}]


def main() -> int:
    """Try every environment, and print a row for each."""
    arguments = options(__doc__, {}, wheels=list(OPENCV), python=sys.executable)
    if SMOKE:
        rows = here()
    else:
        os.environ.pop("PYTHONPATH", None)  # what is installed is tried, not these sources
        with tempfile.TemporaryDirectory() as name:
            folder, python = Path(name), arguments.python
            pip = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", name, str(ROOT)]
            subprocess.run(pip, check=True)
            built = str(next(folder.glob("*.whl")))
            rows = [beside(wheel, built, python, folder) for wheel in arguments.wheels]
            alone = {w: r["before"] for w, r in zip(arguments.wheels, rows, strict=True)}
            rows += without(alone, built, python, folder)
            if len(arguments.wheels) > 1:
                rows.append(control(folder, arguments.wheels))
    record("opencv_wheels", arguments, rows)
    return int(not all(row["ok"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
