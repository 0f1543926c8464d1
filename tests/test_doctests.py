"""Examples in docstrings: they run and give what they say, and public names have one."""

import doctest
import re
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import pytest

import slanted

ROOT = Path(slanted.__file__).parent
API = Path(__file__).parents[1] / "docs" / "api.md"
SOURCES = {
    ".".join(("slanted", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): file
    for file in sorted(ROOT.rglob("*.py"))
}
WITH_EXAMPLES = [name for name, file in SOURCES.items() if ">>> " in file.read_text("utf-8")]
DOCUMENTED = re.findall(
    r"^\.\. auto(?:function|class):: (\S+)", API.read_text("utf-8"), re.MULTILINE
)
PUBLIC = [f"slanted.{name}" for name in slanted.__all__ if name != "__version__"]
STILL_WITHOUT = {
    "slanted.batch.pairs.find_pairs",
    "slanted.batch.run.run_batch",
    "slanted.evaluation.datasets.find_frames",
    "slanted.inference.pcbp.Inference",
    "slanted.inference.pcbp.Iteration",
    "slanted.inference.pcbp.Snapshot",
    "slanted.matching.DisparityRange",
    "slanted.matching.interpolation.interpolate_background",
    "slanted.matching.match",
    "slanted.model.build.build_factor_graph",
    "slanted.model.energy.Energies",
    "slanted.model.energy.energy",
    "slanted.model.observations.observe",
    "slanted.output.export.Exportable",
    "slanted.output.export.export",
    "slanted.output.mesh.PlaneMesh",
    "slanted.output.mesh.mesh_of",
    "slanted.pipeline.match_pair",
    "slanted.pipeline.reestimate",
    "slanted.regions.build_regions",
    "slanted.regions.structure.Regions",
    "slanted.research.methods.evaluate_frames",
    "slanted.segmentation.segment",
    "slanted.solver.convex_bp.Solution",
    "slanted.solver.convex_bp.solve",
}
"""Names of docs/api.md whose docstring has no example yet. This list may only become shorter."""


@pytest.mark.parametrize("module", WITH_EXAMPLES)
@pytest.mark.usefixtures("own_matchers")
def test_examples_give_what_they_say(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "+SKIP" not in SOURCES[module].read_text("utf-8")
    outcome = doctest.testmod(import_module(module), optionflags=doctest.ELLIPSIS)
    assert outcome.attempted
    assert not outcome.failed


def named(path):
    """The object that a dotted name of the reference stands for."""
    home, _, name = path.rpartition(".")
    return getattr(import_module(home), name)


@pytest.mark.parametrize("name", sorted({*DOCUMENTED, *PUBLIC, "slanted.Result"}))
def test_public_names_have_an_example(name):
    has_one = "Examples\n--------\n" in (getdoc(named(name)) or "")
    assert has_one == (name not in STILL_WITHOUT)


@pytest.mark.parametrize("method", ["save", "load"])
def test_results_show_how_they_are_kept(method):
    assert "Examples\n--------\n" in getdoc(getattr(slanted.Result, method))
