"""What an experiment came to, as a page, as files, and as a part of a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from slanted.errors import InputError
from slanted.io.files import write_bytes
from slanted.output import html
from slanted.output.plots import Chart, draw_svg
from slanted.research.experiments.tables import Table

OWN = (".csv", ".svg", ".jpg")
"""Files that an experiment writes beside its page."""


@dataclass(frozen=True)
class Finding:
    """Something the paper found, and whether we find it too.

    Parameters
    ----------
    statement
        In one sentence.
    holds
        None if what it needs is missing.
    evidence
        The figures that decide.
    """

    statement: str
    holds: bool | None
    evidence: str

    @property
    def verdict(self) -> str:
        """Return whether it holds, in a word."""
        return {True: "true", False: "false", None: "not known"}[self.holds]


@dataclass(frozen=True)
class Picture:
    """An encoded image and what it shows."""

    content: bytes
    caption: str
    suffix: str = ".jpg"


@dataclass(frozen=True)
class Outcome:
    """What an experiment came to.

    Parameters
    ----------
    name, shows
        The experiment, and a sentence on what it shows.
    tables, charts, pictures
        By the names of their files, without that of the experiment.
    findings
        Checks of what the paper says.
    missing
        What could not be measured, and why, a sentence each.
    """

    name: str
    shows: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: Mapping[str, Chart] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()

    def drawn(self) -> tuple[dict[str, str], list[str]]:
        """Return the charts as SVG, and why there are none if so."""
        try:
            return {key: draw_svg(chart) for key, chart in self.charts.items()}, []
        except InputError as error:
            return {}, [str(error)]

    def markdown(self, folder: str = "") -> str:
        """Return all as a page whose pictures are in a folder."""
        drawn, undrawn = self.drawn()
        parts = [f"## {self.name}", self.shows, *(t.markdown() for t in self.tables.values())]
        parts += [f"![{self.charts[k].title}]({folder}{self.name}-{k}.svg)" for k in drawn]
        for key, picture in self.pictures.items():
            parts.append(f"![{picture.caption}]({folder}{self.name}-{key}{picture.suffix})")
            parts.append(picture.caption)
        if self.findings:
            parts.append(
                "\n".join(f"- {f.statement} **{f.verdict}** ({f.evidence})" for f in self.findings)
            )
        missing = [*self.missing, *undrawn]
        if missing:
            parts += ["Missing:", "\n".join(f"- {sentence}" for sentence in missing)]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def html(self) -> str:
        """Return all as a part of a page."""
        drawn, undrawn = self.drawn()
        parts = [html.heading(self.name, 2, self.name), html.paragraph(self.shows)]
        parts += [table.html() for table in self.tables.values()]
        parts += [
            html.picture(svg.encode(), self.charts[key].title, html.SVG)
            for key, svg in drawn.items()
        ]
        parts += [html.picture(p.content, p.caption, html.JPEG) for p in self.pictures.values()]
        if self.findings:
            parts += [html.heading("Findings", 3), findings_html(self.findings)]
        missing = [*self.missing, *undrawn]
        if missing:
            parts += [html.heading("Missing", 3), html.bullets(map(escape, missing))]
        return "\n".join(parts)

    def write(self, folder: Path, origin: Mapping[str, str]) -> list[Path]:
        """Write the page, its tables and pictures, and JSON; return their paths.

        Parameters
        ----------
        folder
            Where to.
        origin
            Of the figures, from `slanted.research.experiments.provenance`.
        """
        content = {
            "experiment": self.name,
            "origin": dict(origin),
            "shows": self.shows,
            "tables": {key: table.as_dict() for key, table in self.tables.items()},
            "findings": [
                {"statement": f.statement, "holds": f.holds, "evidence": f.evidence}
                for f in self.findings
            ],
            "missing": list(self.missing),
        }
        files = {
            folder / f"{self.name}.md": f"{self.markdown()}\n{origin_text(origin)}\n".encode(),
            folder / f"{self.name}.json": json.dumps(content, indent=1).encode(),
        }
        files |= {
            folder / f"{self.name}-{key}.csv": table.csv().encode()
            for key, table in self.tables.items()
        }
        files |= self.images(folder)
        for old in folder.glob(f"{self.name}-*"):  # of a run on other data
            if old not in files and old.suffix in OWN:
                old.unlink()
        for file, data in files.items():
            write_bytes(file, data)
        return list(files)

    def images(self, folder: Path) -> dict[Path, bytes]:
        """Return plots and pictures by where they go in a folder."""
        drawn, _ = self.drawn()
        files = {folder / f"{self.name}-{key}.svg": svg.encode() for key, svg in drawn.items()}
        return files | {
            folder / f"{self.name}-{key}{picture.suffix}": picture.content
            for key, picture in self.pictures.items()
        }


def origin_text(origin: Mapping[str, str]) -> str:
    """Return where figures come from, in a line."""
    return ", ".join(f"{name} {value}" for name, value in origin.items())


def findings_html(findings: tuple[Finding, ...]) -> str:
    """Return a list of findings with their verdicts."""
    kinds = {True: "true", False: "false", None: "unknown"}
    lines = [
        f"{escape(f.statement)} {html.marked(f.verdict, kinds[f.holds])} "
        f"{html.marked(f'({f.evidence})', 'faint')}"
        for f in findings
    ]
    return html.bullets(lines, "long")
