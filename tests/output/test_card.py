"""A result at a glance: text, a table with pictures, and a screen to show it on."""

import base64
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import slanted
from slanted.boundary_label import BoundaryLabel
from slanted.cli.result_table import result_rows
from slanted.errors import InputError
from slanted.io.images import read_image
from slanted.output import card
from slanted.output.summary_text import gap_text
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
CAMERAS = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.12)


@pytest.fixture(scope="module")
def result():
    return slanted.estimate(SCENE.left, SCENE.right, calibration=CAMERAS)


def test_the_text_tells_what_the_summary_tells(result):
    text, told = repr(result), result.summary()
    assert text.startswith(f"Result of 96×64 pixels, {told['segments']} segments\n")
    assert 5 < len(text.splitlines()) < 12
    assert f"{told['disparity_min']:.1f} to {told['disparity_max']:.1f} px" in text
    assert f"{told['matched_percent']:.1f} % of the pixels" in text
    assert f"median {told['confidence_median']:.2f}" in text
    most = gap_text(told).partition(" (")[0]
    assert f"{told['energy']:.0f}, {most}\n" in text
    assert "baseline 0.12 m" in text
    assert f"{told['seconds']['total']:.2f} s" in text


def test_what_is_said_to_be_the_most_is_rounded_up(result):
    bound = result.energy * (1 - 0.0004155)
    made = replace(result, inference=replace(result.inference, bound=bound))
    assert 100 * made.gap == pytest.approx(0.04155, rel=1e-3)
    said = "at most 0.042 % above the optimum over the last particles"
    assert said in repr(made)
    assert said in gap_text(made.summary())


def on_a_terminal(result):
    """The rows that a run prints, by name."""
    rows = result_rows(result.summary(), result.settings)
    return {name: "".join(text for text, _ in pieces) for name, pieces in rows}


def test_the_card_and_the_terminal_say_the_same(result):
    rows, lines = on_a_terminal(result), dict(card.facts(result))
    for name in ("disparity", "matched", "confidence"):
        assert lines[name] == rows[name]


def test_a_terminal_says_why_rows_were_not_compared(result):
    unchecked = replace(result, rectification=None)
    assert on_a_terminal(unchecked)["rectification"] == (
        "unknown: fewer than 30 features match, too few to compare the rows"
    )
    off = unchecked.settings.updated({"rectification.check": "off"})
    assert on_a_terminal(replace(unchecked, settings=off))["rectification"] == (
        "not checked: rectification.check is off"
    )


def test_shares_of_boundaries_are_those_of_the_labels(result):
    labels = np.array([0] * 5 + [1] * 2 + [2] * 2 + [3], np.int32)
    made = replace(result, inference=replace(result.inference, labels=labels))
    assert card.boundary_shares(made) == "50 % coplanar, 20 % hinge, 30 % occlusion"
    none = replace(result, inference=replace(result.inference, labels=labels[:0]))
    assert card.boundary_shares(none) == "none"
    assert len(BoundaryLabel) == 4


def test_a_result_that_knows_less_has_a_text_too(result):
    bare = replace(result, confidence=None, deviation=None, seconds={}, searched=None)
    text = repr(replace(bare, calibration=None, left=None, doubts=("the pair is doubtful",)))
    assert "confidence  none" in text
    assert "doubt       the pair is doubtful" in text
    assert "time" not in text
    assert "cameras" not in text


def test_notebooks_get_the_same_with_pictures(result, tmp_path):
    page = result._repr_html_()
    pictures = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="(\w+)"', page)
    assert [name for _, name in pictures] == ["disparity", "boundaries"]
    for data, name in pictures:
        (tmp_path / f"{name}.png").write_bytes(base64.b64decode(data))
        assert read_image(tmp_path / f"{name}.png").shape[1] == 96
    for name, value in card.facts(result):
        assert f"<td>{name}</td><td>{value}</td>" in page
    assert "boundaries" not in re.findall(r'alt="(\w+)"', replace(result, left=None)._repr_html_())


def test_pictures_of_large_images_are_reduced(result, monkeypatch, tmp_path):
    monkeypatch.setattr(card, "MOST_WIDTH", 48)
    data = re.search(r"base64,([^\"]+)", result._repr_html_())[1]
    (tmp_path / "small.png").write_bytes(base64.b64decode(data))
    assert read_image(tmp_path / "small.png").shape[1] == 48


@pytest.fixture
def no_notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)


@pytest.fixture
def opened(monkeypatch, no_notebook):
    """A screen and a browser that only notes what it is told to open."""
    seen = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(card.webbrowser, "open", lambda address: seen.append(address) or True)
    return seen


def test_show_opens_a_page_in_the_browser(result, opened, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(card.tempfile, "tempdir", str(tmp_path))
    result.show()
    (page,) = tmp_path.glob("slanted-*/result.html")
    assert opened == [page.as_uri()]
    assert result._repr_html_() in page.read_text("utf-8")
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these always have a screen")
def test_without_a_screen_show_says_so_in_one_sentence(result, no_notebook, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"show: expected a screen .* save the result"):
        result.show()


def test_without_a_browser_show_says_so_too(result, opened, monkeypatch, tmp_path):
    monkeypatch.setattr(card.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(card.webbrowser, "open", lambda _: False)
    with pytest.raises(InputError, match="show: expected a web browser"):
        result.show()


def test_in_a_notebook_show_displays_the_result(result, monkeypatch):
    shown, shells = [], [SimpleNamespace(kernel=1), SimpleNamespace(), None]
    ipython = SimpleNamespace(get_ipython=lambda: shells[0])
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    display = SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    result.show()
    assert shown == [result]
    for _ in range(2):  # a terminal with IPython, and IPython imported but not running
        shells.pop(0)
        assert card._notebook_display() is None
