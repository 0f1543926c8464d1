"""The look of pages: light and dark, wide and narrow, on screens and on paper."""

from __future__ import annotations

from slanted.output.palette import DARK, FAINT, INK, PAPER

_STYLE = f"""
:root {{ color-scheme: light dark; --ink: {INK}; --faint: #5d6b7a; --line: {FAINT};
        --back: {PAPER}; --soft: #f5f7f9; --link: #0b62a4; --good: #00755a; --bad: #b3400a; }}
"""
_DARK = f"""
:root {{ --ink: {DARK[INK]}; --faint: #98a4b1; --line: {DARK[FAINT]}; --back: {DARK[PAPER]};
        --soft: #1e242b; --link: #6cb6f5; --good: #3fc79f; --bad: #f0905f; }}
"""
_PARTS = """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1330px; padding: 2rem 1.5rem 4rem; color: var(--ink);
       background: var(--back); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
       overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; padding-top: 1rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, ul, ol { max-width: 75ch; } ul.long { max-width: none; padding-left: 1.2rem; }
a { color: var(--link); }
.faint { color: var(--faint); font-size: .88rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr));
           gap: .7rem; margin: 1.2rem 0; }
.figures div { background: var(--soft); border-radius: .4rem; padding: .5rem .8rem; }
.figures dt { color: var(--faint); font-size: .8rem; }
.figures dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.figures small { font-size: .8rem; color: var(--faint); }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(27rem, 100%), 1fr));
        gap: 0 1.6rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(23rem, 100%), 1fr));
          gap: 0 1.6rem; align-items: start; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; margin: .5rem 0; max-width: 100%; }
th, td { padding: .28rem .45rem; text-align: right; border-bottom: 1px solid var(--line);
         font-variant-numeric: tabular-nums; }
td { white-space: nowrap; }
th { vertical-align: bottom; font-weight: 600; border-bottom: 2px solid var(--ink); }
th:first-child, td:first-child { text-align: left; white-space: normal; }
table.many td:first-child { overflow-wrap: anywhere; min-width: 7rem; }
table.facts td { text-align: left; white-space: normal; vertical-align: top; }
table.facts td:first-child { color: var(--faint); white-space: nowrap; }
td img { display: block; width: 9.5rem; height: auto; }
tr.said td { border-bottom: 0; }
tr.note td { white-space: normal; text-align: left; padding-top: 0; color: var(--bad);
             overflow-wrap: anywhere; }
tr.other td { color: var(--faint); font-style: italic; }
tbody tr:hover td { background: var(--soft); }
figure { margin: 1.2rem 0; min-width: 0; }
figure img, figure svg { max-width: 100%; height: auto; display: block; }
figure svg { width: 30rem; }
figcaption { color: var(--faint); font-size: .88rem; margin-top: .3rem; }
nav { background: var(--soft); border-radius: .4rem; padding: .5rem .8rem; margin: 1.2rem 0; }
nav a { display: inline-block; text-decoration: none; padding: .2rem .9rem .2rem 0; }
.true { color: var(--good); font-weight: 600; } .false { color: var(--bad); font-weight: 600; }
.unknown { color: var(--faint); font-weight: 600; }
pre { background: var(--soft); padding: .8rem 1rem; overflow-x: auto; font-size: .82rem; }
details summary { cursor: pointer; }
"""
_STACKED = """
  body { padding: 1.2rem 1rem 3rem; } h1 { font-size: 1.5rem; }
  table.many, table.many tbody { display: block; }
  table.many thead { display: none; }
  table.many tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.2rem, 1fr));
                  gap: 0 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  table.many td { display: flex; justify-content: space-between; gap: .6rem; padding: .1rem 0;
                  border: 0; min-width: 0; white-space: normal; }
  table.many td:first-child { grid-column: 1 / -1; font-weight: 600; }
  table.many td:empty { display: none; }
  table.many td[data-of]::before { content: attr(data-of); color: var(--faint); text-align: left;
                                   font-style: normal; font-weight: 400; }
  table.many td:first-child::before { content: none; }
  table.many td.picture { grid-column: 1 / -1; } td.picture img { width: 100%; }
  table.many tr.said { border-bottom: 0; padding-bottom: 0; }
  table.many tr.note td { grid-column: 1 / -1; font-weight: 400; }
  table.facts td, table.facts tr { display: block; border: 0; padding: 0; }
  table.facts tr { padding: .3rem 0; border-bottom: 1px solid var(--line); }
"""
_PRINT = """
@page { margin: 12mm; }
html { font-size: 10px; } body { max-width: none; padding: 0; font-size: 1rem; }
h2 { break-after: avoid; } section + section.page { break-before: page; }
figure, tr, .figures div { break-inside: avoid; }
.grid { grid-template-columns: 1fr 1fr; } .charts { grid-template-columns: 1fr 1fr 1fr; }
.figures { grid-template-columns: repeat(8, 1fr); } .figures dd { font-size: 1.1rem; }
.figures div { padding: .3rem .5rem; } .figures dt, .figures small { font-size: .75rem; }
table { font-size: .8rem; } th, td { padding: .15rem .25rem; } td img { width: 6rem; }
table.many td:first-child { min-width: 0; }
nav { display: none; } a { color: inherit; text-decoration: none; }
"""
NARROW = 1020
"""Width of a window, in pixels, below which the rows of tables with many columns become lists."""


def _charts_in_the_dark() -> str:
    """Return rules for the colours of charts, which are drawn for white paper."""
    rules = (
        f'svg [fill="{light}"] {{ fill: {dark}; }} svg [stroke="{light}"] {{ stroke: {dark}; }}'
        for light, dark in DARK.items()
    )
    return "\n".join(rules)


STYLE = (
    f"{_STYLE}@media screen and (prefers-color-scheme: dark) {{{_DARK}{_charts_in_the_dark()}\n}}"
    f"{_PARTS}@media screen and (max-width: {NARROW}px) {{{_STACKED}}}\n@media print {{{_PRINT}}}\n"
)
"""Everything, for the head of a page."""
