"""Links of the pages: files and headings that they lead to are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks/README.md",
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page):
    """The headings' names in links, as GitHub makes them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target:
            continue
        file, _, heading = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), f"{page.name}: {target}"
        assert not heading or heading in anchors(found), f"{page.name}: {target}"


def test_pictures_are_small_and_shown():
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 150_000, picture.name
        assert f"images/{picture.name}" in shown, picture.name


def test_the_tutorial_writes_over_nothing_that_its_program_made():
    commands = "".join(FENCE.findall((ROOT / "docs/tutorial.md").read_text("utf-8")))
    program = (ROOT / "examples/12_own_camera.py").read_text("utf-8")
    made = re.findall(r'result\.save\(folder / "([\w-]+)"', program)
    written = re.findall(r"slanted run .* -o ([\w-]+)", commands)
    assert made
    assert written
    assert not set(made) & set(written)
