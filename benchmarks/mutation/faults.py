"""The faults that mutation testing puts into a module, one at a time.

They are those of a slip of the pen: another comparison, operator or number, min for max, and for
or, a condition turned round, two arguments swapped, a statement left out, a default changed,
another label in a junction table. Code that only speaks to people is left alone: docstrings,
annotations and messages of errors.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

Change = Callable[[Any], None]
"""Puts a fault into a node, in place."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
OPERATORS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
}  # fmt: skip
_PAIRS = (
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("fmin", "fmax"),
    ("any", "all"), ("floor", "ceil"), ("zeros", "ones"), ("isfinite", "isnan"),
)  # fmt: skip
NAMES = dict(_PAIRS) | {b: a for a, b in _PAIRS}
LABELS = {"co": "hi", "hi": "lo", "lo": "ro", "ro": "co"}
SYMMETRIC = {*NAMES, "array_equal", "hypot", "isclose", "logical_and", "logical_or"}
"""Functions whose arguments may be swapped."""
SILENT = ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr | ast.arg
"""What is not executed, or only told to people."""


@dataclass(frozen=True)
class Fault:
    """A fault: the module, where, what, and a function that gives the module's tree with it."""

    module: str
    line: int
    key: str
    """Module, code and fault: what stays the same when lines are added above."""
    in_kernel: bool
    make_tree: Callable[[], ast.Module]

    @property
    def package(self) -> str:
        """The package inside slanted."""
        return self.module.split(".")[1]


def faults_of(module: str, source: str) -> Iterator[Fault]:
    """Yield all faults of a module."""
    tree, lines, seen = ast.parse(source), source.splitlines(), Counter[str]()
    kernels = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _is_kernel(n)]
    inside = {line for n in kernels for line in range(n.lineno, (n.end_lineno or 0) + 1)}
    for number, node in enumerate(_of_code(tree)):
        line = getattr(node, "lineno", 0)
        for what, change in changes(node):
            key = f"{module.partition('.')[2]}: {lines[line - 1].strip()}: {what}"
            seen[key] += 1
            if seen[key] > 1:
                key = f"{key} ({seen[key]})"
            make_tree = partial(_mutated, tree, number, change)
            yield Fault(module, line, key, line in inside, make_tree)


def _is_kernel(node: ast.FunctionDef) -> bool:
    names = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(isinstance(name, ast.Name) and name.id == "kernel" for name in names)


def _mutated(tree: ast.Module, number: int, change: Change) -> ast.Module:
    mutated = copy.deepcopy(tree)
    change(list(_of_code(mutated))[number])
    return ast.fix_missing_locations(mutated)


def _of_code(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk executable code: no annotations, docstrings, decorators, imports or messages."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, SILENT) or _is_talk(child):
                continue
            yield child
            yield from _of_code(child)


def _is_talk(node: ast.AST) -> bool:
    """Recognise docstrings, type aliases and ``if TYPE_CHECKING``."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        name = ast.unparse(node.value.value)
        return name.rpartition(".")[2] in (
            "Callable",
            "Literal",
            "NDArray",
            "list",
            "dict",
            "tuple",
        )
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield what can be done to a node: a description, and a function that does it in place."""
    before = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
    before = before.splitlines()[0][:70] if before else ""
    for part in (_operators, _numbers, _names, _conditions, _statements):
        for what, change in part(node):
            yield f"{before}: {what}", change


def _operators(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.IfExp) and _is_choice(node):
        node.test.is_choice = True  # type: ignore[attr-defined]
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                if not (hasattr(node, "is_choice") and _differ_by_equality(operator, other)):
                    where = f" at {place}" if place else ""
                    yield other.__name__ + where, partial(_compare, place=place, other=other)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for other in OPERATORS.get(type(node.op), ()):
            yield other.__name__, partial(_operate, other=other)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "no minus", partial(_operate, other=ast.UAdd)


def _is_choice(node: ast.IfExp) -> bool:
    """Recognise ``a if a < b else b``, where equal values make either branch right."""
    test = node.test
    if not isinstance(test, ast.Compare):
        return False
    sides = {ast.dump(test.left), ast.dump(test.comparators[0])}
    return sides == {ast.dump(node.body), ast.dump(node.orelse)}


def _differ_by_equality(one: ast.cmpop, other: type[ast.cmpop]) -> bool:
    return {type(one), other} in ({ast.Lt, ast.LtE}, {ast.Gt, ast.GtE})


def _compare(node: ast.Compare, place: int, other: type[ast.cmpop]) -> None:
    node.ops[place] = other()


def _operate(node: Any, other: type[ast.AST]) -> None:
    node.op = other()


def _numbers(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield "turned round", partial(_set_value, value=not node.value)
    elif isinstance(node.value, int | float):
        yield "+ 1", partial(_set_value, value=node.value + 1)
        if isinstance(node.value, int) and node.value > 0:
            yield "- 1", partial(_set_value, value=node.value - 1)
    elif isinstance(node.value, str):
        for place, word in enumerate(node.value.split()):
            if word.strip(",") in LABELS:
                yield f"word {place}", partial(_relabel, place=place)


def _set_value(node: ast.Constant, value: float) -> None:
    node.value = value


def _relabel(node: ast.Constant, place: int) -> None:
    words = str(node.value).split()
    words[place] = words[place].replace(words[place][:2], LABELS[words[place][:2]])
    node.value = " ".join(words)


def _names(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in NAMES:
        yield NAMES[name], partial(_rename, name=NAMES[name])
    first = [argument for argument in node.args[:2] if not isinstance(argument, ast.Starred)]
    fixed = name in {*SYMMETRIC, "isinstance", "replace"} or len(first) < 2
    if not fixed and ast.dump(first[0]) != ast.dump(first[1]):
        yield "arguments swapped", _swap


def _rename(node: ast.Call, name: str) -> None:
    if isinstance(node.func, ast.Name):
        node.func.id = name
    elif isinstance(node.func, ast.Attribute):
        node.func.attr = name


def _swap(node: ast.Call) -> None:
    node.args[:2] = node.args[1::-1]


def _conditions(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield other.__name__, partial(_operate, other=other)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield f"{ast.unparse(node.test)[:60]} turned round", _turn


def _turn(node: ast.If | ast.IfExp | ast.While) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _statements(node: ast.AST) -> Iterator[tuple[str, Change]]:
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or isinstance(node, ast.AugAssign | ast.Continue | ast.Break):
        yield "left out", _leave_out


def _leave_out(node: ast.stmt) -> None:
    # Replaced by a statement without effect, because its parent's list is not available here.
    node.__class__ = ast.Expr
    node._fields = ("value",)
    node.value = ast.Constant(None)  # type: ignore[attr-defined]
