"""The command line, with a thin module for each command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn, TextIO

import click

from slanted import __version__
from slanted.cli.help import SuggestsNames
from slanted.cli.terminal import note, open_standard_streams
from slanted.errors import SlantedError, SlantedWarning, did_you_mean

COMMANDS = (
    *("run", "batch", "live", "demo", "view", "export", "report", "segment", "evaluate"),
    *("learn", "learn confidence", "tune", "experiment", "info", "settings", "warmup"),
)
"""Their names, of one word or two."""


class _Commands(SuggestsNames, click.Group):
    """Loads the module of a command only when it is needed, so that ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace(" ", "_")
        command: click.Command = import_module(f"slanted.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take two words for a command if it has that name, as in ``learn confidence``."""
        words = 2 if " ".join(args[:2]) in COMMANDS else 1
        if args[0] not in COMMANDS:
            hint = did_you_mean(args[0], COMMANDS, "`slanted --help` lists all")
            raise click.UsageError(f"No such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, [" ".join(args[:words]), *args[words:]])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="slanted")
@click.pass_obj
def slanted(begin: Callable[[], None] | None) -> None:
    """Slanted-plane stereo: dense disparity from a rectified pair."""
    if begin is not None:
        begin()


def main(
    arguments: Sequence[str] | None = None, begin: Callable[[], None] | None = None
) -> NoReturn:
    """Run the command line; an error becomes one sentence and exit code 2.

    `begin` is called when the module of the command is loaded, before the command runs.
    """
    open_standard_streams()
    warnings.showwarning = _show_warning
    try:
        sys.exit(slanted.main(arguments, "slanted", standalone_mode=False, obj=begin))
    except click.exceptions.NoArgsIsHelpError as no_arguments:
        click.echo(no_arguments.format_message())
        sys.exit(0)
    except click.ClickException as error:
        # click lists the values of a choice below each other.
        note("slanted: error: " + error.format_message().replace("\n\t", " "))
    except SlantedError as error:
        note(f"slanted: error: {error}")
    except OSError as error:
        # File errors are raised as FileError; this one is from the terminal or a pipe.
        note(f"slanted: error: output failed ({error.strerror})")
    except click.Abort:
        note("slanted: interrupted")
        sys.exit(130)
    sys.exit(2)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, SlantedWarning):
        note(f"slanted: warning: {message}")
    else:
        for text in warnings.formatwarning(message, category, filename, lineno).splitlines():
            note(text)
