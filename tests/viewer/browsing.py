"""A real browser for tests; without one, modules that import this are skipped."""

import os
import shutil
from contextlib import contextmanager

import pytest

from viewer import waiting

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("SLANTED_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    *("--no-sandbox", "--no-first-run", "--disable-quic", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
]
if BROWSER is None:
    WHY = (
        f"no browser: none of {', '.join(BROWSERS)} is installed, nor does SLANTED_BROWSER name one"
    )
    if os.environ.get("SLANTED_NEEDS_BROWSER"):
        pytest.fail(WHY, pytrace=False)  # where there must be one, as in CI
    pytest.skip(WHY, allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PATIENCE = 1000 * waiting.PATIENCE
expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@contextmanager
def launched():
    """Give a browser."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield opened
        opened.close()


@contextmanager
def in_context(browser):
    """Give a context of a browser: tabs that share cookies."""
    size = {"width": 1300, "height": 850}
    opened = browser.new_context(viewport=size, accept_downloads=True, color_scheme="dark")
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def open_tab(context, address):
    """Open a tab; what it complains of is kept."""
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on(
        "console",
        lambda said: (
            tab.complaints.append(f"{said.text} {said.location.get('url', '')}")
            if said.type in ("error", "warning")
            else None
        ),
    )
    tab.goto(address)
    return tab
