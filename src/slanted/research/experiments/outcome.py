"""The outcome of an experiment: as a page, as files, and as a part of a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from slanted.io.files import write_bytes
from slanted.output import html
from slanted.output.chart_drawing import PAGE, draw_svg
from slanted.output.charts import Chart
from slanted.research.experiments.tables import Table

OWN = (".csv", ".svg", ".jpg")
"""Files that an experiment writes beside its page."""


@dataclass(frozen=True)
class Finding:
    """A statement, whether it holds (None if unknown), and the numbers that decide."""

    statement: str
    holds: bool | None
    evidence: str

    @property
    def verdict(self) -> str:
        """Return in one word whether it holds."""
        return {True: "true", False: "false", None: "not known"}[self.holds]


@dataclass(frozen=True)
class Picture:
    """An encoded image and what it shows."""

    content: bytes
    caption: str
    suffix: str = ".jpg"


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment."""

    name: str
    shows: str  # a sentence on what the experiment shows
    # these are by the names of their files, without the experiment's name
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: Mapping[str, Chart] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()  # statements that were checked
    missing: tuple[str, ...] = ()  # sentences on what could not be measured, and why

    def markdown(self, folder: str = "") -> str:
        """Return a Markdown page whose pictures are in a folder."""
        parts = [f"## {self.name}", self.shows, *(t.markdown() for t in self.tables.values())]
        parts += [f"![{c.title}]({folder}{self.name}-{k}.svg)" for k, c in self.charts.items()]
        for key, picture in self.pictures.items():
            parts.append(f"![{picture.caption}]({folder}{self.name}-{key}{picture.suffix})")
            parts.append(picture.caption)
        if self.findings:
            parts.append(
                "\n".join(f"- {f.statement} **{f.verdict}** ({f.evidence})" for f in self.findings)
            )
        if self.missing:
            parts += ["Missing:", "\n".join(f"- {sentence}" for sentence in self.missing)]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def section(self) -> html.Section:
        """Return a part of an HTML report."""
        parts = [html.paragraph(self.shows), *(table.html() for table in self.tables.values())]
        charts = [html.chart(draw_svg(c, PAGE), c.title) for c in self.charts.values()]
        parts += [html.grid(charts, "charts")] if charts else []
        shown = [html.picture(p.content, p.caption, html.JPEG) for p in self.pictures.values()]
        parts += [html.grid(shown)] if shown else []
        if self.findings:
            parts += [html.heading("Findings", 3), findings_html(self.findings)]
        if self.missing:
            parts += [html.heading("Missing", 3), html.bullets(self.missing)]
        return html.Section(self.name, self.name, parts)

    def write(self, folder: Path, origin: Mapping[str, str]) -> list[Path]:
        """Write the page, its tables and pictures, and JSON to a folder; return their paths.

        `origin` is from `slanted.research.experiments.provenance`.
        """
        content = {
            "experiment": self.name,
            "origin": dict(origin),
            "shows": self.shows,
            "tables": {key: table.as_dict() for key, table in self.tables.items()},
            "findings": [asdict(finding) for finding in self.findings],
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
        for old in folder.glob(f"{self.name}-*"):  # from a run on other data
            if old not in files and old.suffix in OWN:
                old.unlink()
        for file, data in files.items():
            write_bytes(file, data)
        return list(files)

    def images(self, folder: Path) -> dict[Path, bytes]:
        """Return charts and pictures by their paths in a folder."""
        files = {
            folder / f"{self.name}-{key}.svg": draw_svg(chart).encode()
            for key, chart in self.charts.items()
        }
        return files | {
            folder / f"{self.name}-{key}{picture.suffix}": picture.content
            for key, picture in self.pictures.items()
        }


def origin_text(origin: Mapping[str, str]) -> str:
    """Return the origin of numbers as one line."""
    return ", ".join(f"{name} {value}" for name, value in origin.items())


def findings_html(findings: tuple[Finding, ...]) -> str:
    """Return a list of findings with their verdicts."""
    kinds = {True: "true", False: "false", None: "unknown"}
    lines = [
        html.sentence(
            f.statement, html.marked(f.verdict, kinds[f.holds]), html.marked(f"({f.evidence})")
        )
        for f in findings
    ]
    return html.bullets(lines, "long")
