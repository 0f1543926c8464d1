"""Reports fit their windows, wide and narrow, in the light and in the dark; in a real browser."""

import dataclasses

import numpy as np
import pytest

from report.test_results import SCENE, entries, result  # noqa: F401 - a fixture
from slanted.batch.records import row_of, write_summary
from slanted.io import write_image
from slanted.report.batch import build_index
from slanted.report.results import build_report
from slanted.research.experiments.outcome import Finding, Outcome
from slanted.research.experiments.report import write_report
from slanted.research.experiments.tables import Row, Table
from viewer.browsing import open_tab

ERRORS = {f"out-{k}px-all": 20.0 / k for k in range(1, 6)}
ERRORS |= {"D1-all": 12.34, "epe-all": 1.23, "D1@80-all": 10.5, "AUC-all": 0.9876}
LONG = "a_pair_with_a_name_" * 4 + "0001"


class Known:
    def scores(self, name, place):
        return ERRORS, None


def batch_page(folder):
    """The page of a batch that has every column, long names and long sentences."""
    record = {"status": "done", "width": 12420, "height": 3750, "segments": 12345,
              "matched_percent": 83.2, "confidence_median": 0.99, "energy": 3e6, "gap_percent": 0.3,
              "seconds": {"total": 123.4}, "warnings": ["the result is doubtful: " * 20]}  # fmt: skip
    names = ["000001_10", LONG, "day/one/left"]
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "run.json").touch()
        write_image(folder / name / "disparity_colour.png", np.zeros((60, 200, 3), np.uint8))
    lost = {"name": "lost", "status": "failed", "error": "/a/path/" + "x" * 300 + ": no such file"}
    write_summary(folder, [row_of({**record, "name": name}) for name in names] + [row_of(lost)])
    return build_index(folder, folder, "Batch", lambda name: None, Known())[0]


def experiment_page(file):
    columns = tuple(f"out-{k}px-{where}" for k in (1, 2, 3, 4, 5) for where in ("noc", "all"))
    columns = (*columns, "per sweep and segment, microseconds", "seconds")
    names = "slanted, preset default", "OpenCV SGBM in grey, filled, in the paper"
    rows = tuple(
        Row(name, tuple(12.345 * k for k in range(12)), bool(k)) for k, name in enumerate(names)
    )
    table = Table("kitti2015, validation: means", columns, rows, ("A note. " * 30,))
    found = Finding("It holds. " * 9, True, "1 < 2 " * 30)
    write_report([Outcome("e", "Shows.", {"t": table}, findings=(found,))], {"date": "now"}, file)
    return file.read_text("utf-8")


@pytest.fixture(scope="module")
def pages(result, tmp_path_factory):  # noqa: F811
    place = tmp_path_factory.mktemp("pages")
    one, two = entries(result)
    named = dataclasses.replace(two, name=LONG)
    texts = {
        "one": build_report([one]),
        "two": build_report([one, named]),
        "batch": batch_page(place / "batch"),
        "experiment": experiment_page(place / "e.html"),
    }
    for name, text in texts.items():
        (place / f"{name}.html").write_text(text, "utf-8")
    return place


OVERFLOWS = """() => {
  const most = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('table, td, th, figure, svg, img, dl, nav, p, li')]
    .filter((part) => part.getClientRects().length)
    .filter((part) => part.getBoundingClientRect().right > most + 0.5);
  const cut = [...document.querySelectorAll('.wide')]
    .filter((part) => part.scrollWidth > part.clientWidth);
  return [document.documentElement.scrollWidth > most, ...wide, ...cut]
    .filter((found) => found).map((found) => found.outerHTML?.slice(0, 90) ?? 'the page');
}"""


@pytest.mark.parametrize("width", [1400, 1280, 900, 420])
@pytest.mark.parametrize("name", ["one", "two", "batch", "experiment"])
def test_nothing_is_wider_than_the_window(pages, browser, name, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = open_tab(context, (pages / f"{name}.html").as_uri())
    assert tab.evaluate(OVERFLOWS) == []
    assert tab.complaints == []
    context.close()


@pytest.mark.parametrize("name", ["two", "batch", "experiment"])
def test_tables_fit_on_paper(pages, browser, name):
    context = browser.new_context(viewport={"width": 703, "height": 900})  # A4, less its margins
    tab = open_tab(context, (pages / f"{name}.html").as_uri())
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(OVERFLOWS) == []
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    context.close()


def test_what_a_narrow_window_shows_is_what_a_wide_one_does(pages, browser):
    context = browser.new_context(viewport={"width": 420, "height": 900})
    tab = open_tab(context, (pages / "batch.html").as_uri())
    named = "[...document.querySelectorAll('tbody tr:first-child td[data-of]')]"
    labels = tab.evaluate(f"{named}.map((cell) => getComputedStyle(cell, '::before').content)")
    texts = tab.evaluate(f"{named}.map((cell) => cell.textContent)")
    shown = dict(zip((label.strip('"') for label in labels), texts, strict=True))
    assert shown["D1 %"] == "12.34"
    assert shown["size"] == "12420×3750"
    assert shown[">1 px %"] == "20.00"
    assert tab.locator("thead").is_hidden()
    context.close()


LUMINANCE = """(selector) => {
  const light = (text) => {
    const parts = text.match(/[0-9.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  return [back, ...[...document.querySelectorAll(selector)].map((part) => {
    const style = getComputedStyle(part);
    const found = light(part.closest('svg') ? (style.stroke === 'none' ? style.fill : style.stroke)
                                            : style.color);
    return (Math.max(found, back) + 0.05) / (Math.min(found, back) + 0.05);
  })];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_in_the_light_and_in_the_dark(pages, browser, scheme):
    context = browser.new_context(color_scheme=scheme)
    tab = open_tab(context, (pages / "two.html").as_uri())
    back, *contrasts = tab.evaluate(LUMINANCE, "p, td, dt, dd, a, figcaption, svg text")
    assert (back < 0.1) == (scheme == "dark")
    assert min(contrasts) > 4.5
    _, *curves = tab.evaluate(LUMINANCE, "svg polyline[stroke-width='1.8']")
    assert min(curves) > 2.9
    context.close()
