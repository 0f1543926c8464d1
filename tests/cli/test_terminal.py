"""Streams that are closed or that nobody reads, odd names, and Ctrl-C at any time."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import cv2
import pytest

from slanted.cli import COMMANDS, main
from slanted.cli.batch_table import BatchTable
from slanted.cli.progress import Report
from slanted.cli.steps import Steps
from slanted.cli.terminal import say_rows
from slanted.synthetic import make_scene

ROOT = Path(__file__).parents[2]
SLANTED = [sys.executable, "-m", "slanted"]
ODD = "a\x1b[31mred\nline\x9b[/nothing]\r\x07\udcff"
"""A file may be named so, but for the slash."""
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="shells, signals and file names of Unix")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    scene = make_scene(160, 120, seed=1)
    for name, image in (("left.png", scene.left), ("right.png", scene.right)):
        cv2.imwrite(str(folder / name), image[:, :, ::-1])
    return folder


def code_of(arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    return exited.value.code or 0


@UNIX
@pytest.mark.parametrize(
    "streams", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full", "--json >&-"]
)
def test_a_command_works_without_its_streams(images, tmp_path, streams):
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    command = shlex.join([*SLANTED, "segment", str(images / "left.png"), "-o", "out"])
    done = subprocess.run(
        ["sh", "-c", f"{command} {streams}"], cwd=tmp_path, check=False, capture_output=True
    )
    assert done.returncode == 0, done
    assert b"Traceback" not in done.stdout + done.stderr
    assert {"segments.npy", "segments_colour.png"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


@UNIX
@pytest.mark.parametrize("streams", ["2>&-", ">&- 2>&-", "2>/dev/full"])
def test_errors_keep_their_exit_code_without_streams(tmp_path, streams):
    command = f"{shlex.join([*SLANTED, 'info', 'nothing.png'])} {streams}"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False).returncode == 2


@UNIX
@pytest.mark.parametrize(("unread", "code"), [("stdout", 141), ("stderr", 0)])
def test_results_are_written_though_nobody_reads_on(images, tmp_path, unread, code):
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, unread: writing}
    command = [*SLANTED, "segment", images / "left.png", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, check=False, **streams)
    os.close(writing)
    assert done.returncode == code
    assert b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")
    assert (tmp_path / "out" / "segments.npy").exists()


def test_what_is_printed_goes_through_one_place():
    folder = ROOT / "src" / "slanted" / "cli"
    users = {path.name for path in folder.glob("*.py") if "click.echo" in path.read_text("utf-8")}
    assert users == {"terminal.py", "__init__.py"}
    own = re.findall(r"click\.echo\((.*)\)", (folder / "__init__.py").read_text("utf-8"))
    assert own == ["no_arguments.format_message()"]  # our own help


def is_harmless(text):
    return all(line.isprintable() for line in text.split("\n"))


@UNIX
def test_odd_names_do_not_reach_the_terminal(images, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = tmp_path / ODD.replace("/", "")
    odd.mkdir()
    for side in ("left", "right"):
        (odd / f"{side}.png").write_bytes((images / f"{side}.png").read_bytes())
    # Of ESC and its like; the line end would be refused by the manifest itself.
    name = "n\x1b[2Jx"
    rows = f'left,right,name\nleft.png,"{name}.png",{name}\n'
    (odd / "pairs.csv").write_text(rows, "utf-8")
    for arguments, expected in (
        (["info", odd / "left.png"], 0),
        (["info", odd / "no\x1b[1mthing.png"], 2),
        (["info", odd], 2),
        (["segment", odd / "left.png", "-o", odd / "out"], 0),
        (["info", odd / "out"], 0),
        (["batch", odd / "pairs.csv", "-o", tmp_path / "batch", "--workers", 1], None),
        (["info", tmp_path / "batch"], None),
        (["view", odd / "left.png"], 2),
        (["run", "a", "b", "--set", ODD], 2),
        ([ODD], 2),
    ):
        code = code_of(arguments)
        said = capsys.readouterr()
        assert expected in (None, code), (arguments, said)
        assert said.out + said.err
        assert is_harmless(said.out), said.out
        assert is_harmless(said.err), said.err


def test_odd_names_do_not_reach_live_displays(monkeypatch, capsys):
    """rich takes brackets for markup, and a wrong one for an error."""
    monkeypatch.setattr("slanted.cli.progress.is_watched", lambda: True)
    with Report(quiet=False, as_json=False) as report:
        report.progress(f"reading {ODD}")
        (shown,) = report._steps.lines()
    assert "[/nothing]" in shown.plain
    assert is_harmless(shown.plain)
    record = {"name": ODD, "outcome": "failed", "error": ODD}

    class Tally:
        total, ended, failed, skipped, running = 3, 1, 1, 0, (ODD,)
        workers, threads, seconds_left, rate = 1, 1, None, 0.0

    table = BatchTable(quiet=False)
    table._ended = [record]
    assert is_harmless(table._table(Tally()).plain)
    assert len(table._table(Tally()).plain.splitlines()) == 3
    capsys.readouterr()


def test_steps_that_have_ended_stay_in_sight_with_their_times():
    steps = Steps(listed=True)
    for text in ("matching", "compiling: 1 of 9", "compiling: 2 of 9", ODD):
        steps.begin(text)
    said = [line.plain for line in steps.lines()]
    assert [re.sub(r"  \d+\.\d\d s$", "", line) for line in said[:-1]] == [
        *("  starting", "  matching", "  compiling: 2 of 9"),
    ]
    assert all(map(is_harmless, said))
    for number in range(100):
        steps.begin(str(number))
    assert len(steps.lines()) < 24  # a terminal is not higher


def test_a_step_that_counts_has_a_bar_that_moves():
    steps = Steps(listed=False)
    shown = []
    for done in range(5):
        steps.begin(f"compiling: {done} of 4")
        shown += [line.plain for line in steps.lines()]
    assert [line.count("━") for line in shown] == [0, 6, 12, 18, 24]
    assert len({len(line) for line in shown}) == 1
    for text in ("matching", "compiling: 0 of 0", "a file: 1 of 2.png"):
        steps.begin(text)
        assert steps.lines()[-1].plain == text


ROWS = [("size", [("3×4 px", "")]), ("files", [(ODD, "bold"), (" there", "")])]


def test_tables_are_lines_without_a_terminal(capsys):
    say_rows(ROWS)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    first, second = out.splitlines()
    assert first == "size   3×4 px"
    assert second.startswith("files  a\\x1b[31mred")
    assert second.endswith(" there")


@UNIX
def test_tables_are_in_colours_on_a_terminal():
    """And odd names are escaped there, too."""
    import pty

    script = (
        "import os; os.environ.pop('NO_COLOR', None); os.environ['TERM'] = 'xterm'\n"
        "from slanted.cli.terminal import say_rows\n"
        f"say_rows({ROWS!r})\n"
    )
    main_end, other_end = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    subprocess.run([sys.executable, "-c", script], stdout=other_end, check=True, env=environment)
    os.close(other_end)
    out = os.read(main_end, 100_000).decode()
    os.close(main_end)
    assert "\x1b[1m" in out
    plain = re.sub(r"\x1b\[[\d;]*m", "", out).replace("\r\n", "\n")
    assert plain.splitlines()[0].rstrip() == "size   3×4 px"
    assert "a\\x1b[31mred" in plain
    assert is_harmless(plain)


WITH_OUTPUT = [
    name
    for name in COMMANDS
    if any(
        param.name == "output"
        for param in import_module(f"slanted.cli.{name.replace(' ', '_')}").command.params
    )
]


def test_commands_with_an_output_are_known():
    assert set(WITH_OUTPUT) == {
        *("run", "batch", "demo", "evaluate", "export", "report", "segment", "learn", "tune"),
        *("experiment", "learn confidence"),
    }


@pytest.mark.parametrize(
    ("name", "option"),
    [*((name, "-o") for name in WITH_OUTPUT), ("tune", "--log"), ("experiment", "--page"),
     ("run", "--disparity"), ("view", "--ground-truth")],
)  # fmt: skip
def test_an_empty_path_is_refused(name, option, tmp_path, monkeypatch, capsys):
    """A shell gives one for a variable that is not set; it meant the current folder."""
    monkeypatch.chdir(tmp_path)
    assert code_of([*name.split(), option, ""]) == 2
    error = capsys.readouterr().err
    assert option in error
    assert "expected a path, got an empty one; write . for this folder" in error
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import importlib.abc, os, signal, sys
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000000): pass  # the signal is taken between two steps
sys.meta_path.insert(0, Interrupt())
sys.argv = ["slanted", "info", "nothing.png"]
from {module_of_main} import {main}
{main}()
"""


@UNIX
@pytest.mark.parametrize("module", ["slanted.cli", "click", "slanted.cli.info", "slanted.io.info"])
def test_ctrl_c_during_imports_is_quiet(tmp_path, module):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module_of_main, _, function = scripts["slanted"].partition(":")
    script = INTERRUPTED.format(module=module, module_of_main=module_of_main, main=function)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.stderr.strip() == "slanted: interrupted"
    assert done.returncode == 130
    assert done.stdout == ""


@UNIX
def test_ctrl_c_while_libraries_clean_up_is_quiet(tmp_path):
    """As multiprocessing does after a batch: it joins its processes at the exit."""
    script = """
import atexit, os, signal, sys
def clean_up():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000000): pass  # the signal is taken between two steps
atexit.register(clean_up)
sys.argv = ["slanted", "settings"]
from slanted.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.stderr == "slanted: interrupted\n"
    assert done.returncode == 130
    assert "[matching]" in done.stdout  # what was told before stays told


@UNIX
def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path):
    """As of commands that a script starts with an &."""
    script = INTERRUPTED.format(module="click", module_of_main="slanted.__main__", main="main")
    done = subprocess.run(
        ["sh", "-c", f"trap '' INT; exec {shlex.join([sys.executable, '-c', script])}"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "nothing.png: expected a file" in done.stderr
