"""Help lists each option once, in groups; wrong names are answered with the nearest."""

import re

import click
import pytest

from slanted.cli import COMMANDS, main, slanted


def said(capsys, *arguments):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    return exited.value.code or 0, capsys.readouterr()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_one_long_name_in_the_help(name, capsys):
    code, told = said(capsys, *name.split(), "--help")
    assert code == 0
    rows = [line for line in told.out.splitlines() if re.match(r"  -", line)]
    assert rows[-1:] or name == "info"
    for row in rows:
        names = re.match(r"  ((?:-\w, )?--[\w.-]+(?: / --[\w.-]+)?)( |$)", row)
        assert names, row
        shown = [one for one in re.split(", | / ", names[1]) if one.startswith("--")]
        assert len(shown) == 1 or shown[1] == "--no-" + shown[0][2:]
    titles = [line for line in told.out.splitlines() if re.match(r"\w.*:$", line)]
    assert titles[0] == "Options:"
    assert "More options:" not in titles[:-1]


def test_the_first_options_of_run_are_few(capsys):
    out = said(capsys, "run", "--help")[1].out
    first = out.partition("\nOptions:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  .*?(--[\w-]+)", first, re.MULTILINE) == [
        *("--output", "--preset", "--min-disparity", "--max-disparity", "--min-confidence"),
        *("--json", "--quiet", "--help"),
    ]
    assert "`slanted settings` lists them" in " ".join(out.split())


def test_names_that_are_not_shown_still_work(capsys):
    for name in ("--max-disparity", "--matching.max-disparity", "--matching.max_disparity"):
        code, told = said(capsys, "settings", name, "77")
        assert code == 0
        assert "max_disparity = 77" in told.out
    code, told = said(capsys, "settings", "--min-disparity", "-8")
    assert (code, "min_disparity = -8" in told.out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rn"], "No such command 'rn'; did you mean run?"),
        (["evalute", "a", "b"], "No such command 'evalute'; did you mean evaluate?"),
        (["xyzzy"], "No such command 'xyzzy'; `slanted --help` lists all"),
        (["run", "a", "b", "--max-disparty", "3"], "--max-disparty; did you mean --max-disparity?"),
        (["run", "a", "b", "--max_disparity", "3"], "did you mean --max-disparity?"),
        (["run", "a", "b", "--matching.metod", "x"], "did you mean --matching.method?"),
        (["run", "--xyzzy"], "No such option: --xyzzy; `slanted run --help` lists all"),
        (["--versoin"], "No such option: --versoin; did you mean --version?"),
        (["run", "a", "b", "--max-disparity"], "Option '--max-disparity' requires an argument"),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(arguments, message, capsys):
    code, told = said(capsys, *arguments)
    assert code == 2
    (line,) = told.err.splitlines()
    assert message in line


def test_all_commands_say_what_they_do():
    context = click.Context(slanted)
    for name in COMMANDS:
        command = slanted.get_command(context, name)
        assert command.help
        assert command.get_short_help_str()
