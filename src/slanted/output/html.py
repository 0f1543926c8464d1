"""HTML pages that hold all their pictures: one file that needs no network.

Reports of results, batches and experiments are all built from these pieces; each returns HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from slanted import __version__

STYLE = """
:root { --ink: #1d2733; --faint: #5d6b7a; --line: #dfe4ea; --back: #ffffff; --soft: #f5f7f9;
        --link: #0b62a4; --good: #00755a; --bad: #b3400a; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 2rem 1.5rem 4rem; color: var(--ink);
       background: var(--back); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .5rem; padding-top: 1rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, ul, ol { max-width: 75ch; } ul.long { max-width: none; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(27rem, 100%), 1fr));
        gap: 0 1.6rem; }
section { break-before: page; }
a { color: var(--link); }
.faint { color: var(--faint); font-size: .88rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; margin: .5rem 0; }
th, td { padding: .28rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; font-variant-numeric: tabular-nums; }
th { white-space: normal; vertical-align: bottom; font-weight: 600;
     border-bottom: 2px solid var(--ink); }
th:first-child, td:first-child { text-align: left; }
td .prose { white-space: normal; text-align: left; min-width: 18rem; }
tr.other td { color: var(--faint); font-style: italic; }
tbody tr:hover td { background: var(--soft); }
figure { margin: 1.2rem 0; }
figure img, figure svg { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--faint); font-size: .88rem; margin-top: .3rem; }
nav { background: var(--soft); padding: .8rem 1.2rem; margin: 1.5rem 0; columns: 16rem; }
nav a { display: block; text-decoration: none; padding: .1rem 0; }
.true { color: var(--good); font-weight: 600; } .false { color: var(--bad); font-weight: 600; }
.unknown { color: var(--faint); font-weight: 600; }
pre { background: var(--soft); padding: .8rem 1rem; overflow-x: auto; font-size: .82rem; }
details summary { cursor: pointer; }
@media print { body { max-width: none; } h2 { break-after: avoid; }
               figure { break-inside: avoid; } }
"""

PNG, JPEG, SVG = "image/png", "image/jpeg", "image/svg+xml"


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


def grid(parts: Iterable[str]) -> str:
    """Return parts that are HTML, side by side where there is room."""
    return "\n".join(['<div class="grid">', *parts, "</div>"])


def section(parts: Iterable[str]) -> str:
    """Return parts that are HTML, which start on a new page when printed."""
    return "\n".join(["<section>", *parts, "</section>"])


def details(title: str, text: str) -> str:
    """Return plain text that opens with a click on its title."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def contents(links: Iterable[tuple[str, str]]) -> str:
    """Return links to anchors of the page, given as (anchor, text)."""
    lines = (f'<a href="#{escape(anchor)}">{escape(text)}</a>' for anchor, text in links)
    return "<nav>\n" + "\n".join(lines) + "\n</nav>"


class Html(str):
    """Text that is HTML already and is not escaped again."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]], others: Iterable[int] = ()) -> str:
    """Return a table of plain text, or `Html`; the rows numbered in `others` are set in italics."""
    aside = set(others)
    names = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = ['<div class="wide"><table><thead>', f"<tr>{names}</tr>", "</thead><tbody>"]
    for number, row in enumerate(rows):
        cells = "".join(f"<td>{_escaped(cell)}</td>" for cell in row)
        lines.append(f"<tr{_class('other' if number in aside else '')}>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table></div>"])


def picture(content: bytes, caption: str, kind: str = PNG) -> str:
    """Return an encoded image inside the page, with its caption."""
    shown = image(content, caption, kind)
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def image(content: bytes, caption: str, kind: str = PNG) -> Html:
    """Return an encoded image inside the page."""
    data = base64.b64encode(content).decode()
    return Html(f'<img src="data:{kind};base64,{data}" alt="{escape(caption)}">')


def prose(text: str) -> Html:
    """Return a cell of sentences, which may be broken into lines."""
    return Html(f'<div class="prose">{escape(text)}</div>')


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
