"""Which package may import which: every import, lazy ones and those for types included, goes down.

CONTRIBUTING.md shows the same layers as a picture.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import slanted
from slowest import SLOWEST

ROOT = Path(slanted.__file__).parent
LAYERS = (
    ("errors", "boundary_label"),
    ("runtime",),
    ("io",),
    ("settings",),
    ("images",),
    ("partition", "evaluation", "synthetic"),
    ("matching", "segmentation", "regions", "solver"),
    ("model",),
    ("inference",),
    ("refinement",),
    ("tiles", "confidence"),
    ("output",),
    ("result", "stages"),
    ("result_folder",),
    ("pipeline",),
    ("stream", "ros"),
    ("learning", "batch", "viewer", "opencv"),
    ("research", "report", "live"),
    ("cli",),
    ("__main__",),
)
"""From the ground up: a package imports from layers below its own only, and from itself."""
ALLOWED_FROM_ROOT = {"__version__"}
"""Other names of `slanted` itself come from above; import them from where they live."""


def imports(source: str, place: str) -> Iterator[str]:
    """Yield every dotted name of slanted that a source in a package ("slanted.a.b") imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            base = place.split(".")[: len(place.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A module that is named, to be imported later.
            names = re.findall(r"^slanted(?:\.\w+)+$", node.value)
        elif isinstance(node, ast.JoinedStr):
            names = [ast.unparse(node)[2:-1]]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "slanted")


def packages(source: str, place: str) -> set[str]:
    """Return the packages that a source uses; "slanted" for names of the root and unknown ones."""
    known = {entry for layer in LAYERS for entry in layer}
    found = set()
    for name in imports(source, place):
        part = name.split(".")[1:2] or [""]
        if part[0] in known:
            found.add(part[0])
        elif name != "slanted" and part[0] not in ALLOWED_FROM_ROOT:
            found.add("slanted")
    return found


def forbidden(source: str, place: str) -> set[str]:
    """Return the packages that a source in a package must not use."""
    level = {entry: number for number, layer in enumerate(LAYERS) for entry in layer}
    level["slanted"] = len(LAYERS)
    own = place.split(".")[1]
    return {used for used in packages(source, place) if used != own and level[used] >= level[own]}


def place_of(file: Path) -> str:
    """Return the package of a file, or for a module at the root its own name."""
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts if len(parts) == 2 else parts[:-1])


def sources() -> list[Path]:
    files = sorted(file for file in ROOT.rglob("*.py*") if file.suffix in (".py", ".pyi"))
    return [file for file in files if file.parent != ROOT or file.stem != "__init__"]


def test_imports_go_down_only():
    wrong = {
        str(file.relative_to(ROOT)): up
        for file in sources()
        if (up := forbidden(file.read_text("utf-8"), place_of(file)))
    }
    assert not wrong


def test_every_package_has_a_layer():
    homes = {place_of(file).split(".")[1] for file in sources()}
    assert homes == {entry for layer in LAYERS for entry in layer}


@pytest.mark.parametrize(
    "line",
    [
        "from slanted.inference import pcbp",
        "def f():\n    from slanted.inference.pcbp import infer",
        "import slanted.pipeline",
        "HOMES = {'infer': 'slanted.inference.pcbp'}",
        "import_module(f'slanted.{name}.pipeline')",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from slanted.result import Result",
        "from slanted import estimate",
        "from slanted import pipeline as p",
        "from ..pipeline import estimate as estimate",
        "from .. import Result",
    ],
)
def test_an_import_that_goes_up_is_noticed(line):
    assert forbidden(line, "slanted.model")
    assert forbidden(line.replace("from ..", "from ..."), "slanted.solver.deeper")


def test_imports_that_go_down_are_none():
    assert not forbidden("from ..regions import Regions\nfrom . import energy", "slanted.model")
    assert not forbidden("from slanted import __version__\nimport slanted", "slanted.model")
    assert not forbidden("from .energy import energy as energy", "slanted.model")


def test_the_solver_knows_nothing_of_stereo():
    files = [file for file in sources() if file.is_relative_to(ROOT / "solver")]
    used = {name for file in files for name in packages(file.read_text("utf-8"), place_of(file))}
    assert used <= {"solver", "runtime", "errors"}


def test_functions_take_few_arguments():
    """But for kernels, commands, the front door, and its twin, which has OpenCV's arguments."""
    many = []
    for file in sources():
        if "kernel" in file.stem or file.is_relative_to(ROOT / "cli"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and "kernel" not in map(
                ast.unparse, node.decorator_list
            ):
                names = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > 8:
                    many.append(f"{place_of(file)}.{node.name}")
    assert many == ["slanted.opencv.create", "slanted.pipeline.estimate"]


def test_the_root_has_few_modules():
    assert len(list(ROOT.glob("*.py"))) <= 8


def test_contributing_shows_the_layers():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    picture = text.partition("```text\n")[2].partition("```")[0]
    shown = [tuple(line.split("  ")[0].split(", ")) for line in picture.splitlines()[::-1]]
    assert shown == list(LAYERS)


def test_tests_mirror_the_package():
    """A folder of tests is that of a package, and a file at the root that of a module."""
    folder = Path(__file__).parent
    packages = {file.parent.relative_to(ROOT) for file in ROOT.rglob("*.py")}
    tested = {file.parent.relative_to(folder) for file in folder.rglob("test_*.py")}
    assert {str(each) for each in tested - packages} == {"agreement", "benchmarks", "fuzz"}
    known = {place_of(file).split(".")[1] for file in sources()} | {
        "architecture",
        "calls",
        "docs",
        "doctests",
        "examples",
        "notebooks",
        "package",
        "workflows",
    }
    assert {file.stem.removeprefix("test_") for file in folder.glob("test_*.py")} <= known


def test_ci_names_tests_that_are_there():
    named = re.findall(r"\btests/[\w/.]+", (ROOT.parents[1] / ".ci" / "oldest").read_text("utf-8"))
    assert named
    assert all((ROOT.parents[1] / name).exists() for name in named)


def test_the_slowest_tests_are_files():
    """A file that gets another name would silently come late."""
    tests = Path(__file__).parent
    assert [name for name in SLOWEST if not (tests / name).is_file()] == []
    assert len(set(SLOWEST)) == len(SLOWEST)
