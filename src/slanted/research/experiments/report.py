"""All experiments on one page: as a self-contained HTML file, and as Markdown for the guide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from slanted.io.files import write_bytes
from slanted.output import html
from slanted.research.experiments.outcome import Finding, Outcome, findings_html, origin_text
from slanted.research.experiments.provenance import PRESETS
from slanted.settings import Settings

TITLE = "slanted: the paper's tables and figures, and ours"
WRITTEN = "This page is written by `slanted experiment`"
"""How every page begins; `.ci/check_pages.py` finds them by it."""
GUIDE = (
    "Each section is one experiment: a sentence on what it shows, tables, charts, and findings, "
    "most of them the paper's, with a verdict on whether they hold for us.",
    "out-Npx is the percentage of pixels with ground truth whose disparity is off by more than N "
    "pixels; lower is better. noc counts the pixels that both cameras see, all counts hidden ones "
    "too. For D1-all the error must also exceed 5 % of the disparity.",
    "Rows in italics, or marked “in the paper”, are printed in Yamaguchi et al., ECCV 2012, on "
    "other data (KITTI 2012 where ours is 2015; other sizes of the Middlebury scenes): compare "
    "orders and shapes, not digits.",
    "Seconds are medians over the frames, of one thread, while other processes measured other "
    "images.",
    "What could not be measured is listed under “Missing”; means are over the frames that all rows "
    "of a table could be measured on.",
)


def write_report(outcomes: Sequence[Outcome], origin: Mapping[str, str], path: Path) -> None:
    """Write the HTML page."""
    findings = _findings(outcomes)
    sections = [outcome.section() for outcome in outcomes]
    if findings:
        title = "Findings, true or false for us"
        sections.insert(0, html.Section(title, "findings", [findings_html(findings)]))
    presets = [html.details(f"preset {k}", Settings.preset(k).to_toml()) for k in PRESETS]
    sections.append(html.Section("Settings", "settings", presets))
    sections.append(html.Section("How to read this", "guide", [html.bullets(GUIDE)]))
    counts = Counter(finding.verdict for finding in findings)
    figures = [("experiments", str(len(outcomes)))]
    figures += [(f"findings {verdict}", str(count)) for verdict, count in counts.items()]
    page = html.report(TITLE, origin_text(origin), figures, sections)
    write_bytes(path, page.encode())


def write_page(outcomes: Sequence[Outcome], origin: Mapping[str, str], path: Path) -> None:
    """Write the Markdown page, and its pictures to a folder of the same name beside it."""
    folder = path.with_suffix("")
    parts = [
        "# Results",
        f"{WRITTEN}, from the run named here; do not edit it.",
        "\n".join(f"- {name}: {value}" for name, value in origin.items()),
        "\n".join(f"- {sentence}" for sentence in GUIDE),
    ]
    findings = _findings(outcomes)
    if findings:
        rows = [f"| {f.statement} | {f.verdict} | {f.evidence} |" for f in findings]
        parts.append("## Findings, true or false for us")
        parts.append("\n".join(["| | | |", "|---|---|---|", *rows]))
    parts += [outcome.markdown(f"{folder.name}/") for outcome in outcomes]
    for name in PRESETS:
        toml = Settings.preset(name).to_toml().rstrip()
        parts.append(
            f"<details><summary>preset {name}</summary>\n\n```toml\n{toml}\n```\n\n</details>"
        )
    for outcome in outcomes:
        for file, content in outcome.images(folder).items():
            write_bytes(file, content)
    write_bytes(path, ("\n\n".join(part.rstrip() for part in parts) + "\n").encode())


def _findings(outcomes: Sequence[Outcome]) -> tuple[Finding, ...]:
    return tuple(finding for outcome in outcomes for finding in outcome.findings)
