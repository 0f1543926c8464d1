"""A real browser for tests; without one, modules that import this are skipped."""

import os
import re
import shutil
from contextlib import contextmanager

import pytest

from viewer import waiting

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("SLANTED_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
OFF = (
    # Windows would load pages of Chromium's own into their address bars, at a third of the cost of ours.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    # What playwright switches off: only the last list counts.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "AimEnabled"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"),
)
FLAGS = [
    *("--no-sandbox", "--no-first-run", "--disable-quic", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    # The card is imitated, so all but WebGL is drawn without it, which is four times as fast.
    *("--disable-gpu-rasterization", "--disable-gpu-compositing"),
    f"--disable-features={','.join(OFF)}",
]
WAITED = "GPU stall due to ReadPixels"
"""Told where all but WebGL is drawn without a card; the page, too, waits for what it has drawn."""
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
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def in_context(browser, size=(1300, 850), **options):
    """Give a context of a browser: tabs that share cookies, and nothing with those of other tests."""
    viewport = {"width": size[0], "height": size[1]}
    options = {"accept_downloads": True, "color_scheme": "dark", **options}
    opened = browser.new_context(viewport=viewport, **options)
    opened.set_default_timeout(PATIENCE)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def looking_at(browser, address, size, **options):
    """Give a tab that shows a result, in 3D, too; it must not complain, and nothing may be cut off."""
    with in_context(browser, size, **options) as context:
        tab = open_page(context, address)
        # The mesh is in the memory of the card. `wait_for_function` would ask again with `eval`, which
        # the page's Content-Security-Policy forbids.
        tab.wait_for_selector("#space[data-geometries]:not([data-geometries='0'])")
        yield tab
        calm(tab)
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def open_tab(context, address):
    """Open a tab; what it complains of is kept."""
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))

    def heard(said):
        if said.type in ("error", "warning") and WAITED not in said.text:
            tab.complaints.append(f"{said.text} {said.location.get('url', '')}")

    tab.on("console", heard)
    tab.goto(address)
    return tab


def open_page(context, address):
    """Open a tab and wait until it has loaded."""
    tab = open_tab(context, address)
    ready(tab)
    return tab


def ready(tab):
    tab.wait_for_selector("body[data-ready=true]")
    tab.wait_for_selector("#space-pane[data-key]")


def calm(tab):
    newest = int(tab.locator("#job").get_attribute("data-run"))

    def is_of_an_older_run(complaint):
        """A frame may be gone when a page asks for it, because a run took its place."""
        found = re.search(r"404 .*/api/frames/\w+-(\d+)-\d+", complaint)
        return found is not None and int(found.group(1)) < newest

    assert [text for text in tab.complaints if not is_of_an_older_run(text)] == []
    assert tab.locator("#trouble").is_hidden()
