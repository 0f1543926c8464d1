"""The page of a batch has a row for each pair, and leads nowhere else."""

import base64
import json
import re

import cv2
import numpy as np
import pytest

from slanted.batch.records import row_of, write_summary
from slanted.batch.summary import read_summary
from slanted.cli import main
from slanted.errors import FileError
from slanted.io import write_image
from slanted.report.batch import build_index

DONE = {"name": "day/1 & 2", "status": "done", "width": 30, "height": 20, "segments": 1234,
        "energy": 5678.4, "gap_percent": 0.12155, "seconds": {"total": 1.25},
        "warnings": ["look <here>"]}  # fmt: skip
FAILED = {"name": "lost", "status": "failed", "error": "l.png: expected a file"}


@pytest.fixture
def batch(tmp_path):
    folder = tmp_path / "a batch"
    (folder / DONE["name"]).mkdir(parents=True)
    (folder / "batch.lock").touch()
    write_image(folder / DONE["name"] / "disparity_colour.png", np.zeros((40, 900, 3), np.uint8))
    write_summary(folder, [row_of(DONE), row_of(FAILED)])
    return folder


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(list(map(str, arguments)))
    return exited.value.code


def test_every_pair_has_a_row(batch, tmp_path):
    text, names = build_index(batch, tmp_path, "A <title>", lambda name: None)
    assert names == ["day/1 & 2", "lost"]
    assert "<h1>A &lt;title&gt;</h1>" in text
    assert "2 pairs, 1 done" in text
    assert re.findall(r"<th>(.*?)</th>", text) == [
        *("pair", "", "size", "segments", "gap %", "seconds"),
    ]
    cells = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", text)]
    assert cells == [
        *("day/1 &amp; 2", "", "30×20", "1,234", "0.13", "1.2", "look &lt;here&gt;"),
        *("lost", *[""] * 5, "failed: l.png: expected a file"),
    ]
    assert "<dt>gap at most</dt><dd>0.13 <small>%</small></dd>" in text
    assert "<dt>time</dt><dd>1.2 <small>s</small></dd>" in text
    (picture,) = re.findall(r'<img src="data:image/jpeg;base64,([\w+/=]+)"', text)
    pixels = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR)
    assert pixels.shape == (9, 200, 3)
    assert "href" not in text


class Known:
    """Errors of pairs that need no result to be read."""

    def __init__(self, errors):
        self.errors = errors

    def scores(self, name, place):
        return (self.errors[name], None) if name in self.errors else None


def test_curves_and_figures_are_those_of_the_errors(batch, tmp_path):
    d1 = {"a": 4.0, "b": 1.0, "c": 9.5, "d": 2.5}
    errors = {
        name: {"D1-all": value, "epe-all": value / 2}
        | {f"out-{k}px-all": value * 6 / k for k in range(1, 6)}
        for name, value in d1.items()
    }
    write_summary(batch, [row_of({**DONE, "name": name}) for name in (*d1, "unknown")])
    for name in d1:
        (batch / name).mkdir()
        (batch / name / "run.json").touch()
    text, _ = build_index(batch, tmp_path, "t", lambda name: None, Known(errors))
    assert "5 pairs, 5 done, 4 with ground truth" in text
    assert "<dt>D1</dt><dd>4.25 <small>%</small></dd>" in text
    assert re.findall(r'data-of="D1 %">(.*?)<', text) == ["4.00", "1.00", "9.50", "2.50"]
    assert re.findall(r'data-of="&gt;2 px %">(.*?)<', text) == ["12.00", "3.00", "28.50", "7.50"]
    for words in ("mean of 4", "worst, c", "best, b", "Of 4 pairs with ground truth."):
        assert words in text
    threshold, ranks = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    mean, worst, best = re.findall(
        r'points="([^"]*)" fill="none" stroke="#\w+" stroke-width="1.8"', threshold
    )
    heights = np.array([[float(at.split(",")[1]) for at in c.split()] for c in (mean, worst, best)])
    wrong = np.outer([4.25, 9.5, 1.0], [6 / k for k in range(1, 6)])
    # the curves are the numbers, on one straight scale that ends at 0
    slope, offset = np.polyfit(wrong.ravel(), heights.ravel(), 1)
    np.testing.assert_allclose(slope * wrong + offset, heights, atol=0.1)
    (curve,) = re.findall(r'points="([^"]*)" fill="none" stroke="#\w+" stroke-width="1.8"', ranks)
    falling = [float(at.split(",")[1]) for at in curve.split()]
    assert falling == sorted(falling, reverse=True)
    np.testing.assert_allclose(
        *(np.diff(v) / (v[-1] - v[0]) for v in (np.array(falling), np.array(sorted(d1.values())))),
        atol=0.01,
    )


@pytest.mark.parametrize("what", ["grey", "16 bit", "cut off"])
def test_an_odd_picture_ends_no_page(batch, tmp_path, what):
    file = batch / DONE["name"] / "disparity_colour.png"
    if what == "cut off":
        file.write_bytes(file.read_bytes()[:60])
    else:
        grey = np.zeros((40, 90), np.uint8)
        write_image(file, grey if what == "grey" else grey.astype(np.uint16))
    text, names = build_index(batch, tmp_path, "t", lambda name: None)
    assert len(names) == 2
    assert text.count("<img") == (what != "cut off")


def test_a_report_of_a_pair_is_led_to_from_where_the_page_lies(batch, tmp_path):
    (batch / DONE["name"] / "report.html").touch()
    text, _ = build_index(batch, tmp_path / "pages", "t", lambda name: None)
    assert re.findall('href="(.*?)"', text) == ["../a%20batch/day/1%20%26%202/report.html"]


def test_the_command(batch, tmp_path, capsys):
    page = tmp_path / "index.html"
    assert not run("report", batch, "-o", page, "--json", "--quiet")
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["pairs"] == ["day/1 & 2", "lost"]
    assert outcome["bytes"] == page.stat().st_size
    page.unlink()
    assert not run("report", batch, "-o", page)
    size = page.stat().st_size
    assert capsys.readouterr().out.endswith(f", {size / 1000:.0f} kB\n")
    page.unlink()
    assert run("report", batch, "-o", page, "--ground-truth", tmp_path) == 2
    assert "expected a batch with results, but no pair is done" in capsys.readouterr().err
    (batch / "summary.jsonl").unlink()
    assert run("report", batch, "-o", page) == 2
    assert "a batch: expected a batch that has ended" in capsys.readouterr().err
    assert not page.exists()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "expected the summary of a batch"),
        ("[]", "expected the summary of a batch"),
        ("{}", "expected the summary of a batch"),
        ('{"name": 3, "status": "done"}', "a pair without name or status"),
    ],
)
def test_a_damaged_summary_is_refused(batch, row, message):
    (batch / "summary.jsonl").write_text(row)
    with pytest.raises(FileError, match=message):
        read_summary(batch)


def test_a_summary_of_a_stranger_s_shows_nothing_else(batch, tmp_path):
    write_image(tmp_path / "disparity_colour.png", np.zeros((9, 9, 3), np.uint8))
    write_summary(batch, [row_of({**DONE, "name": "../"})])
    with pytest.raises(FileError, match="cannot be the name of a pair"):
        build_index(batch, tmp_path, "t", lambda name: None)
    picture = batch / DONE["name"] / "disparity_colour.png"
    picture.unlink()
    picture.symlink_to(tmp_path / "disparity_colour.png")
    write_summary(batch, [row_of(DONE)])
    with pytest.raises(FileError, match="leads out of the folder"):
        build_index(batch, tmp_path, "t", lambda name: None)


def test_a_report_replaces_reports_only(batch, tmp_path, capsys):
    image = tmp_path / "left.png"
    write_image(image, np.zeros((9, 9), np.uint8))
    before = image.read_bytes()
    assert run("report", batch, "-o", image, "--quiet") == 2
    assert "left.png: expected a new file or an earlier report" in capsys.readouterr().err
    assert image.read_bytes() == before
    for _ in range(2):
        assert not run("report", batch, "-o", tmp_path / "page.html", "--quiet")
