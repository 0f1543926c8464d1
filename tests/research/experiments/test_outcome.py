"""Tables, plots and pages: the same figures in every format, honest about what is missing."""

import csv
import io
import json
import re

import pytest

from slanted.errors import plural
from slanted.output.chart_drawing import draw_picture, draw_svg, series_colours
from slanted.output.charts import Chart, Series
from slanted.output.palette import COLOURS
from slanted.research.experiments.outcome import Finding, Outcome, Picture
from slanted.research.experiments.report import write_page, write_report
from slanted.research.experiments.tables import Row, Table

TABLE = Table(
    "T",
    ("a", "b"),
    (Row("x", (1.234, None)), Row("y", (float("nan"), 2.0), quoted=True)),
    ("N.",),
)
LINES = Chart("lines", "x", "y", (Series("one", (1.0, 2.0), (3.0, 4.0)),))
BARS = Chart(
    "bars", "percent", "",
    (Series("ours", ("a", "b"), (1.0, 2.0)), Series("theirs", ("a",), (3.0,), quoted=True)), "bars",
)  # fmt: skip
STEPS = Chart("steps", "x", "y", (Series("one", (0.0, 0.5, 1.0), (1.0, 2.0, 0.0)),), "steps")
OUTCOME = Outcome(
    "ours", "Shows <something>.", {"t": TABLE}, {"c": LINES}, {"p": Picture(b"jpeg", "A picture")},
    (Finding("It holds.", True, "1 < 2"), Finding("It does not.", False, "3"),
     Finding("Who knows.", None, "nothing")),
    ("moon: no folder",),
)  # fmt: skip


def test_a_table_is_the_same_in_every_format():
    assert TABLE.markdown() == (
        "**T**\n\n|  | a | b |\n|---|---|---|\n| x | 1.23 | – |\n| y | – | 2.00 |\n\nN.\n"
    )
    assert list(csv.reader(io.StringIO(TABLE.csv()))) == [
        ["", "a", "b"], ["x", "1.234", ""], ["y", "nan", "2.0"],
    ]  # fmt: skip
    assert TABLE.as_dict()["rows"]["x"] == {"a": 1.234, "b": None}
    assert "<td>x</td><td>1.23</td><td>–</td>" in TABLE.html()
    assert '<tr class="other"><td>y</td>' in TABLE.html()
    assert TABLE.cell("y", "b") == 2.0
    assert [plural(n, "frame") for n in (0, 1, 2)] == ["0 frames", "1 frame", "2 frames"]


@pytest.mark.parametrize("chart", [LINES, BARS, STEPS])
def test_charts_are_drawn_the_same_each_time(chart):
    first = draw_svg(chart)
    assert draw_svg(chart) == first
    assert (draw_picture(chart) < 128).any()
    for word in (chart.title, chart.x_label):
        assert f">{word}</text>" in first
    if len(chart.series) > 1:
        assert ">theirs</text>" in first


def test_what_is_quoted_has_the_colour_of_what_it_stands_beside():
    series = [Series(n, (1.0,), (1.0,), quoted) for n, quoted in (("a", 0), ("b", 1), ("c", 0))]
    chart = Chart("t", "", "", tuple(series))
    assert series_colours(chart) == [COLOURS[k] for k in (0, 0, 1)]


def test_an_outcome_is_written_whole(tmp_path):
    written = {path.name for path in OUTCOME.write(tmp_path, {"date": "today"})}
    assert written == {"ours.md", "ours.json", "ours-t.csv", "ours-c.svg", "ours-p.jpg"}
    assert written == {path.name for path in tmp_path.iterdir()}
    content = json.loads((tmp_path / "ours.json").read_text())
    assert content["findings"][1] == {"statement": "It does not.", "holds": False, "evidence": "3"}
    assert content["missing"] == ["moon: no folder"]
    assert content["origin"] == {"date": "today"}
    assert content["tables"]["t"]["rows"]["y"] == {"a": None, "b": 2.0}
    page = (tmp_path / "ours.md").read_text()
    assert page.endswith("\ndate today\n")
    for text in (
        "![lines](ours-c.svg)", "![A picture](ours-p.jpg)", "- It holds. **true** (1 < 2)",
        "- Who knows. **not known** (nothing)", "- moon: no folder",
    ):  # fmt: skip
        assert text in page
    assert (tmp_path / "ours-p.jpg").read_bytes() == b"jpeg"


def test_the_report_holds_everything_and_needs_nothing(tmp_path):
    write_report([OUTCOME], {"date": "today"}, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    page = (tmp_path / "report.html").read_text()
    assert "Shows &lt;something&gt;." in page
    for text in ('id="ours"', 'href="#ours"', 'href="#findings"', 'href="#settings"', ">1.23<", "<svg role=",
                 "data:image/jpeg;base64,", 'class="false"', "moon: no folder", "date today",
                 "[model.weights]"):  # fmt: skip
        assert text in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)


def test_the_page_has_its_pictures_beside_it(tmp_path):
    write_page([OUTCOME], {"date": "today"}, tmp_path / "results.md")
    page = (tmp_path / "results.md").read_text()
    links = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert links == ["results/ours-c.svg", "results/ours-p.jpg"]
    assert all((tmp_path / link).is_file() for link in links)
    assert "- date: today" in page
    assert "| It holds. | true | 1 < 2 |" in page
