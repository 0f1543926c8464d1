"""The notebooks: their cells are run, and what they show becomes part of a page of the site.

The notebooks are kept without outputs. Here they are run in this process, as Jupyter would but
without its magics, which they do not use, so that neither the site nor the tests need Jupyter.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A cell after it has run."""

    source: str
    is_code: bool
    printed: str = ""
    value: Any = None
    """What its last line gives, if that is an expression."""


def run(notebook: str) -> Iterator[Cell]:
    """Run the cells of a notebook, given as JSON, one after the other in one set of names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(notebook)["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield Cell(source, is_code=False)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _value_of(source, names, f"cell {number}")
        yield Cell(source, True, printed.getvalue(), value)


def _value_of(source: str, names: dict[str, Any], place: str) -> Any:
    body = ast.parse(source, place).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), place, "exec"), names)
    return None if last is None else eval(compile(last, place, "eval"), names)


def as_markdown(notebook: str) -> str:
    """Return a notebook as Markdown: text, code, and what the code gave."""
    return "\n\n".join(part for cell in run(notebook) for part in _parts(cell)) + "\n"


def _parts(cell: Cell) -> Iterator[str]:
    if not cell.is_code:
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    if cell.printed:
        yield f"```text\n{cell.printed.rstrip()}\n```"
    if cell.value is not None:
        yield f"```{{raw}} html\n{as_html(cell.value)}\n```"


def as_html(value: Any) -> str:
    """Return what Jupyter would show of a value: its HTML, its picture, or else its text."""
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    for kind in ("jpeg", "png"):  # the smaller first
        if hasattr(value, f"_repr_{kind}_"):
            data = base64.b64encode(getattr(value, f"_repr_{kind}_")()).decode()
            return f'<p><img alt="" src="data:image/{kind};base64,{data}"></p>'
    return f"<pre>{escape(repr(value))}</pre>"
