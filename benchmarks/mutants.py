"""Mutation testing: small faults in the core of the model must make a test fail.

python benchmarks/mutants.py [--each 24] [--seed 0] [--only junctions]

It draws faults at random (another comparison, another operator, another number, a statement left
out, a negated condition, another label in the junction tables), runs the tests of that module
with each, and prints which survived. Kernels run as plain Python (``NUMBA_DISABLE_JIT``), so
nothing is compiled, and a fault lives in the memory of one process: no file changes. Mutants
equivalent to the original are listed in `EQUIVALENT` with the reason.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

from common import ROOT, options, say

os.environ |= {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

SECONDS = 120
MESSAGES = (
    "tests/solver/test_messages.py",
    # The same updates again, on fifty graphs: minutes in plain Python.
    "--deselect=tests/solver/test_messages.py::test_no_block_update_lowers_the_dual",
)
TESTS: dict[str, tuple[str, ...]] = {
    "slanted.model.potentials": ("tests/model/test_potentials.py",),
    "slanted.model.junctions": ("tests/model/test_junctions.py",),
    "slanted.model.compatibility_kernels": (
        "tests/model/test_potentials.py",
        "tests/model/test_energy.py::test_equals_the_factor_graph",
    ),
    "slanted.solver.node_kernels": MESSAGES,
    "slanted.solver.label_kernels": MESSAGES,
}
EQUIVALENT = {
    "potentials: moments = np.zeros((regions.number_of_edges, 2, 5)): 2: + 1": (
        "room for a third set of moments, which nobody reads"
    ),
    (
        "node_kernels: largest = max(largest, start[v + 1] - start[v]): "
        "start[v + 1] - start[v]: Add"
    ): "room for more messages, which nobody reads",
}
"""Mutants equivalent to the original, by module, code and fault, with the reason."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
}  # fmt: skip
OPERATORS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
}  # fmt: skip
LABELS = {"co": "hi", "hi": "lo", "lo": "ro", "ro": "co"}


@dataclass(frozen=True)
class Mutant:
    """A fault: the module, where, what, and a function that gives the module's tree with it."""

    module: str
    line: int
    code: str
    what: str
    make_tree: Callable[[], ast.Module]

    def __str__(self) -> str:
        return f"{self.module.rpartition('.')[2]}:{self.line}: {self.what}"

    @property
    def key(self) -> str:
        """What stays the same when lines are added above."""
        return f"{self.module.rpartition('.')[2]}: {self.code}: {self.what}"


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield all faults of a module."""
    tree, lines = ast.parse(source), source.splitlines()
    for number, node in enumerate(_of_code(tree)):
        for what, change in _changes(node):
            line = getattr(node, "lineno", 1)
            make_tree = partial(_mutated, tree, number, change)
            yield Mutant(module, line, lines[line - 1].strip(), what, make_tree)


def _mutated(tree: ast.Module, number: int, change: Callable[[ast.AST], None]) -> ast.Module:
    mutated = copy.deepcopy(tree)
    change(list(_of_code(mutated))[number])
    return ast.fix_missing_locations(mutated)


def _of_code(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk executable code: no annotations, docstrings, decorators, imports or error messages."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(
                child, ast.Import | ast.ImportFrom | ast.Raise | ast.arguments
            ):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            yield child
            yield from _of_code(child)


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield what can be done to a node: a description, and a function that does it in place."""
    before = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
    before = before.splitlines()[0][:70] if before else ""
    if isinstance(node, ast.IfExp) and _is_choice(node):
        node.test.is_choice = True  # type: ignore[attr-defined]
    if isinstance(node, ast.Compare):
        for other in _other_comparisons(node):
            yield f"{before}: {other.__name__}", lambda n, o=other: n.ops.__setitem__(0, o())
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        for other in OPERATORS[type(node.op)]:
            yield f"{before}: {other.__name__}", lambda n, o=other: setattr(n, "op", o())
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield f"{before}: + 1", lambda n: setattr(n, "value", n.value + 1)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for place, word in enumerate(node.value.split()):
            if word.strip(",") in LABELS:
                yield f"{before}: word {place}", lambda n, p=place: _relabel(n, p)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield f"{before}: no minus", lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.If | ast.IfExp):
        yield f"if {ast.unparse(node.test)[:60]}: turned round", _turn
    if isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield f"{before}: left out", _leave_out


def _other_comparisons(node: ast.Compare) -> list[type[ast.cmpop]]:
    others = COMPARISONS.get(type(node.ops[0]), ())
    ties = (ast.LtE, ast.GtE) if hasattr(node, "is_choice") else ()
    return [other for other in others if other not in ties]


def _is_choice(node: ast.IfExp) -> bool:
    """Recognise ``a if a < b else b``, where equal values make either branch right."""
    test = node.test
    if not isinstance(test, ast.Compare):
        return False
    sides = {ast.dump(test.left), ast.dump(test.comparators[0])}
    return sides == {ast.dump(node.body), ast.dump(node.orelse)}


def _relabel(node: ast.Constant, place: int) -> None:
    words = node.value.split()
    word = words[place]
    words[place] = word.replace(word[:2], LABELS[word[:2]])
    node.value = " ".join(words)


def _turn(node: ast.If | ast.IfExp) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _leave_out(node: ast.Expr | ast.AugAssign) -> None:
    # Replaced by a statement without effect, because its parent's list is not available here.
    node.__class__ = ast.Expr
    node._fields = ("value",)
    node.value = ast.Constant(None)


def passes(module: str, mutant: Mutant | None) -> bool:
    """Run the tests of a module in a process of its own, with a fault or without."""
    child = os.fork()
    if child == 0:
        _run_tests(module, mutant)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _run_tests(module: str, mutant: Mutant | None) -> None:
    import hypothesis
    import pytest

    # A fault may loop forever; the system then kills the process by its CPU time.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    # The first failure is enough; Hypothesis would search for the smallest.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutants")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    # Hypothesis was imported before pytest could rewrite it; its assertions are not ours.
    early = "ignore::pytest.PytestAssertRewriteWarning"
    chosen = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-W", early)
    os._exit(int(pytest.main([*TESTS[module], *chosen])))


class _Finder:
    """Imports the faulty module in place of the original."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_loader(name, self, origin=str(_source(name)))

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(_source(self.mutant.module))
        exec(compile(self.mutant.make_tree(), module.__file__, "exec"), module.__dict__)


def _source(module: str) -> Path:
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def main() -> int:
    """Draw mutants, run them, and print the share that was killed."""
    smoke = {"each": 1, "only": "junctions"}
    arguments = options(__doc__, smoke, each=24, seed=0, only="")
    sys.path.insert(0, str(ROOT / "src"))
    _warm_up()
    draw = random.Random(arguments.seed)
    drawn = []
    for module in TESTS:
        everything = list(mutants_of(module, _source(module).read_text()))
        sample = draw.sample(everything, min(arguments.each, len(everything)))
        if arguments.only in module:
            say(f"{module}: {len(sample)} of {len(everything)} mutants")
            drawn.append(sample)
            if not passes(module, None):
                say(f"the tests of {module} fail without a fault")
                return 1
    # Module after module in turn: a run that is cut short is a sample of all of them too.
    killed = total = 0
    for mutant in (m for turn in zip_longest(*drawn) for m in turn if m is not None):
        if mutant.key in EQUIVALENT:
            say(f"equivalent {mutant}: {EQUIVALENT[mutant.key]}")
            continue
        lives = passes(mutant.module, mutant)
        total, killed = total + 1, killed + (not lives)
        say(f"{'SURVIVED' if lives else 'killed'} {mutant}")
    say(f"{killed} of {total} killed, {100 * killed / max(total, 1):.1f} %")
    return 0


def _warm_up() -> None:
    """Import what all children need, but nothing of slanted."""
    import hypothesis.extra.numpy  # noqa: F401
    import numba  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize  # noqa: F401


if __name__ == "__main__":
    sys.exit(main())
