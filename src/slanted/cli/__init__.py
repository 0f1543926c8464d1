"""The command line, with a thin module for each command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, TextIO

import click

from slanted import __version__
from slanted.errors import SlantedError, SlantedWarning

COMMANDS = (
    *("run", "batch", "demo", "view", "export", "report", "segment", "evaluate", "learn", "tune"),
    *("experiment", "info", "settings", "warmup"),
)


class _Commands(click.Group):
    """Loads the module of a command only when it is needed, so that ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"slanted.cli.{cmd_name}").command
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="slanted")
def slanted() -> None:
    """Slanted-plane stereo: dense disparity from a rectified pair."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; an error becomes one sentence and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        sys.exit(slanted.main(arguments, prog_name="slanted", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as no_arguments:
        click.echo(no_arguments.format_message())
        sys.exit(0)
    except click.ClickException as error:
        click.echo(f"slanted: error: {error.format_message()}", err=True)
    except SlantedError as error:
        click.echo(f"slanted: error: {error}", err=True)
    except OSError as error:
        # File errors are raised as FileError; this one is from the terminal or a pipe.
        click.echo(f"slanted: error: output failed ({error.strerror})", err=True)
    except click.Abort:
        click.echo("slanted: interrupted", err=True)
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
        click.echo(f"slanted: warning: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno), err=True, nl=False)
