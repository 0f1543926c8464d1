"""Which package may import which: every import, lazy ones and those for types included, goes down.

CONTRIBUTING.md shows the same layers as a picture.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import slanted

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
    ("tiles",),
    ("output",),
    ("result", "stages"),
    ("result_folder",),
    ("pipeline",),
    ("learning", "batch", "viewer"),
    ("research",),
    ("cli",),
    ("__main__",),
)
"""From the ground up: a package imports from layers below its own only, and from itself."""
STEREO = {"images", "partition", "matching", "segmentation", "regions", "model", "boundary_label"}
FOR_TYPES_ONLY = {("output", "result"), ("output", "result_folder")}
"""`Result.save` writes through `output`, whose functions name the type they are given."""


def imports(source: str) -> Iterator[tuple[str, bool]]:
    """Yield each module of slanted that a source imports, and whether only for its types."""
    tree = ast.parse(source)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body
        for inner in ast.walk(child)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "slanted":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "slanted"]
        elif isinstance(node, ast.Constant) and str(node.value).startswith("slanted."):
            names = [str(node.value)]  # modules that are named, to be imported when they are used
        else:
            continue
        yield from ((name, id(node) in for_types) for name in names)


def package(name: str) -> str:
    """Return the package of a dotted name, or "" for a name of slanted itself."""
    parts = name.split(".")[1:2]
    known = {entry for layer in LAYERS for entry in layer}
    return parts[0] if parts and parts[0] in known else ""


def home(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def forbidden(layers: tuple[tuple[str, ...], ...], package_name: str, source: str) -> list[str]:
    """Return the packages that a source must not import, as "user -> used"."""
    level = {entry: number for number, layer in enumerate(layers) for entry in layer}
    return [
        f"{package_name} -> {name}"
        for name, for_types in imports(source)
        if (used := package(name)) and used != package_name
        if level[used] >= level[package_name]
        and not (for_types and (package_name, used) in FOR_TYPES_ONLY)
    ]


def sources() -> list[Path]:
    return [file for file in sorted(ROOT.rglob("*.py")) if file != ROOT / "__init__.py"]


def test_imports_go_down_only():
    wrong = [
        f"{file.relative_to(ROOT)}: {each}"
        for file in sources()
        for each in forbidden(LAYERS, home(file), file.read_text("utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_package_has_a_layer():
    assert {home(file) for file in sources()} == {entry for layer in LAYERS for entry in layer}


@pytest.mark.parametrize(
    "line",
    [
        "from slanted.inference import pcbp",
        "def f():\n    from slanted.inference.pcbp import infer",
        "import slanted.pipeline",
        "HOMES = {'infer': 'slanted.inference.pcbp'}",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from slanted.result import Result",
    ],
)
def test_an_import_that_goes_up_is_noticed(line):
    assert forbidden(LAYERS, "model", line)
    assert not forbidden(LAYERS, "cli", line)


def test_the_solver_knows_nothing_of_stereo():
    used = {
        package(name)
        for file in (ROOT / "solver").glob("*.py")
        for name, _ in imports(file.read_text("utf-8"))
    }
    assert used <= {"solver", "runtime", "errors"}


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
    known = {home(file) for file in sources()} | {"architecture", "docs", "doctests", "examples"}
    assert {file.stem.removeprefix("test_") for file in folder.glob("test_*.py")} <= known
