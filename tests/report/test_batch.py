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
    cells = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", text)]
    assert cells == [
        *("day/1 &amp; 2", "", "done", "30", "20", "1,234", "", "5,678", "0.13", "1.2"),
        *("look &lt;here&gt;", "lost", "", "failed", *[""] * 7, "l.png: expected a file"),
    ]
    (picture,) = re.findall(r'<img src="data:image/jpeg;base64,([\w+/=]+)"', text)
    pixels = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR)
    assert pixels.shape == (9, 200, 3)
    assert "href" not in text


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
