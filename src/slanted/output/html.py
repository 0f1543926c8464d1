"""HTML pages that hold all their pictures: one file that needs no network.

Reports of results, batches and experiments all have the layout of `report` and are built from these
pieces; each returns HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from slanted import __version__
from slanted.output.page_style import STYLE

PNG, JPEG = "image/png", "image/jpeg"
FEW_COLUMNS = 4
"""Tables with more become lists where the window is narrow."""


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole page of parts that are HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="slanted {__version__}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


@dataclass(frozen=True)
class Section:
    """A part of a report, with a heading of its own."""

    title: str
    anchor: str
    parts: Sequence[str]
    """HTML."""
    listed: bool = True
    """Whether the contents name it; not if a table of the page leads there."""
    is_page: bool = False
    """Whether it starts on a new page when printed."""

    def html(self) -> str:
        """Return the heading and the parts."""
        kind = _class("page" if self.is_page else "")
        return "\n".join(
            [f"<section{kind}>", heading(self.title, 2, self.anchor), *self.parts, "</section>"]
        )


def report(
    title: str, about: str, figures: Iterable[tuple[str, str]], sections: Sequence[Section]
) -> str:
    """Return a whole report: what it is of, its main figures, its contents and its sections.

    `figures` are names and values.
    """
    listed = [(each.anchor, each.title) for each in sections if each.listed]
    parts = [heading(title, 1), paragraph(about, "faint"), _figures(figures)]
    parts += [contents(listed)] if len(listed) > 2 else []
    return page(title, [*parts, *(each.html() for each in sections)])


def _figures(figures: Iterable[tuple[str, str]]) -> str:
    """Return names and values as tiles; what follows the number is set small."""
    tiles = []
    for name, value in figures:
        number, _, unit = value.partition(" ")
        small = f" <small>{escape(unit)}</small>" if unit else ""
        tiles.append(f"<div><dt>{escape(name)}</dt><dd>{escape(number)}{small}</dd></div>")
    return "\n".join(['<dl class="figures">', *tiles, "</dl>"]) if tiles else ""


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def heading(text: str, level: int = 2, anchor: str = "") -> str:
    """Return a heading; links to ``#anchor`` lead to it."""
    place = f' id="{escape(anchor)}"' if anchor else ""
    return f"<h{level}{place}>{escape(text)}</h{level}>"


def bullets(items: Iterable[str], kind: str = "") -> str:
    """Return a list of items of plain text, or `Html`."""
    lines = (f"<li>{_escaped(item)}</li>" for item in items)
    return f"<ul{_class(kind)}>\n" + "\n".join(lines) + "\n</ul>"


def grid(parts: Iterable[str], kind: str = "grid") -> str:
    """Return parts that are HTML, side by side where there is room; `kind` may be ``charts``."""
    return "\n".join([f"<div{_class(kind)}>", *parts, "</div>"])


def details(title: str, text: str) -> str:
    """Return plain text that opens with a click on its title."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def contents(links: Iterable[tuple[str, str]]) -> str:
    """Return links to anchors of the page, given as (anchor, text)."""
    lines = (f'<a href="#{escape(anchor)}">{escape(text)}</a>' for anchor, text in links)
    return "<nav>\n" + "\n".join(lines) + "\n</nav>"


class Html(str):
    """Text that is HTML already and is not escaped again."""


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    others: Iterable[int] = (),
    notes: Mapping[int, str] | None = None,
) -> str:
    """Return a table of plain text, or `Html`.

    The rows numbered in `others` are set in italics; `notes` are lines below rows, by their number.
    """
    aside, notes = set(others), notes or {}
    many = len(header) > FEW_COLUMNS
    names = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    kind = _class("many" if many else "")
    lines = [f'<div class="wide"><table{kind}><thead>', f"<tr>{names}</tr>", "</thead><tbody>"]
    for number, row in enumerate(rows):
        cells = "".join(map(_cell, row, header if many else [""] * len(row)))
        kinds = ["other"] * (number in aside) + ["said"] * (number in notes)
        lines.append(f"<tr{_class(' '.join(kinds))}>{cells}</tr>")
        if number in notes:
            note = _escaped(notes[number])
            lines.append(f'<tr class="note"><td colspan="{len(header)}">{note}</td></tr>')
    return "\n".join([*lines, "</tbody></table></div>"])


def _cell(content: str, column: str) -> str:
    """Return a cell; the name of its column is for windows too narrow for columns."""
    if content.startswith("<img") and isinstance(content, Html):
        return f'<td class="picture">{content}</td>'
    named = f' data-of="{escape(column)}"' if column and content else ""
    return f"<td{named}>{_escaped(content)}</td>"


def facts(lines: Iterable[tuple[str, str]]) -> str:
    """Return names and what there is to say on each, as a table without a header."""
    rows = (f"<tr><td>{escape(name)}</td><td>{_escaped(text)}</td></tr>" for name, text in lines)
    return "\n".join(['<table class="facts"><tbody>', *rows, "</tbody></table>"])


def chart(drawing: str, spoken: str, caption: str = "") -> str:
    """Return a chart, drawn as SVG, which follows the colours of the page.

    `spoken` is for readers who do not see it.
    """
    named = drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(spoken)}" ', 1)
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{named}{below}</figure>"


def picture(content: bytes, caption: str, kind: str = PNG) -> str:
    """Return an encoded image inside the page, with its caption."""
    shown = image(content, caption, kind)
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def image(content: bytes, caption: str, kind: str = PNG) -> Html:
    """Return an encoded image inside the page."""
    data = base64.b64encode(content).decode()
    return Html(f'<img src="data:{kind};base64,{data}" alt="{escape(caption)}">')


def link(address: str, text: str) -> Html:
    """Return a link to another page."""
    return Html(f'<a href="{escape(address)}">{escape(text)}</a>')


def marked(text: str, kind: str = "faint") -> Html:
    """Return a few words in the style ``true``, ``false``, ``unknown`` or ``faint``."""
    return Html(f"<span{_class(kind)}>{escape(text)}</span>")


def sentence(*parts: str) -> Html:
    """Return plain text and `Html` in a row."""
    return Html(" ".join(map(_escaped, parts)))


def _escaped(text: str) -> str:
    return text if isinstance(text, Html) else escape(text)


def _class(kind: str) -> str:
    return f' class="{escape(kind)}"' if kind else ""
