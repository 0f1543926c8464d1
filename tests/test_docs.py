"""The pages: links lead to files and headings that are there, and commands work."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks/README.md",
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"python (-m [\w.]+|[\w/.$]+\.py)")
COMMANDS = {
    "-m fuzz": ["calibration", "--runs", "20", "--seconds", "5"],
    "-m fuzz.measure": ["dots.toml"],
    "-m slanted": ["--help"],
    "-m slanted.settings.documentation": [],
    "docs/make_pictures.py": ["--smoke"],
}
"""Commands that contributors use, and how to run them in seconds."""
TESTED_ELSEWHERE = ("-m pytest", "benchmarks/", "examples/")
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


def test_the_python_page_runs(monkeypatch, tmp_path, capsys):
    """All its blocks in a row, beside a pair and a calibration of the names that it uses."""
    import slanted
    from slanted.synthetic import make_scene

    pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    scene = make_scene(160, 120, seed=6)
    slanted.write_image("left.png", scene.left)
    slanted.write_image("right.png", scene.right)
    camera = "cam0=[150 0 79.5; 0 150 59.5; 0 0 1]\ndoffs=0\nbaseline=100\n"
    (tmp_path / "calib.txt").write_text(camera)
    page = (ROOT / "docs/python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    names = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    said = capsys.readouterr().out
    shown = re.search(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    assert [line[:12] for line in said.splitlines()[1:]] == [
        line[:12] for line in shown.splitlines()
    ]
    for comment in re.findall(r"print\(error\)  # (.+)", page):
        assert comment in said
    np.testing.assert_array_equal(names["sixteenths"], np.rint(names["disparity"] * 16))
    assert names["again"].calibration.baseline_meters == 0.1


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_work(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    monkeypatch.setattr(sys, "argv", [command, *COMMANDS[command]])
    try:
        if command.startswith("-m "):
            # Another test may have imported it, of which runpy would warn.
            monkeypatch.delitem(sys.modules, command[3:], raising=False)
            runpy.run_module(command[3:], run_name="__main__")
        else:
            runpy.run_path(str(ROOT / command), run_name="__main__")
    except SystemExit as ended:
        assert not ended.code, ended.code
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_tested(page):
    for command in COMMAND.findall(page.read_text("utf-8")):
        assert command in COMMANDS or command.startswith(TESTED_ELSEWHERE), command
