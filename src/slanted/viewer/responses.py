"""Responses of the web applications: their pages and files, JSON, and numbers in addresses."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from slanted.errors import InputError
from slanted.output.result_data import json_text
from slanted.viewer.session import NotThereError

TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
ASSETS = (
    *("style.css", "icon.svg", "main.js", "api.js", "picture.js", "space.js", "panel.js"),
    *("picture.css", "theme.js", "troubles.js", "chart.js", "marks.js", "hands.js", "sliders.js"),
    *("measure.js", "compare.js", "screenshot.js", "keys.js", "study.js"),
    *("space_marks.js", "space_materials.js", "space_tools.js", "space_keys.js"),
    *("compass.js", "strip.js"),
    *("space.css", "strip.css", "live.css", "live.js"),
    *("vendor/three/three.module.min.js", "vendor/three/three.core.min.js"),
    "vendor/three/OrbitControls.js",
)
"""The only files that are served from disk; everything else is made from the result."""
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
"""Header for frames, whose keys are never reused, not even by another server."""
NEVER = {"cache-control": "no-store"}
LONGEST_NUMBER = 12


def page_response(name: str) -> Response:
    """Answer with a page, which may use this server only."""
    text = read_asset(name)
    # The only script inside the page is the import map, which cannot be a file.
    inline = re.search(rb'<script type="importmap">(.*?)</script>', text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.group(1)).digest()).decode() if inline else ""
    policy = (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; "
        "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    headers = {"content-security-policy": policy, **NEVER}
    return Response(text, media_type=TYPES["html"], headers=headers)


def asset_response(request: Request) -> Response:
    """Answer with a file that the pages use; a NotThereError for any other."""
    path = request.path_params["path"]
    if path not in ASSETS:
        raise NotThereError(path)
    headers = {"cache-control": "no-cache"}
    return Response(read_asset(path), media_type=TYPES[path.rpartition(".")[2]], headers=headers)


@functools.cache
def read_asset(path: str) -> bytes:
    """Return a file of the pages."""
    return (resources.files("slanted.viewer") / "assets").joinpath(path).read_bytes()


def json_response(data: dict[str, Any], status: int = 200) -> Response:
    """Answer with data."""
    text = json_text(data)
    return Response(text, status, media_type="application/json", headers=NEVER)


def problem_response(status: int, text: str) -> Response:
    """Answer with a sentence that the page shows."""
    return json_response({"problem": text}, status)


def is_number(text: str) -> bool:
    """Return whether text is a whole number, and short: Python refuses thousands of digits."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER


def number(request: Request, name: str, default: int) -> int:
    """Return a number in the query of an address; an InputError if it is none."""
    text = request.query_params.get(name, str(default))
    if not is_number(text):
        raise InputError(f"{name}: expected a whole number, got {text[:20]!r}")
    return int(text)
