"""A result at a glance: a few lines of text, and the same with pictures for notebooks."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError, plural
from slanted.io.images import encode
from slanted.output import html
from slanted.output.folder import disparity_picture
from slanted.output.legends import with_legend
from slanted.output.overlays import labels_legend, paint_labels
from slanted.output.pictures import disparity_scale, shrunk
from slanted.output.result_data import summarise
from slanted.output.summary_text import (
    label_counts,
    label_shares,
    matched_text,
    most_above,
    range_text,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.output.result_fields import ResultData

MOST_WIDTH = 640
"""Width, in pixels, to which pictures are reduced."""
STYLE = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"


def title(result: ResultData) -> str:
    """Return what the result is of."""
    height, width = result.disparity.shape
    return f"Result of {width}×{height} pixels, {plural(result.regions.count, 'segment')}"


def facts(result: ResultData) -> list[tuple[str, str]]:
    """Return names and values of what a user looks at first."""
    summary = summarise(result)
    lines = [
        ("disparity", range_text(summary)),
        ("boundaries", boundary_shares(result)),
        ("matched", matched_text(summary)),
        ("confidence", _confidence(result)),
        ("energy", f"{result.energy:.0f}, {most_above(100 * result.gap)}"),
    ]
    if result.calibration is not None:
        cameras = result.calibration
        told = f"fx {cameras.fx_pixels:.1f} px, baseline {cameras.baseline_meters:.3g} m"
        lines.append(("cameras", told))
    if result.seconds:
        lines.append(("time", f"{sum(result.seconds.values()):.2f} s"))
    return lines + [("doubt", doubt) for doubt in result.doubts]


def boundary_shares(result: ResultData) -> str:
    """Return the shares of boundary labels in words."""
    counts = label_counts(result.labels)
    if not any(counts.values()):
        return "none"
    shares = label_shares({"boundaries": counts})
    return ", ".join(f"{share:.0f} % {name}" for name, share in shares.items())


def _confidence(result: ResultData) -> str:
    if result.confidence is None:
        return "none"
    low = result.settings.confidence.low
    below = 100 * float((result.confidence < low).mean())
    return f"median {np.median(result.confidence):.2f}, {below:.1f} % of the pixels below {low:g}"


def text_card(result: ResultData) -> str:
    """Return a few lines of text."""
    lines = facts(result)
    width = max(len(name) for name, _ in lines)
    return "\n".join([title(result), *(f"  {name:<{width}}  {value}" for name, value in lines)])


def html_card(result: ResultData) -> str:
    """Return the text as a table, with the disparity and, if there is a left image, boundaries."""
    scale = disparity_scale(result.disparity)
    pictures = [("disparity", disparity_picture(result.trusted_disparity(), scale))]
    if result.left is not None:
        painted = paint_labels(result.left, result.regions, result.labels)
        pictures.append(("boundaries", with_legend(painted, labels_legend())))
    shown = (html.image(_png(picture), name) for name, picture in pictures)
    table = html.table(["", title(result)], facts(result))
    return f'<div style="{STYLE}">{"".join(shown)}{table}</div>'


def _png(picture: NDArray[np.uint8]) -> bytes:
    return encode(".png", shrunk(picture, MOST_WIDTH)[..., ::-1])


def show(result: ResultData) -> None:
    """Show the card: in a notebook as its output, elsewhere as a page in the browser.

    Raises
    ------
    InputError
        If there is no screen.
    """
    notebook = _notebook_display()
    if notebook is not None:
        notebook(result)
        return
    cure = "save the result and look at its pictures, or use a notebook"
    if not _has_screen():
        raise InputError(f"show: expected a screen to show the result on, got none; {cure}")
    page = Path(tempfile.mkdtemp(prefix="slanted-")) / "result.html"
    page.write_text(html.page(title(result), [html_card(result)]), "utf-8")
    if not webbrowser.open(page.as_uri()):
        raise InputError(f"show: expected a web browser, got none that starts; {cure}")


def _notebook_display() -> Any:
    """Return the function that shows an object in a notebook, None outside of one."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # A terminal with IPython has a shell, too, but no kernel.
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
