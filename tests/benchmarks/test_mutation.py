"""Mutation testing: what the faults are, and that the list of explained ones is up to date."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not shipped")


@pytest.fixture
def faults_of(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from mutation.faults import faults_of

    yield faults_of
    for name in [name for name in sys.modules if name.split(".")[0] == "mutation"]:
        del sys.modules[name]


CASES = {
    "a < b": {"a <= b", "a > b"},
    "0 <= a < b": {"0 < a < b", "0 >= a < b", "0 <= a <= b", "0 <= a > b", "1 <= a < b"},
    "a is None": {"a is not None"},
    "a in b": {"a not in b"},
    "a and b": {"a or b"},
    "a - b": {"a + b"},
    "-a": {"+a"},
    "a[3]": {"a[4]", "a[2]"},
    "a[0.5]": {"a[1.5]"},
    "min(a, b)": {"max(a, b)"},
    "a.argmin()": {"a.argmax()"},
    "f(a, b)": {"f(b, a)"},
    "f(a, x=True)": {"f(a, x=False)"},
    "a if b else c": {"a if not b else c"},
    "a if a < b else b": {"a if not a < b else b", "a if a > b else b"},
    "'lo hi ro'": {"'ro hi ro'", "'lo lo ro'", "'lo hi co'"},
}


@pytest.mark.parametrize("code", CASES)
def test_each_expression_has_its_faults(code, faults_of):
    found = {ast.unparse(fault.make_tree()) for fault in faults_of("slanted.x", f"y = {code}")}
    assert found == {ast.unparse(ast.parse(f"y = {other}")) for other in CASES[code]}


def test_statements_and_defaults_have_faults(faults_of):
    source = "def f(a=1):\n    for x in a:\n        b += x\n        g()\n        break"
    found = {ast.unparse(fault.make_tree()) for fault in faults_of("slanted.x", source)}
    assert found == {
        source.replace("a=1", "a=2"),
        source.replace("a=1", "a=0"),
        source.replace("b += x", "b -= x"),
        source.replace("b += x", "None"),
        source.replace("g()", "None"),
        source.replace("break", "None"),
    }


def test_what_is_told_to_people_is_left_alone(faults_of):
    source = '''"""Is a < 1."""
import a
from typing import TYPE_CHECKING, Literal
if TYPE_CHECKING:
    import b
Size = Literal[1, 2]
def f(x: Literal[3]) -> Literal[4]:
    """Return 5."""
    raise ValueError(f"{x + 1} < 6")
'''
    assert not list(faults_of("slanted.x", source))


def test_keys_tell_faults_apart_and_lines_above_do_not_matter(faults_of):
    source = "def f(a):\n    b = a + 1\n    b = a + 1\n"
    keys = [fault.key for fault in faults_of("slanted.x.y", source)]
    assert len(set(keys)) == len(keys) == 6
    assert keys == [fault.key for fault in faults_of("slanted.x.y", "import c\n\n" + source)]


def test_explained_faults_are_those_of_the_code_and_in_the_page(faults_of):
    explained = tomllib.loads((FOLDER / "mutation" / "explained.toml").read_text("utf-8"))
    for package, reasons in explained.items():
        files = sorted((ROOT / "src" / "slanted" / package).glob("*.py"))
        known = {
            fault.key
            for file in files
            for fault in faults_of(f"slanted.{package}.{file.stem}", file.read_text("utf-8"))
        }
        assert not set(reasons) - known, "code that has changed: explain it anew, or remove it"
        assert all(reason.strip() for reason in reasons.values())
