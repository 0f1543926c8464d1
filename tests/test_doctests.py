"""Examples in docstrings: they run and give what they say, and public names have one."""

import doctest
import re
from importlib import import_module
from inspect import getdoc, isfunction
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


def needs_example(name):
    """Functions of the reference do, and all of `slanted`; data classes come out of functions."""
    return name in PUBLIC or isfunction(named(name))


@pytest.mark.parametrize("name", sorted(filter(needs_example, {*DOCUMENTED, *PUBLIC})))
def test_public_names_have_an_example(name):
    assert "Examples\n--------\n" in (getdoc(named(name)) or "")


@pytest.mark.parametrize("method", ["save", "load", "calibrated", "depth", "points", "mesh"])
def test_results_show_how_they_are_used(method):
    assert "Examples\n--------\n" in getdoc(getattr(slanted.Result, method))
