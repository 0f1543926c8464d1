"""Every notebook runs, shows pictures, and is kept without outputs."""

import importlib
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("notebook_pages")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def notebook(*cells):
    """A notebook of code cells, as JSON."""
    return json.dumps({"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]})


def printed_by(pages, name):
    cells = list(pages.run((DOCS / "notebooks" / name).read_text("utf-8")))
    shown = [cell.value for cell in cells if cell.value is not None]
    assert any(hasattr(value, "_repr_png_") for value in shown)
    return "".join(cell.printed for cell in cells if cell.is_code)


def numbers(text):
    return [
        float(word) for word in text.replace("%", " ").split() if word.replace(".", "").isdigit()
    ]


def test_the_real_pair(pages):
    everywhere, sure = (
        numbers(line)[-1] for line in printed_by(pages, "first_pair.ipynb").splitlines()
    )
    assert sure < everywhere / 2


def test_depth_and_planes(pages, tmp_path):
    printed = printed_by(pages, "depth_and_planes.ipynb")
    (within,) = (line for line in printed.splitlines() if line.startswith("half of the pixels"))
    assert numbers(within)[0] < 20  # mm
    assert (tmp_path / "mesh.ply").stat().st_size > 10_000


def test_beside_sgbm(pages):
    _, *lines = printed_by(pages, "beside_sgbm.ipynb").splitlines()
    sgbm, from_sgbm, ours = (numbers(line)[0] for line in lines)
    assert ours < from_sgbm < sgbm


def test_all_are_tested_and_listed():
    tested, listed = Path(__file__).read_text("utf-8"), (DOCS / "examples.md").read_text("utf-8")
    assert len(NOTEBOOKS) >= 3
    for file in NOTEBOOKS:
        assert f'printed_by(pages, "{file.name}")' in tested
        assert f"(notebooks/{file.name})" in listed
        assert f"\nnotebooks/{file.stem}\n" in listed


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_they_are_kept_without_outputs(file):
    for cell in json.loads(file.read_text("utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_cells_share_names_and_show_their_last_line(pages):
    cells = list(pages.run(notebook("a = 2\nprint(a)", "a + 1", "a = 5")))
    assert [(cell.printed, cell.value) for cell in cells] == [("2\n", None), ("", 3), ("", None)]


def test_pages_show_html_pictures_and_text(pages):
    class Html:
        def _repr_html_(self):
            return "<b>html</b>"

    class Picture:
        def _repr_png_(self):
            return b"png"

    assert pages.as_html(Html()) == "<b>html</b>"
    assert "data:image/png;base64,cG5n" in pages.as_html(Picture())
    assert pages.as_html("<") == "<pre>&#x27;&lt;&#x27;</pre>"
    text = pages.as_markdown(notebook("print(1)", "'a'"))
    assert "```python\nprint(1)\n```\n\n```text\n1\n```" in text
    assert "```{raw} html\n<pre>" in text


def test_a_cell_that_fails_is_named(pages):
    with pytest.raises(ZeroDivisionError) as raised:
        list(pages.run(notebook("a = 0", "1 / a")))
    assert raised.traceback[-1].frame.code.raw.co_filename == "cell 1"
